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

/// What is folded or gathered is one element, however long.
run::Program program_of(const plan::Plan& plan, const Problem& problem, std::int32_t rank, std::size_t bytes) {
  constexpr run::Address out{run::Memory::output, 0};
  const run::LocalPlan local{plan.local({rank}), plan.machine(), false, {}};
  const auto size = static_cast<std::int32_t>(plan.machine().P);
  const run::Shape shape{problem.kind,     rank, size, problem.root.index, 1, bytes, problem.commutative,
                         problem.exclusive};
  run::Program program;
  if (problem.kind == Kind::broadcast) run::add_items(program, local, {bytes, 1, 1}, out);
  else if (problem.kind == Kind::gather) run::add_gather(program, local, shape);
  else run::add_folds(program, local, shape, out);
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

/// The messages of one collective as the player sees them: what is sent has gone at once, what has not come is waited for
/// as processors wait. Asks for messages of one sender are met in their order.
class Core::Messages final : public run::Transport {
 public:
  Messages(Core& core, std::size_t value, bool folds, const SourceLocation& where)
      : core_(core), channel_{core.main_.info().id, core.collectives_++, Lane::collective}, value_(value),
        folds_(folds), where_(where) {}

  Ticket send(int to, std::uint32_t, const void* data, std::size_t bytes) override {
    auto block = std::make_unique<Block>();
    block->channel = channel_;
    block->from = core_.rank_;
    block->index = sent_[to]++;
    if (bytes > 0) std::memcpy(block->payload.extend(bytes), data, bytes);
    ++core_.current_.sent_messages, ++core_.current_.sent_blocks;
    core_.current_.sent_bytes += static_cast<std::int64_t>(bytes);
    core_.processor_.door().post(core_.main_.info().members.at(to), std::move(block));
    return kSent;
  }
  Ticket receive(int from, std::uint32_t, void* data, std::size_t bytes) override {
    expected_.push_back({from, data, bytes});
    return static_cast<Ticket>(expected_.size() - 1);
  }
  bool done(Ticket ticket) override {
    if (ticket == kSent) return true;
    const Expected& expected = expected_[static_cast<std::size_t>(ticket)];
    auto first = here_.lower_bound({expected.from, 0});
    if (first == here_.end() || first->first.first != expected.from) {
      take();
      first = here_.lower_bound({expected.from, 0});
    }
    if (first == here_.end() || first->first.first != expected.from) return false;
    const BlockPtr block = std::move(first->second);
    here_.erase(first);
    if (block->payload.size() != expected.bytes) refuse(*block);
    if (expected.bytes > 0) std::memcpy(expected.data, block->payload.data(), expected.bytes);
    return true;
  }
  void abandon(Ticket) override {}
  void wait(Ticket ticket) override {
    const std::int32_t from = expected_[static_cast<std::size_t>(ticket)].from;
    core_.processor_.await({Waiting::For::collective, core_.main_.info().id, core_.size(), core_.main_.step, 0, from,
                            where_.file_name(), where_.line()});
  }

 private:
  struct Expected {
    std::int32_t from;
    void* data;
    std::size_t bytes;
  };
  static constexpr Ticket kSent = std::numeric_limits<Ticket>::max();

  /// What has come. Mailboxes do not keep the order of one sender's blocks.
  void take() {
    Blocks blocks;
    core_.processor_.claim(channel_, blocks);
    for (BlockPtr& block : blocks) {
      core_.processor_.door().unstow(*block);
      ++core_.current_.received_messages, ++core_.current_.received_blocks;
      core_.current_.received_bytes += static_cast<std::int64_t>(block->payload.size());
      here_.emplace(std::pair(block->from, block->index), std::move(block));
    }
  }

  [[noreturn]] void refuse(const Block& block) const {
    const std::string here = fmt::format("rank {} at {}:{} takes part in a collective of {} bytes", core_.rank_,
                                         where_.file_name(), where_.line(), value_);
    throw MachineError(Fault::sync_mismatch,
                       folds_ ? fmt::format("{} a value, rank {} in another", here, block.from)
                              : fmt::format("{}, rank {} in one of {}", here, block.from, block.payload.size()));
  }

  Core& core_;
  Channel channel_;
  std::size_t value_;  ///< bytes
  bool folds_;
  const SourceLocation& where_;
  std::vector<Expected> expected_;
  std::map<std::int32_t, std::uint32_t> sent_;                       ///< to each receiver
  std::map<std::pair<std::int32_t, std::uint32_t>, BlockPtr> here_;  ///< by sender, in its order
};

void Core::play(const Problem& problem, const void* in, void* out, std::size_t bytes, const Fold& fold,
                const SourceLocation& where) {
  if (has_root(problem.kind)) {
    check_rank(problem.root.index, problem.kind == Kind::broadcast ? "broadcasts from"
                                   : problem.kind == Kind::reduce  ? "reduces to"
                                                                   : "gathers to");
  }
  if (size() == 1) return;
  run::Operator op;
  op.context = const_cast<Fold*>(&fold);
  op.combine = [](void* handed, const void* left, const void* right, void* result, std::size_t) {
    const auto& [combine, context] = *static_cast<const Fold*>(handed);
    combine(context, static_cast<const std::byte*>(left), static_cast<const std::byte*>(right),
            static_cast<std::byte*>(result));
  };
  static Shared shared;
  const Options& options = processor_.door().options();
  const LogP machine{size(), options.latency, options.overhead, options.gap};
  const auto program = shared.program(problem, machine, rank_, bytes);
  Messages messages(*this, bytes, fold.combine != nullptr, where);
  const run::Group group{&messages, {}, rank_, size(), 0, {.blocks = true}};
  run::Scratch scratch;
  scratch.fit(*program);
  run::Player player(*program, group, {in, out}, op, scratch);
  while (!player.ready()) player.block();
}

}  // namespace chasqui::bsp::detail
