// SPDX-License-Identifier: MIT
#include "plan/exchange/matched_allgather.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "chasqui/base/error.hpp"
#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {
namespace {

/// No begin in (t - apart, t + apart)?
bool free_of(const std::vector<std::int64_t>& begins, std::int64_t t, std::int64_t apart) {
  for (auto b = begins.rbegin(); b != begins.rend() && *b > t - apart; ++b) {
    if (*b < t + apart) return false;
  }
  return true;
}

/// Builds an all-gather of few items instant by instant: who may send and who may receive at t are matched, the neediest
/// receiver first, and each message carries the rarest item its receiver lacks. Every message keeps rules 1 to 6.
class SlotMatcher {
 public:
  /// REQUIRES P * items <= kMostMatched.
  SlotMatcher(const LogP& machine, std::int64_t items)
      : spacing_(machine), o_(machine.o.ticks), P_(static_cast<int>(machine.P)), items_(static_cast<int>(items)),
        all_(P_ * items_), processors_(static_cast<std::size_t>(P_)) {
    CHASQUI_CHECK(all_ <= kMostMatched, "{} items", all_);
    reset();
  }

  /// Forgets all messages.
  void reset() {
    for (int r = 0; r < P_; ++r) {
      Processor& p = processors_[static_cast<std::size_t>(r)];
      p.has = 0;
      for (int i = 0; i < items_; ++i) p.has |= Set{1} << (r * items_ + i);
      p.expected = p.has;
      p.arriving.clear();
      p.sent.clear();
      p.received.clear();
    }
    copies_.assign(static_cast<std::size_t>(all_), 1);
    missing_ = (P_ - 1) * all_;
    sends_.clear();
  }

  /// Matches `from` with `to` (ties in need: in the order given) for sends that begin at t. REQUIRES that t
  /// does not decrease from call to call.
  void slot(std::int64_t t, const std::vector<int>& from, std::vector<int> to) {
    for (Processor& p : processors_) {
      std::erase_if(p.arriving, [&](const Arrival& a) {
        if (a.at > t) return false;
        p.has |= a.item;
        return true;
      });
    }
    senders_.clear();
    for (const int s : from) {
      if (can_send(s, t)) senders_.push_back(s);
    }
    if (senders_.empty()) return;
    const auto known = [&](int r) { return std::popcount(processors_[static_cast<std::size_t>(r)].expected); };
    std::stable_sort(to.begin(), to.end(), [&](int a, int b) { return known(a) < known(b); });
    serves_.assign(static_cast<std::size_t>(P_), -1);
    for (const int r : to) {
      if (known(r) == all_ || !can_receive(r, t + o_ + spacing_.L)) continue;
      tried_ = 0;
      augment(r);
    }
    for (const int s : senders_) {
      if (const int r = serves_[static_cast<std::size_t>(s)]; r >= 0) commit(t, s, r);
    }
  }

  bool done() const { return missing_ == 0; }

  /// Surely not done by sends that begin in [t, end): a receiver, or all senders together, have too little time left.
  bool hopeless(std::int64_t t, std::int64_t end) const {
    std::int64_t slots = 0;
    for (const Processor& p : processors_) {
      const std::int64_t lacks = all_ - std::popcount(p.expected);
      if (t + (lacks - 1) * spacing_.G >= end) return true;
      const std::int64_t next = p.sent.empty() ? t : std::max(t, p.sent.back() + spacing_.G);
      if (next < end) slots += (end - 1 - next) / spacing_.G + 1;
    }
    return slots < missing_;
  }

  /// The messages taken so far, by begin.
  const std::vector<Send>& sends() const { return sends_; }

 private:
  using Set = std::uint64_t;
  struct Arrival {
    std::int64_t at;
    Set item;
  };
  struct Processor {
    Set has = 0;       ///< available at the instant looked at
    Set expected = 0;  ///< available or on its way
    std::vector<Arrival> arriving;
    std::vector<std::int64_t> sent, received;  ///< begins of the overheads, ascending
  };

  bool can_send(int rank, std::int64_t t) const {
    const Processor& p = processors_[static_cast<std::size_t>(rank)];
    return free_of(p.sent, t, spacing_.G) && free_of(p.received, t, o_);
  }

  bool can_receive(int rank, std::int64_t t) const {
    const Processor& p = processors_[static_cast<std::size_t>(rank)];
    return free_of(p.received, t, spacing_.G) && free_of(p.sent, t, o_);
  }

  Set useful(int from, int to) const {
    return processors_[static_cast<std::size_t>(from)].has & ~processors_[static_cast<std::size_t>(to)].expected;
  }

