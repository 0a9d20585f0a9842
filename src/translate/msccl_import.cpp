// SPDX-License-Identifier: MIT
// From an MSCCL program to a schedule: its steps get times, then its data are followed chunk by chunk.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/translate/translate.hpp"
#include "translate/contributions.hpp"
#include "translate/msccl_program.hpp"
#include "translate/placement.hpp"

namespace chasqui::translate {
namespace {

constexpr std::size_t kMostActions = 20'000'000;
constexpr std::size_t kMostFaults = 20;

/// What lies in a chunk: an item, and of folds whose contributions.
struct Value {
  std::int64_t item = 0;
  Contributions from;
};

/// An action of the placement: chunk `chunk` of a step, or the end of the step.
struct Origin {
  std::uint32_t gpu = 0, block = 0, step = 0;
  std::int64_t chunk = -1;  ///< -1: the end of the step
};

class Import {
 public:
  Import(MscclProgram program, std::string_view place, const Machine& machine, Rank root)
      : program_(std::move(program)), place_(place), P_(std::ssize(program_.gpus)) {
    Schedule& schedule = result_.schedule;
    schedule.machine = {P_, machine.L, machine.o, machine.g};
    validate(schedule.machine);
    schedule.problem = {
        .kind = program_.kind, .root = has_root(program_.kind) ? root : Rank{}, .items = program_.items};
    validate(schedule.problem, schedule.machine);
    require_memory();
    result_.name = fmt::format("MSCCL {}", program_.name);
  }

  Imported run() && {
    make_actions();
    connect();
    const Placement placement = place(result_.schedule.machine, actions_, place_);
    if (placement.stuck) {
      const Origin& o = origins_[*placement.stuck];
      throw Error("{}: gpu {}, tb {}, step {} waits for itself in the end: the program hangs", place_, o.gpu, o.block,
                  o.step);
    }
    fill_inputs();
    for (const std::uint32_t a : placement.order) follow(a, placement.spans[a].begin);
    check_outputs();
    Schedule& schedule = result_.schedule;
    schedule.finish = actual_finish(schedule);
    normalise(schedule);
    if (has_root(program_.kind))
      result_.notes.push_back(fmt::format("root {}: the file names none", schedule.problem.root.index));
    return std::move(result_);
  }

 private:
  /// Every chunk of every GPU is followed.
  void require_memory() const {
    constexpr std::int64_t kMost = 1'000'000'000;
    const std::int64_t chunk = 128 + (combines(program_.kind) ? P_ / 8 : 0);
    std::int64_t bytes = 0;
    for (const MscclGpu& gpu : program_.gpus) bytes += (gpu.input + gpu.output) * chunk;
    if (bytes > kMost)
      throw Error("{}: too many chunks to follow: {} ranks with {} each", place_, P_, program_.gpus[0].input);
  }

  /// Whose contribution a value has; of no interest where nothing is folded.
  Contributions own(std::uint32_t gpu) const {
    if (!combines(program_.kind)) return Contributions(0);
    return {P_, Rank{static_cast<std::int32_t>(gpu)}};
  }

  const MscclBlock& block(const Origin& o) const { return program_.gpus[o.gpu].blocks[o.block]; }
  const MscclStep& step(const Origin& o) const { return block(o).steps[o.step]; }

  std::uint32_t add(Action action, const Origin& origin) {
    if (actions_.size() >= kMostActions)
      throw Error("{}: more than {} messages: too many to import", place_, kMostActions);
    actions_.push_back(std::move(action));
    origins_.push_back(origin);
    return static_cast<std::uint32_t>(actions_.size() - 1);
  }

  void make_actions() {
    std::vector<std::vector<std::vector<std::uint32_t>>> ends(program_.gpus.size());
    for (std::uint32_t g = 0; g < program_.gpus.size(); ++g) {
      const auto& blocks = program_.gpus[g].blocks;
      ends[g].resize(blocks.size());
      for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        claim_links(g, b);
        for (std::uint32_t s = 0; s < blocks[b].steps.size(); ++s)
          ends[g][b].push_back(add_step({g, b, s}, ends[g][b]));
      }
    }
    for (std::uint32_t a = 0; a < actions_.size(); ++a) add_dependency(a, ends[origins_[a].gpu]);
  }

  /// A channel to a GPU belongs to one thread block, or its messages would have no order.
  void claim_links(std::uint32_t gpu, std::uint32_t b) {
    const MscclBlock& block = program_.gpus[gpu].blocks[b];
    const bool fresh = (block.send < 0 || outgoing_.try_emplace({gpu, block.send, block.channel}).second) &&
                       (block.receive < 0 || incoming_.try_emplace({block.receive, gpu, block.channel}).second);
    if (!fresh) throw Error("{}: gpu {}, tb {}: another thread block uses its channel, too", place_, gpu, b);
  }

