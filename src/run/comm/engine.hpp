// SPDX-License-Identifier: MIT
// What is behind a Comm: what it is made of, the plans it remembers, the calls in flight, and how it fares. Nobody
// outside this room sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/run/choose.hpp"
#include "run/board/board.hpp"
#include "run/choose/selection.hpp"
#include "run/comm/board_faults.hpp"
#include "run/comm/fabric.hpp"
#include "run/comm/in_flight.hpp"
#include "run/comm/plan_cache.hpp"
#include "run/comm/tasks.hpp"
#include "run/faults/health.hpp"

namespace chasqui::run {

struct Operation;
struct RunOfOperands;

/// Every Comm is one, so that a call goes straight from the one to the other. Shares no line with another rank's.
class alignas(2 * kLine) Engine final : public Comm {
 public:
  explicit Engine(Fabric fabric);
  ~Engine() override;

  static Engine& of(Comm& comm) { return static_cast<Engine&>(comm); }
  static const Engine& of(const Comm& comm) { return static_cast<const Engine&>(comm); }

  const Fabric& fabric() const { return fabric_; }
  bool crowded() const { return fabric_.board != nullptr ? fabric_.board->crowded() : fabric_.crowded; }
  Request launch(const std::function<Task(Group)>& make, std::shared_ptr<const void> kept);
  void begin_at_once(const Call& call, int turns, bool again, Request& request);
  Request start_sum(const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
                    const RunOfOperands& how, std::shared_ptr<const void> kept);
  void run_sum(const plan::SumPlan& plan, const void* mine, std::size_t count, void* total, const RunOfOperands& how);
  void force(std::optional<Choice> choice) { selection_.force(std::move(choice)); }
  const Selection& selection() const { return selection_; }
  void answer(bool leaves);
  void set_timeout(double seconds) { health_.limit(seconds); }
  void rest() { health_.rest(); }
  void resume() { health_.resume(); }
  void retire(const std::string& why);
  bool broken() const {
    const Board* const board = fabric_.board.get();
    return !health_.usable() ||
           (board != nullptr && board->notice().broken() && board->notice().failed(health_.last(), {}));
  }
  CallNumbers call_numbers() const {
    if (!spans_) return {health_.last(), 0, health_.earlier()};
    const Board& board = *fabric_.board;
    const std::uint64_t number = health_.last() + (health_.usable() ? 1 : 0);
    return {health_.last(), board.complete(), health_.earlier(), board.astray(number), board.found_astray()};
  }

  // --- for tests: a bit for each method that ran since
  std::uint32_t methods_run() const {
    return methods_run_ | (fabric_.board != nullptr ? fabric_.board->methods_run() : 0);
  }
  void forget_methods();

  // --- calls in flight
  void wait(Operation& operation);
  /// Ends an operation that is not waited for, if it failed on another rank.
  void look_at(Operation& operation);
  bool advance_some(Operation& first) { return in_flight_.advance_some(first); }

 private:
  friend class Comm;
  friend void run_again(Comm& comm, const Call& call);

  void check_forced(const Call& call, Among among);

  // --- blocking calls
  void dispatch(const Call& call);
  void run_checked(const Call& call);
  void run_chosen(const Call& call, bool here);
  template <typename Small>
  void run_small(const Call& call);
  template <typename Small>
  void wait_for(Small small, std::uint64_t number);
  void run_broadcast(const Call& call);
  void run_packed(const Call& call);
  void run_long(const Call& call, Method method);
  bool run_repeated(const Call& call);
  PlanCache::PlacedSum& planned_sum(const plan::SumPlan& plan, std::size_t element);
  /// Without a task: a call by messages that nothing else is in flight beside.
  void play_to_end(std::uint64_t number, const Program& program, const Group& group, Buffers buffers,
                   const Operator& op, Scratch& scratch);
  void run_native(const Call& call);
  void ran(Method method) { methods_run_ |= 1u << static_cast<unsigned>(method); }
  void run_gathered(const Call& call);

  // --- calls in flight
  Request begin(const Call& call, std::shared_ptr<const void> kept);
  Request begin_checked(const Call& call, std::shared_ptr<const void> kept);
  template <typename Small>
  void begin_small(const Call& call, int turns, Request& request);
  void finish_in_flight();

  bool forked() const;  ///< is this a copy of the rank's, in a process that it forked?
  void leave_to_parent();

  // --- failures
  void check_usable() const {
    if (!health_.usable()) health_.throw_unusable();
  }
  /// What is thrown before a call has begun is told to the others: this rank does not come.
  template <typename Before>
  void refusing(const Before& before) {
    try {
      before();
    } catch (const Error& error) {
      refuse(error.what());
    }
  }
  /// What is no Error, memory that cannot be had, ends the communicator. A program that goes on without this call would meet the others
  /// in one after it, and one that ends takes the buffers of calls in flight with it: nobody uses them any more when the others know.
  template <typename Step>
  decltype(auto) or_broken(const Step& step) {
    const std::uint64_t before = health_.last();
    try {
      return step();
    } catch (const Error&) {
      throw;
    } catch (...) {
      if (health_.usable()) health_.fail(health_.last() != before ? health_.last() : health_.next());
      throw;
    }
  }
  void check_arguments(const Call& call);
  [[noreturn]] void refuse_call(const std::string& why);
  void look_for_failure(std::uint64_t number);
  std::string compare_calls(std::uint64_t number, bool leaves = false);
  void note(std::uint64_t number, const Signature& call, bool on_board = false);
  void pass_by(std::uint64_t number, const Signature& call);

  Fabric fabric_;
  NodeMap nodes_;
  Selection selection_;
  const bool spans_;  ///< a board spans all ranks
  PlanCache plans_;
  Tasks tasks_;
  BoardFaults board_faults_;
  Health health_;
  InFlight in_flight_;
  int exceptions_;                 ///< on their way when this was made
  int process_;                    ///< that made it
  std::uint32_t methods_run_ = 0;  ///< a bit for each, apart from those of the board
};

}  // namespace chasqui::run
