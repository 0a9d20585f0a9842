// SPDX-License-Identifier: MIT
// A machine whose processors are threads: how its members meet at the end of a superstep, the blocks that they bring, and its books,
// which nobody waits for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "bsp/shared_machine.hpp"
#include "bsp/ticks.hpp"
#include "run/board/board.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::bsp::detail {

/// What a member shows to all at the end of a superstep: a line of the board.
struct Shown {
  std::uint64_t step = 0;
  std::uint64_t reach = 0;                 ///< bit m % 64: there may be something for member m
  Block* const* first = nullptr;           ///< by member: the blocks for it
  std::int64_t nanoseconds = 0, work = 0;  ///< of a member that is idle
  std::uint32_t flags = 0;
};
static_assert(sizeof(Shown) <= run::kLinePayload);
constexpr std::uint64_t reach_of(std::int32_t member) { return std::uint64_t{1} << (member % 64); }

/// What all members of a superstep have shown.
struct Seen {
  std::uint64_t differ = 0;  ///< bits in which supersteps differ
  std::uint64_t reach = 0;
  std::int64_t nanoseconds = 0, work = 0;  ///< the most
  std::uint32_t flags = 0;

  void add(const Shown& one, std::uint64_t step) {
    differ |= one.step ^ step;
    reach |= one.reach;
    flags |= one.flags;
    nanoseconds = std::max(nanoseconds, one.nanoseconds);
    work = std::max(work, one.work);
  }
};
inline constexpr std::uint32_t kNotIdle = kAllIdle;  ///< a flag that members show

/// A machine that synchronises, with a seat for each member. With a core for everybody they meet on a board, else they
/// sleep until the last has come. Invariants:
/// 1. Meeting n of a member uses its outbox n % 2, and nobody reads that of n - 2 any more: all have come to n - 1, and
///    they took what n - 2 had for them before.
/// 2. A block belongs to its receiver as soon as that one has `took` the meeting; until then to the outbox.
/// 3. Rows of meetings up to n are complete as soon as anybody has left n.
/// 4. Before meeting n of the kWindow-th a member closes its window of rows; after it each member adds the rows of all windows to
///    its own sums for a share of the supersteps, so that nobody waits for the books. When anybody has left n + 1, all have done so.
/// 5. Of a superstep in which all are idle everybody has seen what it cost; the first member notes it, before it comes to the
///    next meeting.
/// Memory order: outbox, window and rows of a member are written before its line (or `here`) says with release that it has come to the
/// meeting, and others read them when they have acquired that. They are written again after a line of each reader's next meeting was
/// acquired, which that one stored after its last look (1, 4). Who asks for the books while others go on acquires `shared` before it takes
/// their sums, `written` before rows.
struct ThreadGroup final : SharedGroup {
  ThreadGroup(const GroupInfo& description, bool crowded)
      : SharedGroup(description), seats(std::make_unique<Seat[]>(count())) {
    if (crowded) {
      for (auto& one : all) one.resize(count());
      return;
    }
    run::BoardShape shape = run::BoardShape::for_threads(info.members.count);
    shape.wide = 0;
    memory = run::AlignedBuffer(shape.bytes());
    std::memset(memory.data(), 0, shape.zeroed());
    for (std::int32_t member = 0; member < info.members.count; ++member) {
      seat(member).board.emplace(memory.data(), shape, member, info.members.count);
    }
  }
  ~ThreadGroup() override {
    for (std::size_t from = 0; from < count(); ++from) {
      for (const Outbox& box : seats[from].outbox) {
        for (const std::int32_t to : box.used) {
          if (seat(to).took < box.number) Chain::free(box.first[static_cast<std::size_t>(to)]);
        }
      }
    }
  }

  struct Outbox {
    std::vector<Block*> first;  ///< by member
    std::vector<std::int32_t> used;
    std::uint64_t number = 0;

    /// Whom it reaches.
    std::uint64_t fill(std::span<Parcel> parcels, std::size_t members, std::uint64_t meeting) {
      number = meeting;
      if (used.empty() && parcels.empty()) return 0;
      for (const std::int32_t to : used) first[static_cast<std::size_t>(to)] = nullptr;
      used.clear();
      if (parcels.empty()) return 0;
      first.resize(members);
      std::uint64_t reach = 0;
      for (Parcel& parcel : parcels) {
        used.push_back(parcel.to);
        first[static_cast<std::size_t>(parcel.to)] = parcel.blocks.release();
        reach |= reach_of(parcel.to);
      }
      return reach;
    }
  };
  struct Kept {
    Booking row;
    std::uint64_t number = 0;  ///< of the meeting it came to
  };
  static constexpr std::uint64_t kWindow = 256;  ///< meetings
  static constexpr std::uint64_t kRows = 1024;   ///< a member keeps at most; two windows and the rows since

