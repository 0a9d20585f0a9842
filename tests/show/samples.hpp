// SPDX-License-Identifier: MIT
// Schedules written by hand, message by message.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::test {

/// `Sends(machine, problem).item(t, from, to, item)…` is a Schedule.
class Sends {
 public:
  Sends(const LogP& machine, const Problem& problem, Time finish = Time{0}) {
    schedule_.machine = machine;
    schedule_.problem = problem;
    schedule_.finish = schedule_.bound = finish;
  }
  Sends& item(std::int64_t t, std::int32_t from, std::int32_t to, std::int32_t item) {
    return fold(t, from, to, item, 1);
  }
  Sends& fold(std::int64_t t, std::int32_t from, std::int32_t to, std::int32_t lo, std::int32_t len) {
    schedule_.sends.push_back({Time{t}, Rank{from}, Rank{to}, {lo, len}});
    return *this;
  }
  operator Schedule() const {  // NOLINT: reads like the schedule it is
    Schedule result = schedule_;
    normalise(result);
    return result;
  }

 private:
  Schedule schedule_;
};

/// Figure 1 of Karp, Sahay, Santos and Schauser: P=8, L=6, g=4, o=2.
inline Schedule paper_broadcast() {
  return Sends({8, Time{6}, Time{2}, Time{4}}, {Kind::broadcast}, Time{24})
      .item(0, 0, 1, 0)
      .item(4, 0, 2, 0)
      .item(8, 0, 3, 0)
      .item(12, 0, 4, 0)
      .item(10, 1, 5, 0)
      .item(14, 1, 6, 0)
      .item(14, 2, 7, 0);
}

}  // namespace chasqui::test