  bool augment(int to) {
    for (const int s : senders_) {
      const Set bit = Set{1} << s;
      if ((tried_ & bit) != 0 || s == to || useful(s, to) == 0) continue;
      tried_ |= bit;
      int& served = serves_[static_cast<std::size_t>(s)];
      if (served < 0 || augment(served)) {
        served = to;
        return true;
      }
    }
    return false;
  }

  void commit(std::int64_t t, int from, int to) {
    const std::int64_t begins = t + o_ + spacing_.L;
    // A rank may be on both sides: its reception, just taken, may forbid its send and the other way round.
    if (!can_send(from, t) || !can_receive(to, begins)) return;
    int item = -1;
    for (Set rest = useful(from, to); rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      if (item < 0 || copies_[static_cast<std::size_t>(i)] < copies_[static_cast<std::size_t>(item)]) item = i;
    }
    Processor& receiver = processors_[static_cast<std::size_t>(to)];
    receiver.expected |= Set{1} << item;
    receiver.arriving.push_back({t + spacing_.D, Set{1} << item});
    receiver.received.insert(std::upper_bound(receiver.received.begin(), receiver.received.end(), begins), begins);
    processors_[static_cast<std::size_t>(from)].sent.push_back(t);
    ++copies_[static_cast<std::size_t>(item)];
    --missing_;
    sends_.push_back(send_item(Time{t}, Rank{from}, Rank{to}, item));
  }

  Spacing spacing_;
  std::int64_t o_;
  int P_;
  int items_;
  int all_;
  int missing_ = 0;
  std::vector<Processor> processors_;
  std::vector<int> copies_;
  std::vector<int> senders_, serves_;  ///< this slot's: who may send, and whom each rank serves (-1: nobody)
  Set tried_ = 0;
  std::vector<Send> sends_;
};

}  // namespace

std::optional<std::vector<Send>> matched_ring(const LogP& machine, std::int64_t items, std::int64_t period,
                                              const std::vector<std::int64_t>& offset, std::int64_t unless_by) {
  const std::size_t m = offset.size(), P = static_cast<std::size_t>(machine.P), regular = P / m * m;
  std::vector<std::vector<int>> members(m);
  for (std::size_t r = 0; r < P; ++r) {
    for (std::size_t c = 0; c < m; ++c) {
      if (r >= regular || r % m == c) members[c].push_back(static_cast<int>(r));
    }
  }
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return offset[a] < offset[b]; });
  SlotMatcher matcher(machine, items);
  for (std::int64_t start = 0;; start += period) {
    for (const std::size_t c : order) {
      if (matcher.done()) return matcher.sends();
      const std::int64_t t = start + offset[c];
      if (t >= unless_by || matcher.hopeless(t, unless_by)) return std::nullopt;
      matcher.slot(t, members[c], members[(c + 1) % m]);
    }
  }
}

std::optional<std::vector<Send>> matched_at_random(const LogP& machine, std::int64_t items, std::int64_t good_enough,
                                                   std::int64_t unless_by) {
  constexpr int kAttempts = 1 << 12;
  const std::int64_t unit = std::gcd(std::gcd(machine.L.ticks, machine.o.ticks), machine.gap().ticks);
  if (machine.P * items > 6 || unless_by / unit > 255) return std::nullopt;
  const LogP scaled{machine.P, Time{machine.L.ticks / unit}, Time{machine.o.ticks / unit},
                    Time{machine.gap().ticks / unit}};
  std::int64_t end = unless_by / unit;
  std::optional<std::vector<Send>> best;
  SlotMatcher matcher(scaled, items);
  std::mt19937 random(19);
  std::vector<int> everybody(static_cast<std::size_t>(machine.P)), from;
  std::iota(everybody.begin(), everybody.end(), 0);
  for (int attempt = 0; attempt < kAttempts && end * unit > good_enough; ++attempt) {
    const unsigned idle_of_16 = static_cast<unsigned>(attempt) % 8;
    matcher.reset();
    for (std::int64_t t = 0; !matcher.done() && !matcher.hopeless(t, end); ++t) {
      for (std::size_t i = everybody.size() - 1; i > 0; --i) std::swap(everybody[i], everybody[random() % (i + 1)]);
      from.clear();
      for (const int r : everybody) {
        if (random() % 16 >= idle_of_16) from.push_back(r);
      }
      matcher.slot(t, from, everybody);
    }
    if (!matcher.done()) continue;
    best = matcher.sends();
    const Time idle = best->front().begin;  // nobody sent before that
    for (Send& send : *best) send.begin -= idle;
    end = best->back().begin.ticks;
  }
  if (best) {
    for (Send& send : *best) send.begin = unit * send.begin;
  }
  return best;
}

}  // namespace chasqui::plan