  /// Rows of one member, by number, and the superstep before which they all lie.
  struct Window {
    std::uint64_t from = 0, to = 0;
    std::uint64_t step = 0;
  };

  /// A superstep in which all were idle.
  struct IdleStep {
    std::uint64_t step = 0;
    std::int64_t nanoseconds = 0, work = 0, span = 0;

    void add_to(MachineCosts& to) const {
      if (to.supersteps.size() <= step) to.supersteps.resize(step + 1);
      to.supersteps[step].nanoseconds = nanoseconds;
      to.supersteps[step].work = work;
      to.supersteps[step].span_nanoseconds = span;
    }
  };
  /// Written by the first member, one after another; read by any.
  class IdleSteps {
   public:
    void note(const IdleStep& one) {
      std::size_t next = noted_.load(std::memory_order_relaxed);
      if (next == kFresh) {
        const std::lock_guard lock(mutex_);
        before_.insert(before_.end(), fresh_, fresh_ + kFresh);
        noted_.store(next = 0, std::memory_order_relaxed);
      }
      fresh_[next] = one;
      noted_.store(next + 1, std::memory_order_release);
    }
    /// Those before superstep `end`.
    void add_to(MachineCosts& to, std::uint64_t end) {
      const std::lock_guard lock(mutex_);
      const std::span<const IdleStep> fresh(fresh_, noted_.load(std::memory_order_acquire));
      for (const std::span<const IdleStep> some : {std::span<const IdleStep>(before_), fresh}) {
        for (const IdleStep& one : some) {
          if (one.step < end) one.add_to(to);
        }
      }
    }

   private:
    static constexpr std::size_t kFresh = 64;
    alignas(kApart) std::atomic<std::size_t> noted_{0};
    IdleStep fresh_[kFresh];
    std::mutex mutex_;  ///< guards what follows, and that nobody reads `fresh` while it is emptied
    std::vector<IdleStep> before_;
  };

  struct alignas(run::Board) Seat {
    std::atomic<std::uint64_t> came{0};  ///< meetings that the member has come to
    std::uint64_t took = 0;              ///< meetings whose blocks it has taken
    Outbox outbox[2];
    std::optional<run::Board> board;
    std::atomic<std::uint64_t> written{0};  ///< rows
    std::atomic<std::uint64_t> shared{0};   ///< windows of which the member has added its share
    Window windows[2];                      ///< the last ones, by number
    std::unique_ptr<Kept[]> rows;           ///< the last ones, by superstep
    std::uint64_t met = 0;                  ///< superstep of its last meeting
    std::mutex sums;                        ///< guards what follows: this member's shares
    std::vector<std::pair<std::uint64_t, Superstep>> step_sums;