  /// Returns the action that ends the step.
  std::uint32_t add_step(const Origin& origin, const std::vector<std::uint32_t>& earlier) {
    const MscclStep& step = this->step(origin);
    const Rank rank{static_cast<std::int32_t>(origin.gpu)};
    const std::vector<std::uint32_t> before =
        earlier.empty() ? std::vector<std::uint32_t>{} : std::vector{earlier.back()};
    Action last{.rank = rank, .after = before};
    std::vector<std::uint32_t> previous = before;
    for (std::int64_t c = 0; c < step.chunks && (step.sends() || step.receives()); ++c) {
      Origin of_chunk = origin;
      of_chunk.chunk = c;
      if (step.receives()) {
        const std::uint32_t a = add({.kind = Action::Kind::receive, .rank = rank, .after = before}, of_chunk);
        incoming_[{block(origin).receive, origin.gpu, block(origin).channel}].push_back(a);
        if (step.sends()) previous.push_back(a);
        last.after.push_back(a);
      }
      if (step.sends()) {
        const std::uint32_t a = add({.kind = Action::Kind::send, .rank = rank, .after = previous}, of_chunk);
        outgoing_[{origin.gpu, block(origin).send, block(origin).channel}].push_back(a);
        previous = {a};
        last.after.push_back(a);
      }
    }
    return add(std::move(last), origin);
  }

  void add_dependency(std::uint32_t a, const std::vector<std::vector<std::uint32_t>>& ends) {
    const MscclStep& step = this->step(origins_[a]);
    if (step.depends_on_block < 0) return;
    const auto block = static_cast<std::size_t>(step.depends_on_block);
    const auto number = static_cast<std::size_t>(std::max<std::int64_t>(0, step.depends_on_step));
    if (block >= ends.size() || number >= ends[block].size()) {
      throw Error("{}: gpu {}, tb {}, step {} depends on tb {}, step {}, which does not exist", place_, origins_[a].gpu,
                  origins_[a].block, origins_[a].step, block, number);
    }
    actions_[a].after.push_back(ends[block][number]);
  }

  /// The n-th message of a channel is the n-th reception there.
  void connect() {
    for (const auto& [link, sends] : outgoing_) {
      if (!incoming_.contains(link)) incoming_[link];
    }
    for (const auto& [link, receptions] : incoming_) {
      const auto& [from, to, channel] = link;
      const auto& sends = outgoing_[link];
      if (sends.size() != receptions.size()) {
        throw Error("{}: from gpu {} to {} on channel {}: {} chunks are sent and {} received", place_, from, to,
                    channel, sends.size(), receptions.size());
      }
      if (from == to) throw Error("{}: gpu {} sends to itself: use cpy", place_, from);
      for (std::size_t i = 0; i < sends.size(); ++i) {
        actions_[sends[i]].partner = receptions[i];
        actions_[receptions[i]].partner = sends[i];
      }
    }
    in_flight_.resize(actions_.size());
  }

  // The data.

  /// In place input and output share their memory: one name for both.
  ChunkPlace resolved(std::uint32_t gpu, ChunkPlace place) const {
    if (!program_.in_place || place.buffer == 's') return place;
    if (program_.kind == Kind::allgather && place.buffer == 'i') return {'o', gpu * program_.items + place.offset};
    if (program_.kind == Kind::reduce_scatter && place.buffer == 'o') return {'i', gpu * program_.items + place.offset};
    if (program_.kind != Kind::allgather && place.buffer == 'o') return {'i', place.offset};
    return place;
  }

  std::optional<Value>& at(std::uint32_t gpu, ChunkPlace place) { return memory_[{gpu, resolved(gpu, place)}]; }

  void fill_inputs() {
    const std::int64_t k = program_.items;
    const Rank root = result_.schedule.problem.root;
    for (std::uint32_t g = 0; g < program_.gpus.size(); ++g) {
      if (program_.kind == Kind::broadcast && static_cast<std::int32_t>(g) != root.index) continue;
      const std::int64_t chunks = program_.kind == Kind::allgather ? k : program_.gpus[g].input;
      const std::int64_t first = program_.kind == Kind::allgather  ? g * k
                                 : program_.kind == Kind::alltoall ? g * k * P_
                                                                   : 0;
      for (std::int64_t c = 0; c < chunks; ++c) {
        at(g, {'i', c}) = Value{first + c, own(g)};
      }
    }
  }

  void follow(std::uint32_t a, Time begin) {
    const Origin& origin = origins_[a];
    const MscclStep& step = this->step(origin);
    switch (actions_[a].kind) {
      case Action::Kind::send: return send(a, begin);
      case Action::Kind::receive: return receive(a);
      case Action::Kind::compute: break;
    }
    if (step.type != "cpy" && step.type != "re") return;
    for (std::int64_t c = 0; c < step.chunks; ++c) {
      const auto source = at(origin.gpu, {step.source.buffer, step.source.offset + c});
      auto& target = at(origin.gpu, {step.target.buffer, step.target.offset + c});
      if (!source) fault(origin, "it reads a chunk that nobody has written");
      else if (step.type == "cpy") target = source;
      else fold(origin, target, *source);
    }
  }

