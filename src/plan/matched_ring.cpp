// SPDX-License-Identifier: MIT
#include "plan/matched_ring.hpp"

#include <algorithm>
#include <limits>

#include "plan/send_times.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class Matcher {
 public:
  Matcher(const LogP& machine, std::int64_t items)
      : spacing_(machine), o_(machine.o.ticks), P_(static_cast<std::size_t>(machine.P)),
        all_(P_ * static_cast<std::size_t>(items)), at_(P_, std::vector<std::int64_t>(all_, kNever)),
        copies_(all_, 1), sent_(P_), received_(P_), missing_(P_ * all_ - all_) {
    for (std::size_t r = 0; r < P_; ++r) {
      lacks_.push_back(all_ - static_cast<std::size_t>(items));
      for (std::size_t i = 0; i < static_cast<std::size_t>(items); ++i) at_[r][r * static_cast<std::size_t>(items) + i] = 0;
    }
  }

  bool done() const { return missing_ == 0; }
  std::vector<Send> sends;

  /// Matches senders and receivers of one instant.
  void slot(std::int64_t t, const std::vector<std::size_t>& from, std::vector<std::size_t> to) {
    std::stable_sort(to.begin(), to.end(), [&](std::size_t a, std::size_t b) { return lacks_[a] > lacks_[b]; });
    server_of_.assign(P_, P_);
    served_by_.assign(P_, P_);
    std::vector<std::size_t> senders;
    for (const std::size_t s : from) {
      if (can_send(s, t)) senders.push_back(s);
    }
    for (const std::size_t r : to) {
      if (lacks_[r] == 0 || !can_receive(r, t + o_ + spacing_.L)) continue;
      tried_.assign(P_, false);
      augment(r, senders, t);
    }
    for (const std::size_t s : senders) {
      if (served_by_[s] != P_) commit(t, s, served_by_[s]);
    }
  }

 private:
  bool free_of(const std::vector<std::int64_t>& begins, std::int64_t t, std::int64_t apart) const {
    for (auto b = begins.rbegin(); b != begins.rend() && *b > t - apart; ++b) {
      if (*b < t + apart) return false;
    }
    return true;
  }
  bool can_send(std::size_t s, std::int64_t t) const {
    return free_of(sent_[s], t, spacing_.G) && free_of(received_[s], t, o_);
  }
  bool can_receive(std::size_t r, std::int64_t t) const {
    return free_of(received_[r], t, spacing_.G) && free_of(sent_[r], t, o_);
  }

  /// The rarest item that s has at t and r lacks, or all_.
  std::size_t useful(std::size_t s, std::size_t r, std::int64_t t) const {
    std::size_t best = all_;
    for (std::size_t i = 0; i < all_; ++i) {
      if (at_[s][i] <= t && at_[r][i] == kNever && (best == all_ || copies_[i] < copies_[best])) best = i;
    }
    return best;
  }

  bool augment(std::size_t r, const std::vector<std::size_t>& senders, std::int64_t t) {
    for (const std::size_t s : senders) {
      if (tried_[s] || s == r || useful(s, r, t) == all_) continue;
      tried_[s] = true;
      if (served_by_[s] == P_ || augment(served_by_[s], senders, t)) {
        served_by_[s] = r;
        server_of_[r] = s;
        return true;
      }
    }
    return false;
  }

  void commit(std::int64_t t, std::size_t s, std::size_t r) {
    // With L = 0 or a rank on both sides a slot can spoil itself: look again.
    if (!can_send(s, t) || !can_receive(r, t + o_ + spacing_.L)) return;
    const std::size_t item = useful(s, r, t);
    at_[r][item] = t + spacing_.D;
    ++copies_[item];
    --lacks_[r];
    --missing_;
    insert(sent_[s], t);
    insert(received_[r], t + o_ + spacing_.L);
    sends.push_back(send_item(Time{t}, Rank{static_cast<std::int32_t>(s)}, Rank{static_cast<std::int32_t>(r)},
                              static_cast<std::int32_t>(item)));
  }
  static void insert(std::vector<std::int64_t>& begins, std::int64_t t) {
    begins.insert(std::upper_bound(begins.begin(), begins.end(), t), t);
  }

  Spacing spacing_;
  std::int64_t o_;
  std::size_t P_, all_;
  std::vector<std::vector<std::int64_t>> at_;  ///< [rank][item]: available from
  std::vector<std::size_t> copies_;
  std::vector<std::vector<std::int64_t>> sent_, received_;  ///< begins of overheads, ascending
  std::vector<std::size_t> lacks_;
  std::size_t missing_;
  std::vector<std::size_t> server_of_, served_by_;
  std::vector<bool> tried_;
};

}  // namespace

std::optional<std::vector<Send>> matched_ring(const LogP& machine, std::int64_t items, std::int64_t period,
                                              const std::vector<std::int64_t>& offset, std::int64_t unless_by) {
  const std::size_t m = offset.size(), P = static_cast<std::size_t>(machine.P), regular = P / m * m;
  std::vector<std::vector<std::size_t>> members(m);
  for (std::size_t r = 0; r < regular; ++r) members[r % m].push_back(r);
  for (std::size_t r = regular; r < P; ++r) {
    for (auto& every : members) every.push_back(r);
  }
  std::vector<std::size_t> order(m);
  for (std::size_t c = 0; c < m; ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return offset[a] < offset[b]; });
  Matcher matcher(machine, items);
  for (std::int64_t start = 0; !matcher.done(); start += period) {
    for (const std::size_t c : order) {
      if (matcher.done()) break;
      if (start + offset[c] >= unless_by) return std::nullopt;
      matcher.slot(start + offset[c], members[c], members[(c + 1) % m]);
    }
  }
  return std::move(matcher.sends);
}

}  // namespace chasqui::plan