    /// The first row of a window that is not of a superstep before this one.
    std::uint64_t first_row(const Window& window, std::uint64_t step) const {
      std::uint64_t low = window.from, high = window.to;
      while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (rows[middle % kRows].row.row.step < step) low = middle + 1;
        else high = middle;
      }
      return low;
    }
  };
  std::size_t count() const { return static_cast<std::size_t>(info.members.count); }
  Seat& seat(std::int32_t member) { return seats[static_cast<std::size_t>(member)]; }
  /// Has everybody come to this meeting?
  bool complete(std::uint64_t number) {
    for (std::int32_t member = 0; member < info.members.count; ++member) {
      if (seat(member).came.load(std::memory_order_acquire) < number) return false;
    }
    return true;
  }

  /// Rows stay with the member until the window is closed; what finds no room goes to the costs at once. `number`: of the
  /// meeting that will show them.
  void book(Seat& seat, std::span<const Booking> rows, std::uint64_t number, bool keep_rows) {
    if (rows.empty()) return;
    if (seat.rows == nullptr) seat.rows = std::make_unique<Kept[]>(kRows);
    const std::uint64_t closed = (number - 1) / kWindow;  // windows, before that meeting
    // The last window is read until all have come to the meeting after it.
    const bool done = number >= closed * kWindow + 2;
    const std::uint64_t needed = seat.windows[(done ? closed : closed + 1) % 2].to;
    std::uint64_t written = seat.written.load(std::memory_order_relaxed);
    for (const Booking& row : rows) {
      if (written - needed == kRows) {
        const std::lock_guard lock(books);
        merge(costs, row, keep_rows);
        continue;
      }
      seat.rows[written % kRows] = {row, number};
      seat.written.store(++written, std::memory_order_release);
    }
  }

  /// Before the meeting of this number and superstep.
  static void close_window(Seat& seat, std::uint64_t number, std::uint64_t step) {
    if (number % kWindow != 0) return;
    const std::uint64_t window = number / kWindow;
    const std::uint64_t written = seat.written.load(std::memory_order_relaxed);
    seat.windows[window % 2] = {seat.windows[(window + 1) % 2].to, written, step};
  }

  /// After a meeting that closed windows: adds the rows of a share of its supersteps, of all members.
  void add_share(std::int32_t member, std::uint64_t number, bool keep_rows) {
    if (number % kWindow != 0) return;
    const std::uint64_t window = number / kWindow;
    const Window& mine = seat(member).windows[window % 2];
    const std::uint64_t first = seat(member).windows[(window + 1) % 2].step;
    const auto bound = [&](std::int32_t share) {
      return first + (mine.step - first) * static_cast<std::uint64_t>(share) / count();
    };
    const std::uint64_t begin = bound(member), end = bound(member + 1);
    std::vector<Superstep> sums;
    for (std::int32_t other = 0; other < info.members.count; ++other) {
      const Seat& theirs = seat(other);
      const Window& rows = theirs.windows[window % 2];
      for (std::uint64_t i = theirs.first_row(rows, begin); i < rows.to; ++i) {
        const Booking& row = theirs.rows[i % kRows].row;
        if (row.row.step >= end) break;
        sums.resize(end - begin);
        Superstep& sum = sums[row.row.step - begin];
        bsp::merge(sum, row.row, keep_rows);
        sum.span_nanoseconds += row.span;
      }
    }
    if (!sums.empty()) {
      const std::lock_guard lock(seat(member).sums);
      for (std::uint64_t step = begin; step < end; ++step)
        seat(member).step_sums.emplace_back(step, std::move(sums[step - begin]));
    }
    seat(member).shared.store(window, std::memory_order_release);
  }

  /// Ends a superstep in which all were idle.
  void end_idle(std::int32_t member, std::uint64_t step, const Seen& seen, Idle& idle) {
    const std::int64_t now = Ticks::now();
    const std::int64_t span = now - std::exchange(idle.released, now);
    if (member == 0) idle_steps.note({step, seen.nanoseconds, seen.work, Ticks::nanoseconds(span)});
  }

  /// Adds what the members have added up, and the rest: rows of meetings up to `number`, idle supersteps before `idle`. REQUIRES
  /// that all have added up their shares.
  void add_all(MachineCosts& to, std::uint64_t number, std::uint64_t window, std::uint64_t idle, bool keep_rows) {
    idle_steps.add_to(to, idle);
    for (std::size_t member = 0; member < count(); ++member) {
      Seat& seat = seats[member];
      const std::lock_guard lock(seat.sums);
      for (const auto& [step, sum] : seat.step_sums) {
        if (to.supersteps.size() <= step) to.supersteps.resize(step + 1);
        bsp::merge(to.supersteps[step], sum);
      }
      const std::uint64_t written = seat.written.load(std::memory_order_acquire);
      for (std::uint64_t i = seat.windows[window % 2].to; i < written; ++i) {
        const Kept& kept = seat.rows[i % kRows];
        if (kept.number > number) break;
        merge(to, kept.row, keep_rows);
      }
    }
  }

  /// The costs of all meetings up to the last of this member, while others go on. Throws where the machine has failed.
  MachineCosts costs_seen_by(std::int32_t member, const SharedMachine& machine) {
    const bool keep_rows = machine.options().per_processor_costs;
    const std::uint64_t number = seat(member).came.load(std::memory_order_relaxed);
    const std::uint64_t window = number / kWindow;
    for (std::int32_t other = 0; other < info.members.count; ++other) {
      while (seat(other).shared.load(std::memory_order_acquire) < window) {
        machine.throw_if_failed();
        std::this_thread::yield();
      }
    }
    const std::lock_guard lock(books);
    MachineCosts known = costs;
    add_all(known, number, window, seat(member).met, keep_rows);  // invariant 5: all idle ones before it are noted
    return known;
  }

  void close(bool keep_rows) override {
    const std::lock_guard lock(books);
    const std::uint64_t most = ~std::uint64_t{0};
    std::uint64_t window = most;
    for (std::size_t member = 0; member < count(); ++member)
      window = std::min(window, seats[member].shared.load(std::memory_order_acquire));
    add_all(costs, most, window, most, keep_rows);
  }

  run::AlignedBuffer memory;  ///< of the board
  std::unique_ptr<Seat[]> seats;
  IdleSteps idle_steps;
  // Of those who sleep.
  std::vector<Shown> all[2];  ///< of meetings n % 2
  alignas(kApart) std::atomic<std::int32_t> here{0};
  std::atomic<std::uint32_t> generation{0};
};

}  // namespace chasqui::bsp::detail
