// SPDX-License-Identifier: MIT
#include "plan/exchange/turns.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/exchange/allgather_ring.hpp"
#include "plan/exchange/symmetric_exchange.hpp"

namespace chasqui::plan {
namespace {

/// From the first send of a block to the first of the next.
std::int64_t block_length(const AlltoallTurns& turns, std::int64_t items, std::int64_t columns) {
  const std::int64_t latest = *std::max_element(turns.offset.begin(), turns.offset.end());
  return (items * columns - 1) * turns.period + latest + turns.pause;
}

class AlltoallInTurns final : public Plan {
 public:
  AlltoallInTurns(const LogP& machine, const Problem& problem, Claim claim, AlltoallTurns turns)
      : Plan(machine, problem, std::move(claim)), turns_(std::move(turns)) {
    // The class that follows c at distance d plays the role after c's: c * inverse[d].
    for (std::int64_t d = 1; d < turns_.m; ++d) {
      std::int64_t inverse = 1;
      while (d * inverse % turns_.m != 1) ++inverse;
      inverse_.push_back(inverse);
    }
  }

  LocalForm local(Rank rank) const override {
    const std::int64_t r = rank.index;
    CHASQUI_CHECK(r >= 0 && r < machine_.P, "rank={} P={}", r, machine_.P);
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const auto add = [&](Time sent, std::int64_t to, Time received, std::int64_t from, std::int64_t number) {
      if (to < machine_.P) local.sends.push_back(exchange_message(machine_, problem_, sent, r, to, number));
      if (from < machine_.P) local.receives.push_back(exchange_message(machine_, problem_, received, from, r, number));
    };
    std::int64_t digits = 1;  // m^level
    for (std::size_t level = 0; level < turns_.columns.size(); ++level) {
      const std::int64_t h = turns_.columns[level], m = turns_.m;
      const std::int64_t low = r % digits, c = r / digits % m, i = r / digits / m;
      for (std::int64_t d = 1; d < m; ++d) {
        for (std::int64_t round = 0; round < problem_.items * h; ++round) {
          const std::int64_t to = (c + d) % m + m * ((i + round) % h);
          const std::int64_t from = (c + m - d) % m + m * ((i + h - round % h) % h);
          add(time(level, d, c, round), low + digits * to, time(level, d, (c + m - d) % m, round), low + digits * from,
              round / h);
        }
      }
      digits *= m;
    }
    const std::int64_t h = turns_.columns.back(), low = r % digits, i = r / digits;
    for (std::int64_t j = 0; j < turns_.rest.count(); ++j) {
      const std::int64_t distance = 1 + j % (h - 1);
      const Time begin{turns_.start.back() + turns_.rest.at(j)};
      add(begin, low + digits * ((i + distance) % h), begin, low + digits * ((i + h - distance) % h), j / (h - 1));
    }
    return local;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    const std::int64_t P = machine_.P, m = turns_.m;
    const auto add = [&](Time begin, std::int64_t from, std::int64_t to, std::int64_t number) {
      if (from < P && to < P) schedule.sends.push_back(exchange_message(machine_, problem_, begin, from, to, number));
    };
    std::int64_t digits = 1;
    for (std::size_t level = 0; level < turns_.columns.size(); ++level, digits *= m) {
      const std::int64_t h = turns_.columns[level];
      for (std::int64_t place = 0; place < digits * m * h; ++place) {
        const std::int64_t low = place % digits, c = place / digits % m, i = place / digits / m;
        for (std::int64_t target = 0; target < m * h; ++target) {
          if (target % m == c) continue;
          const std::int64_t d = (target % m - c + m) % m, t = (target / m - i + h) % h;
          for (std::int64_t number = 0; number < problem_.items; ++number)
            add(time(level, d, c, number * h + t), place, low + digits * target, number);
        }
      }
    }
    const std::int64_t h = turns_.columns.back();
    for (std::int64_t place = 0; place < digits * h; ++place) {
      for (std::int64_t j = 0; j < turns_.rest.count(); ++j) {
        const std::int64_t target = (place / digits + 1 + j % (h - 1)) % h;
        add(Time{turns_.start.back() + turns_.rest.at(j)}, place, place % digits + digits * target, j / (h - 1));
      }
    }
    normalise(schedule);
    return schedule;
  }

 private:
  /// When class c sends for the `round`-th time in the block in which classes send to those d further on.
  Time time(std::size_t level, std::int64_t d, std::int64_t c, std::int64_t round) const {
    const std::int64_t role = c * inverse_[static_cast<std::size_t>(d - 1)] % turns_.m;
    const std::int64_t block = block_length(turns_, problem_.items, turns_.columns[level]);
    return Time{turns_.start[level] + (d - 1) * block + turns_.offset[static_cast<std::size_t>(role)] +
                round * turns_.period};
  }

  AlltoallTurns turns_;
  std::vector<std::int64_t> inverse_;  ///< of 1 .. m-1, modulo m
};

}  // namespace

std::optional<AlltoallTurns> best_turns(const LogP& machine, std::int64_t items, std::int64_t unless_by) {
  constexpr std::size_t kPeriods = 4;
  const Spacing spacing(machine);
  std::optional<AlltoallTurns> best;
  std::map<std::int64_t, SymmetricTimes> common;  // by the number of ranks
  for (const std::int64_t m : {2, 3, 5, 7, 11, 13}) {
    if (m > machine.P) break;
    std::vector<std::int64_t> periods = ring_periods(spacing, m);
    if (periods.size() > kPeriods) periods.resize(kPeriods);
    for (const std::int64_t q : periods) {
      auto offset = ring_offsets(spacing, m, q);
      if (!offset) continue;
      AlltoallTurns turns{.m = m, .period = q, .offset = std::move(*offset), .pause = spacing.longest_wait()};
      std::int64_t start = 0;
      for (std::int64_t ranks = machine.P; ranks > 1;) {
        const std::int64_t h = divide_up(ranks, m);
        turns.columns.push_back(h);
        turns.start.push_back(start);
        start += (m - 1) * block_length(turns, items, h);
        ranks = h;
        if (h == 1 || start >= unless_by) break;
        if (start + (items * (h - 1) - 1) * spacing.G >= unless_by) continue;
        if (!common.contains(h)) common.emplace(h, symmetric_times(machine, items * (h - 1)));
        const SymmetricTimes& rest = common.at(h);
        if (start + rest.last() >= unless_by) continue;
        best = turns;
        best->start.push_back(start);
        best->rest = rest;
        best->last_send = unless_by = start + rest.last();
      }
    }
  }
  return best;
}

PlanPtr alltoall_in_turns(const LogP& machine, const Problem& problem, Claim claim, AlltoallTurns turns) {
  return std::make_shared<AlltoallInTurns>(machine, problem, std::move(claim), std::move(turns));
}

}  // namespace chasqui::plan