  void send(std::uint32_t a, Time begin) {
    const Origin& origin = origins_[a];
    const MscclStep& step = this->step(origin);
    std::optional<Value> value;
    if (step.type == "s") value = at(origin.gpu, {step.source.buffer, step.source.offset + origin.chunk});
    else value = passing_[{origin.gpu, origin.block, origin.step, origin.chunk}];
    if (!value) return fault(origin, "it sends a chunk that nobody has written");
    in_flight_[*actions_[a].partner] = value;
    Send message{begin, actions_[a].rank, actions_[*actions_[a].partner].rank, {}};
    if (names_items(result_.schedule.problem)) {
      message.part = {static_cast<std::int32_t>(value->item), 1};
    } else if (!set_parts(message, value->from)) {
      throw Error(
          "{}: gpu {}, tb {}, step {} sends the sum of ranks that are no two intervals: cut the vector into two chunks, "
          "then a message names its chunk instead",
          place_, origin.gpu, origin.block, origin.step);
    }
    result_.schedule.sends.push_back(message);
  }

  void receive(std::uint32_t a) {
    const Origin& origin = origins_[a];
    const MscclStep& step = this->step(origin);
    std::optional<Value> value = in_flight_[a];
    if (!value) return;  // its sender is at fault
    if (step.folds()) {
      const auto source = at(origin.gpu, {step.source.buffer, step.source.offset + origin.chunk});
      if (source) fold(origin, value, *source);
      else fault(origin, "it adds a chunk that nobody has written");
    }
    if (step.sends()) passing_[{origin.gpu, origin.block, origin.step, origin.chunk}] = value;
    if (step.stores()) at(origin.gpu, {step.target.buffer, step.target.offset + origin.chunk}) = value;
  }

  void fold(const Origin& origin, std::optional<Value>& into, const Value& other) {
    if (!combines(program_.kind)) return fault(origin, "it adds, and nothing is added in this collective");
    if (!into) return fault(origin, "it adds to a chunk that nobody has written");
    if (into->item != other.item)
      return fault(origin, fmt::format("it adds chunk {} to chunk {}", other.item, into->item));
    if (const auto twice = into->from.common(other.from))
      fault(origin, fmt::format("it adds the contribution of rank {} to chunk {} twice", *twice, other.item));
    into->from.unite(other.from);
  }

  void check_outputs() {
    const std::int64_t k = program_.items;
    const Kind kind = program_.kind;
    for (std::uint32_t g = 0; g < program_.gpus.size(); ++g) {
      if (kind == Kind::reduce && static_cast<std::int32_t>(g) != result_.schedule.problem.root.index) continue;
      const bool many = kind == Kind::allgather || kind == Kind::alltoall;
      for (std::int64_t c = 0; c < (many ? k * P_ : k); ++c) {
        const std::int64_t item = kind == Kind::alltoall         ? (c / k * P_ + g) * k + c % k
                                  : kind == Kind::reduce_scatter ? g * k + c
                                                                 : c;
        check_output(g, c, item);
      }
    }
  }

  void check_output(std::uint32_t gpu, std::int64_t chunk, std::int64_t item) {
    const std::optional<Value> value = at(gpu, {'o', chunk});
    std::string what;
    if (!value) what = "nothing";
    else if (value->item != item) what = fmt::format("chunk {}", value->item);
    else if (combines(program_.kind) && !value->from.all())
      what = fmt::format("{} of the {} contributions", value->from.count(), P_);
    else return;
    add_fault(fmt::format("gpu {} ends with {} instead of chunk {} in its output chunk {}", gpu, what, item, chunk));
  }

  void fault(const Origin& o, const std::string& what) {
    add_fault(fmt::format("gpu {}, tb {}, step {}: {}", o.gpu, o.block, o.step, what));
  }

  void add_fault(std::string text) {
    if (result_.faults.size() < kMostFaults) result_.faults.push_back(std::move(text));
    else if (result_.faults.size() == kMostFaults) result_.faults.emplace_back("and more");
  }

  using Link = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, to, channel
  using Passed = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;

  MscclProgram program_;
  std::string place_;
  std::int64_t P_;
  Imported result_;
  std::vector<Action> actions_;
  std::vector<Origin> origins_;
  std::map<Link, std::vector<std::uint32_t>> outgoing_, incoming_;
  std::map<std::pair<std::uint32_t, ChunkPlace>, std::optional<Value>> memory_;
  std::map<Passed, std::optional<Value>> passing_;  // what a step has received and sends on
  std::vector<std::optional<Value>> in_flight_;     // by the reception
};

}  // namespace

Imported from_msccl(std::string_view text, std::string_view place, const Machine& machine, Rank root) {
  return Import(read_msccl(text, place), place, machine, root).run();
}

}  // namespace chasqui::translate
