// SPDX-License-Identifier: MIT
// Collectives of one processor: its part of the library's plan, played with messages of their own. A
// processor waits only for the messages of its part; supersteps go on independently.
#include "chasqui/plan/collectives.hpp"

#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "chasqui/bsp/detail/core.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"

namespace chasqui::bsp::detail {

namespace {

/// In place. What is folded is one element, however long.
run::Program program_of(const plan::Plan& plan, const Problem& problem, std::int32_t rank, std::size_t bytes) {
  constexpr run::Address data{run::Memory::output, 0};
  const run::LocalPlan local{plan.local({rank}), plan.machine(), false, {}};
  run::Program program;
  if (problem.kind == Kind::broadcast) {
    run::add_items(program, local, {bytes, 1, 1}, data);
    return program;
  }
  const auto size = static_cast<std::int32_t>(plan.machine().P);
  run::add_folds(program, local,
                 {problem.kind, rank, size, problem.root.index, 1, bytes, problem.commutative, problem.exclusive},
                 data);
  return program;
}

/// Plans and programs are immutable and shared by all processors of the process; so many of each, then they are forgotten.
class Shared {
 public:
  std::shared_ptr<const run::Program> program(const Problem& problem, const LogP& machine, std::int32_t rank,
                                              std::size_t bytes) {
    const PlanKey key{problem.kind, problem.root.index, problem.commutative, problem.exclusive,
                      machine.P,    machine.L.ticks,    machine.o.ticks,     machine.g.ticks};
    const std::lock_guard lock(mutex_);
    if (const auto found = programs_.find({key, rank, bytes}); found != programs_.end()) return found->second;
    if (programs_.size() > kMost) programs_.clear();
    if (plans_.size() > kMost) plans_.clear();
    plan::PlanPtr& plan = plans_[key];
    if (plan == nullptr) plan = plan::make_plan({machine, problem});
    return programs_[{key, rank, bytes}] =
               std::make_shared<const run::Program>(program_of(*plan, problem, rank, bytes));
  }

 private:
  static constexpr std::size_t kMost = 4096;
  using PlanKey = std::tuple<Kind, std::int32_t, bool, bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  std::mutex mutex_;
  std::map<PlanKey, plan::PlanPtr> plans_;
  std::map<std::tuple<PlanKey, std::int32_t, std::size_t>, std::shared_ptr<const run::Program>> programs_;
};

}  // namespace

void Core::send_now(std::uint64_t sequence, std::int32_t to, std::uint32_t index, std::span<const std::byte> bytes) {
  auto block = std::make_unique<Block>();
  block->channel = {info_.id, sequence, Lane::collective};
  block->from = rank_;
  block->index = index;
  if (!bytes.empty()) std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
  ++current_.sent_messages, ++current_.sent_blocks;
  current_.sent_bytes += static_cast<std::int64_t>(bytes.size());
  processor_.door().post(info_.members.at(to), std::move(block));
}

BlockPtr Core::take_now(std::uint64_t sequence, std::int32_t from) {
  BlockPtr block = processor_.claim_from({info_.id, sequence, Lane::collective}, from);
  if (block != nullptr) count_received(*block);
  return block;
}

void Core::count_received(Block& block) {
  processor_.door().unstow(block);
  ++current_.received_messages, ++current_.received_blocks;
  current_.received_bytes += static_cast<std::int64_t>(block.payload.size());
}

/// The messages of one collective as the player sees them: what is sent has gone at once, what has not come is waited for
/// as processors wait. Asks for messages of one sender are met in their order.
class Core::Messages final : public run::Transport {
 public:
  Messages(Core& core, std::size_t value, bool folds, const SourceLocation& where)
      : core_(core), sequence_(core.collectives_++), value_(value), folds_(folds), where_(where) {}

  Ticket send(int to, std::uint32_t, const void* data, std::size_t bytes) override {
    core_.send_now(sequence_, to, sent_[to]++, {static_cast<const std::byte*>(data), bytes});
    return kSent;
  }
  Ticket receive(int from, std::uint32_t, void* data, std::size_t bytes) override {
    expected_.push_back({from, data, bytes});
    return static_cast<Ticket>(expected_.size() - 1);
  }
  bool done(Ticket ticket) override {
    if (ticket == kSent) return true;
    const Expected& expected = expected_[static_cast<std::size_t>(ticket)];
    const BlockPtr block = core_.take_now(sequence_, expected.from);
    if (block == nullptr) return false;
    if (block->payload.size() != expected.bytes) core_.other_collective(*block, value_, folds_, where_);
    if (expected.bytes > 0) std::memcpy(expected.data, block->payload.data(), expected.bytes);
    return true;
  }
  void abandon(Ticket) override {}
  void wait(Ticket ticket) override {
    const std::int32_t from = expected_[static_cast<std::size_t>(ticket)].from;
    core_.processor_.await({Waiting::For::collective, core_.info_.id, core_.size(), core_.main_.step, 0, from,
                            where_.file_name(), where_.line()});
  }

