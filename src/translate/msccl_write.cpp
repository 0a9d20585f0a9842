// SPDX-License-Identifier: MIT
// A schedule as an MSCCL program. A thread block for each pair of ranks and direction; what the plan orders in time becomes
// dependencies between thread blocks: the accesses to a chunk, and the sends of a rank.
#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/translate/translate.hpp"
#include "translate/contributions.hpp"
#include "translate/msccl_program.hpp"

namespace chasqui::translate {
namespace {

constexpr std::size_t kMostBlocks = 64, kMostSteps = 64;

/// A step of a GPU: which thread block, and its number there.
struct StepPlace {
  std::size_t block = 0;
  std::size_t step = 0;
};

struct Step {
  const char* type = "nop";
  ChunkPlace source{};
  ChunkPlace target{};
  std::optional<StepPlace> needs{};
  bool needed = false;
};

struct Block {
  std::int64_t send = -1;
  std::int64_t receive = -1;
  std::vector<Step> steps;
};

/// The memory of one chunk at one GPU: who wrote it last, and who has read it since.
struct Chunk {
  ChunkPlace place;
  std::optional<StepPlace> written{};
  std::vector<StepPlace> read{};
  std::optional<Contributions> holds{};
};

class Gpu {
 public:
  std::size_t block_to(std::int64_t peer) { return block(sends_, peer, peer, -1); }
  std::size_t block_from(std::int64_t peer) { return block(receives_, peer, -1, peer); }
  std::size_t local_block() { return block(sends_, -1, -1, -1); }

  /// Adds a step that needs all of these; all but one of them are waited for by steps that do nothing.
  StepPlace add(std::size_t block, Step step, const std::vector<StepPlace>& needs) {
    std::map<std::size_t, std::size_t> latest;  // of each thread block but its own, which is in order anyway
    for (const StepPlace& need : needs) {
      if (need.block != block) latest[need.block] = std::max(latest[need.block], need.step);
    }
    auto& steps = blocks[block].steps;
    for (auto need = latest.begin(); need != latest.end(); ++need) {
      blocks[need->first].steps[need->second].needed = true;
      const StepPlace place{need->first, need->second};
      if (std::next(need) == latest.end()) step.needs = place;
      else steps.push_back({.needs = place});
    }
    steps.push_back(step);
    return {block, steps.size() - 1};
  }

  std::vector<Block> blocks;
  std::map<std::int64_t, Chunk> chunks;  // by item
  std::optional<StepPlace> last_send;
  std::int64_t scratch = 0;

 private:
  using Index = std::map<std::int64_t, std::size_t>;

  std::size_t block(Index& index, std::int64_t peer, std::int64_t send, std::int64_t receive) {
    const auto [place, fresh] = index.try_emplace(peer, blocks.size());
    if (fresh) blocks.push_back({send, receive, {}});
    return place->second;
  }

  Index sends_, receives_;
};

class Writer {
 public:
  explicit Writer(const Schedule& schedule)
      : schedule_(schedule), kind_(schedule.problem.kind), P_(schedule.machine.P), k_(schedule.problem.items),
        gpus_(static_cast<std::size_t>(P_)) {}

  std::string write(std::string_view name) {
    if (kind_ == Kind::alltoall) copy_own_blocks();
    // What is available when a send begins comes before it.
    std::multimap<std::pair<Time, bool>, const Send*> events;
    for (const Send& send : schedule_.sends) {
      events.emplace(std::pair{available(schedule_.machine, send), false}, &send);
      events.emplace(std::pair{send.begin, true}, &send);
    }
    for (const auto& [when, message] : events) when.second ? send(*message) : receive(*message);
    require_limits();
    return text(name);
  }

 private:
  Gpu& gpu(Rank rank) { return gpus_[static_cast<std::size_t>(rank.index)]; }

  std::int64_t item_of(const Send& message) const {
    return names_items(schedule_.problem) ? (kind_ == Kind::alltoall ? message.item_number() : message.part.lo) : 0;
  }

