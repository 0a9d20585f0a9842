// SPDX-License-Identifier: MIT
// All k-item broadcasts on a small postal machine, tick by tick and rank by rank.
#include <algorithm>

#include "chasqui/solve/robust.hpp"

namespace chasqui::solve {
namespace {

class Enumeration {
 public:
  Enumeration(const LogP& machine, std::int64_t k, Time finish, const std::function<bool(const Schedule&)>& visit)
      : P_(static_cast<std::size_t>(machine.P)), k_(static_cast<std::size_t>(k)), L_(machine.L.ticks),
        last_send_(finish.ticks - machine.L.ticks), visit_(visit), available_(P_ * k_, kMissing), receives_at_(P_),
        left_((P_ - 1) * k_) {
    schedule_.machine = machine;
    schedule_.problem = {.kind = Kind::broadcast, .items = k};
    for (std::size_t i = 0; i < k_; ++i) available_[i] = 0;  // the root, rank 0
  }

  bool run() { return step(0, 0); }

 private:
  static constexpr std::int64_t kMissing = std::int64_t{1} << 40;

  std::int64_t& available(std::size_t rank, std::size_t item) { return available_[rank * k_ + item]; }

  /// Rank `from` decides at `now`; then the next rank, then the next tick. False: stopped.
  bool step(std::int64_t now, std::size_t from) {
    if (left_ == 0) return report();
    if (from == P_) {
      ++now;
      from = 0;
    }
    // Every later step delivers at most one item to every rank but the root.
    const std::int64_t steps = last_send_ - now + 1;
    if (steps <= 0 || static_cast<std::int64_t>(left_) > steps * static_cast<std::int64_t>(P_ - 1)) return true;
    bool item_is_new = false;  // items nobody has sent are alike: try one
    for (std::size_t item = 0; item < k_; ++item) {
      if (available(from, item) > now) continue;
      if (!sent(item)) {
        if (item_is_new) continue;
        item_is_new = true;
      }
      bool rank_is_new = false;  // so are ranks to which nothing is under way
      for (std::size_t to = 1; to < P_; ++to) {
        if (available(to, item) != kMissing) continue;
        auto& receptions = receives_at_[to];
        if (receptions.empty()) {
          if (rank_is_new) continue;
          rank_is_new = true;
        }
        if (std::find(receptions.begin(), receptions.end(), now + L_) != receptions.end()) continue;
        receptions.push_back(now + L_);
        available(to, item) = now + L_;
        --left_;
        schedule_.sends.push_back(send_item(Time{now}, Rank{static_cast<std::int32_t>(from)},
                                            Rank{static_cast<std::int32_t>(to)}, static_cast<std::int32_t>(item)));
        const bool go_on = step(now, from + 1);
        schedule_.sends.pop_back();
        ++left_;
        available(to, item) = kMissing;
        receptions.pop_back();
        if (!go_on) return false;
      }
    }
    return step(now, from + 1);  // it sends nothing
  }

  bool sent(std::size_t item) const {
    return std::any_of(schedule_.sends.begin(), schedule_.sends.end(),
                       [&](const Send& send) { return send.part.lo == static_cast<std::int32_t>(item); });
  }

  bool report() {
    Schedule complete = schedule_;
    for (const Send& send : complete.sends)
      complete.finish = std::max(complete.finish, chasqui::available(complete.machine, send));
    normalise(complete);
    return visit_(complete);
  }

  std::size_t P_;
  std::size_t k_;
  std::int64_t L_;
  std::int64_t last_send_;
  const std::function<bool(const Schedule&)>& visit_;
  std::vector<std::int64_t> available_;
  std::vector<std::vector<std::int64_t>> receives_at_;
  std::size_t left_;
  Schedule schedule_;
};

}  // namespace

bool for_each_broadcast(const LogP& machine, std::int64_t k, Time finish,
                        const std::function<bool(const Schedule&)>& visit) {
  return Enumeration(machine, k, finish, visit).run();
}

}  // namespace chasqui::solve