 private:
  struct Expected {
    std::int32_t from;
    void* data;
    std::size_t bytes;
  };
  static constexpr Ticket kSent = std::numeric_limits<Ticket>::max();

  Core& core_;
  std::uint64_t sequence_;
  std::size_t value_;  ///< bytes
  bool folds_;
  const SourceLocation& where_;
  std::vector<Expected> expected_;
  std::map<std::int32_t, std::uint32_t> sent_;  ///< several messages to one receiver keep their order
};

void Core::other_collective(const Block& block, std::size_t bytes, bool folds, const SourceLocation& where) const {
  const std::string here = fmt::format("rank {} at {}:{} takes part in a collective of {} bytes", rank_,
                                       where.file_name(), where.line(), bytes);
  throw MachineError(Fault::sync_mismatch,
                     folds ? fmt::format("{} a value, rank {} in another", here, block.from)
                           : fmt::format("{}, rank {} in one of {}", here, block.from, block.payload.size()));
}

void Core::play(const Problem& problem, std::byte* data, std::size_t bytes, Combine combine, const void* context,
                const SourceLocation& where) {
  if (size() == 1) return;
  struct Operation {
    Combine combine;
    const void* context;
  } operation{combine, context};
  run::Operator op;
  op.context = &operation;
  op.combine = [](void* handed, const void* left, const void* right, void* out, std::size_t) {
    const auto& [fold, kept] = *static_cast<const Operation*>(handed);
    fold(kept, static_cast<const std::byte*>(left), static_cast<const std::byte*>(right), static_cast<std::byte*>(out));
  };
  static Shared shared;
  const Options& options = processor_.door().options();
  const LogP machine{size(), options.latency, options.overhead, options.gap};
  const auto program = shared.program(problem, machine, rank_, bytes);
  Messages messages(*this, bytes, combine != nullptr, where);
  const run::Group group{&messages, {}, rank_, size(), 0, {.blocks = true}};
  run::Scratch scratch;
  scratch.fit(*program);
  run::Player player(*program, group, {data, data}, op, scratch);
  while (!player.ready()) player.block();
}

void Core::broadcast(std::byte* data, std::size_t bytes, std::int32_t root, const SourceLocation& where) {
  check_rank(root, "broadcasts from");
  play({.kind = Kind::broadcast, .root = {root}}, data, bytes, nullptr, nullptr, where);
}

void Core::reduce(std::byte* data, std::size_t bytes, std::int32_t root, bool commutative, Combine combine,
                  const void* context, const SourceLocation& where) {
  check_rank(root, "reduces to");
  play({.kind = Kind::reduce, .root = {root}, .commutative = commutative}, data, bytes, combine, context, where);
}

void Core::allreduce(std::byte* data, std::size_t bytes, bool commutative, Combine combine, const void* context,
                     const SourceLocation& where) {
  play({.kind = Kind::allreduce, .commutative = commutative}, data, bytes, combine, context, where);
}

bool Core::scan(std::byte* data, std::size_t bytes, bool exclusive, Combine combine, const void* context,
                const SourceLocation& where) {
  play({.kind = Kind::scan, .exclusive = exclusive}, data, bytes, combine, context, where);
  return !exclusive || rank_ > 0;
}

/// The plan of a gather is one message from everybody to the root; the root takes them as they come. No program: only the
/// senders know how long their pieces are.
std::vector<Buffer> Core::gather(std::span<const std::byte> mine, std::int32_t root, const SourceLocation& where) {
  check_rank(root, "gathers to");
  const std::uint64_t sequence = collectives_++;
  std::vector<Buffer> all;
  if (rank_ != root) {
    send_now(sequence, root, 0, mine);
    return all;
  }
  all.resize(static_cast<std::size_t>(size()));
  if (!mine.empty()) std::memcpy(all[static_cast<std::size_t>(rank_)].extend(mine.size()), mine.data(), mine.size());
  std::int32_t missing = size() - 1;
  std::vector<BlockPtr> blocks;
  for (;;) {
    blocks.clear();
    processor_.claim({info_.id, sequence, Lane::collective}, blocks);
    for (const BlockPtr& block : blocks) {
      count_received(*block);
      all[static_cast<std::size_t>(block->from)] = std::move(block->payload);
      --missing;
    }
    if (missing == 0) return all;
    processor_.await({Waiting::For::collective, info_.id, size(), main_.step, size() - missing, root, where.file_name(),
                      where.line()});
  }
}

}  // namespace chasqui::bsp::detail