  /// Where a rank keeps an item. Input and output are one buffer, but for an all-to-all.
  Chunk& chunk(Rank rank, std::int64_t item) {
    const auto [place, fresh] = gpu(rank).chunks.try_emplace(item);
    Chunk& chunk = place->second;
    if (!fresh) return chunk;
    chunk.place = {kind_ == Kind::allgather ? 'o' : 'i', item};
    if (kind_ == Kind::alltoall) {
      const std::int64_t pair = item / k_;
      if (pair / P_ == rank.index) chunk.place = {'i', pair % P_ * k_ + item % k_};
      else if (pair % P_ == rank.index) chunk.place = {'o', pair / P_ * k_ + item % k_};
      else chunk.place = {'s', gpu(rank).scratch++};
    }
    if (combines(kind_)) chunk.holds = Contributions(P_, rank);
    return chunk;
  }

  void copy_own_blocks() {
    for (std::int32_t r = 0; r < P_; ++r) {
      Gpu& at = gpu(Rank{r});
      for (std::int64_t i = 0; i < k_; ++i) {
        at.add(at.local_block(), {.type = "cpy", .source = {'i', r * k_ + i}, .target = {'o', r * k_ + i}}, {});
      }
    }
  }

  void send(const Send& message) {
    Gpu& at = gpu(message.from);
    Chunk& chunk = this->chunk(message.from, item_of(message));
    if (combines(kind_)) {
      if (!names_items(schedule_.problem)) require_all_of_it(message, *chunk.holds);
      carried_.emplace(&message, *chunk.holds);
    }
    std::vector<StepPlace> needs;
    if (chunk.written) needs.push_back(*chunk.written);
    if (at.last_send) needs.push_back(*at.last_send);
    const ChunkPlace there = this->chunk(message.to, item_of(message)).place;
    const StepPlace place =
        at.add(at.block_to(message.to.index), {.type = "s", .source = chunk.place, .target = there}, needs);
    chunk.read.push_back(place);
    at.last_send = place;
  }

  void receive(const Send& message) {
    Gpu& at = gpu(message.to);
    Chunk& chunk = this->chunk(message.to, item_of(message));
    Step step{.type = "r", .source = chunk.place, .target = chunk.place};
    if (combines(kind_)) {
      const Contributions& come = carried_.at(&message);
      if (kind_ == Kind::allreduce && come.all()) {
        chunk.holds = come;
      } else {
        step.type = "rrc";
        chunk.holds->unite(come);
      }
    }
    std::vector<StepPlace> needs = std::exchange(chunk.read, {});
    if (chunk.written) needs.push_back(*chunk.written);
    chunk.written = at.add(at.block_from(message.from.index), step, needs);
  }

  void require_all_of_it(const Send& message, const Contributions& held) const {
    Contributions sent = Contributions::of(P_, message.part);
    sent.unite(Contributions::of(P_, message.second));
    if (sent == held) return;
    throw Error(
        "rank {} sends less than it has at time {}: MSCCL folds chunks where they lie, so only schedules that send "
        "all of it can be written",
        message.from.index, message.begin.ticks);
  }

  void require_limits() const {
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      const auto& blocks = gpus_[g].blocks;
      std::size_t steps = 0;
      for (const Block& block : blocks) steps = std::max(steps, block.steps.size());
      if (blocks.size() <= kMostBlocks && steps <= kMostSteps) continue;
      throw Error(
          "rank {} would need {} thread blocks with up to {} steps: MSCCL takes {} and {}; plan fewer items or ranks",
          g, blocks.size(), steps, kMostBlocks, kMostSteps);
    }
  }

  std::string text(std::string_view name) const {
    const std::int64_t whole =
        kind_ == Kind::allgather || kind_ == Kind::reduce_scatter || kind_ == Kind::alltoall ? k_ * P_ : k_;
    pugi::xml_document document;
    pugi::xml_node algo = document.append_child("algo");
    const bool in_place = kind_ != Kind::alltoall;
    set(algo, "name", std::string(name));
    set(algo, "proto", "Simple");
    set(algo, "nchannels", 1);
    set(algo, "nchunksperloop", whole);
    set(algo, "ngpus", P_);
    set(algo, "coll", kind_ == Kind::reduce_scatter ? "reduce_scatter" : std::string(to_string(kind_)));
    set(algo, "inplace", in_place ? 1 : 0);
    set(algo, "outofplace", in_place ? 0 : 1);
    set(algo, "minBytes", 0);
    set(algo, "maxBytes", 0);
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      pugi::xml_node node = algo.append_child("gpu");
      set(node, "id", g);
      set(node, "i_chunks", kind_ == Kind::allgather ? k_ : whole);
      set(node, "o_chunks", kind_ == Kind::reduce_scatter ? k_ : whole);
      set(node, "s_chunks", gpus_[g].scratch);
      for (std::size_t b = 0; b < gpus_[g].blocks.size(); ++b) append(node, gpus_[g].blocks[b], b);
    }
    std::ostringstream out;
    document.save(out, "  ", pugi::format_indent | pugi::format_no_declaration);
    return out.str();
  }

  static void append(pugi::xml_node& gpu, const Block& block, std::size_t id) {
    pugi::xml_node node = gpu.append_child("tb");
    set(node, "id", id);
    set(node, "send", block.send);
    set(node, "recv", block.receive);
    set(node, "chan", 0);
    for (std::size_t s = 0; s < block.steps.size(); ++s) {
      const Step& step = block.steps[s];
      pugi::xml_node line = node.append_child("step");
      set(line, "s", s);
      set(line, "type", step.type);
      set(line, "srcbuf", std::string(1, step.source.buffer));
      set(line, "srcoff", step.source.offset);
      set(line, "dstbuf", std::string(1, step.target.buffer));
      set(line, "dstoff", step.target.offset);
      set(line, "cnt", 1);
      set(line, "depid", step.needs ? static_cast<std::int64_t>(step.needs->block) : -1);
      set(line, "deps", step.needs ? static_cast<std::int64_t>(step.needs->step) : -1);
      set(line, "hasdep", step.needed ? 1 : 0);
    }
  }

  template <typename Value>
  static void set(pugi::xml_node& node, const char* name, const Value& value) {
    node.append_attribute(name) = fmt::format("{}", value).c_str();
  }

  const Schedule& schedule_;
  Kind kind_;
  std::int64_t P_;
  std::int64_t k_;
  std::vector<Gpu> gpus_;
  std::map<const Send*, Contributions> carried_;
};

void require_writable(const Schedule& schedule) {
  const Kind kind = schedule.problem.kind;
  const bool known = kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::allreduce ||
                     kind == Kind::allgather || kind == Kind::reduce_scatter || kind == Kind::alltoall;
  if (!known) {
    throw Error("MSCCL has no {}: it has allreduce, allgather, reduce-scatter, alltoall, broadcast and reduce",
                to_string(kind));
  }
  if (!schedule.nodes.empty()) throw Error("a board of a cluster is nothing that MSCCL has: plan without -N");
  constexpr std::int64_t kMostMscclRanks = 4096;
  if (schedule.machine.P > kMostMscclRanks)
    throw Error("P={}: MSCCL's programs are for {} ranks at most", schedule.machine.P, kMostMscclRanks);
  for (const Send& send : schedule.sends) {
    for (const Rank rank : {send.from, send.to}) {
      if (rank.index < 0 || rank.index >= schedule.machine.P)
        throw Error("rank {} does not exist: verify the schedule first", rank.index);
    }
  }
}

}  // namespace

std::string to_msccl(const Schedule& schedule, std::string_view name) {
  require_writable(schedule);
  return Writer(schedule).write(name);
}

}  // namespace chasqui::translate
