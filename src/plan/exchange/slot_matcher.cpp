// SPDX-License-Identifier: MIT
#include "plan/exchange/slot_matcher.hpp"

#include <algorithm>
#include <bit>

#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

/// No begin in (t - apart, t + apart)?
bool free_of(const std::vector<std::int64_t>& begins, std::int64_t t, std::int64_t apart) {
  for (auto b = begins.rbegin(); b != begins.rend() && *b > t - apart; ++b) {
    if (*b < t + apart) return false;
  }
  return true;
}

}  // namespace

SlotMatcher::SlotMatcher(const LogP& machine, std::int64_t items)
    : spacing_(machine), o_(machine.o.ticks), P_(static_cast<int>(machine.P)), items_(static_cast<int>(items)),
      all_(P_ * items_), processors_(static_cast<std::size_t>(P_)) {
  CHASQUI_CHECK(all_ <= kMostMatched, "{} items", all_);
  reset();
}

void SlotMatcher::reset() {
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

bool SlotMatcher::can_send(int rank, std::int64_t t) const {
  const Processor& p = processors_[static_cast<std::size_t>(rank)];
  return free_of(p.sent, t, spacing_.G) && free_of(p.received, t, o_);
}

bool SlotMatcher::can_receive(int rank, std::int64_t t) const {
  const Processor& p = processors_[static_cast<std::size_t>(rank)];
  return free_of(p.received, t, spacing_.G) && free_of(p.sent, t, o_);
}

SlotMatcher::Set SlotMatcher::useful(int from, int to) const {
  return processors_[static_cast<std::size_t>(from)].has & ~processors_[static_cast<std::size_t>(to)].expected;
}

bool SlotMatcher::hopeless(std::int64_t t, std::int64_t end) const {
  std::int64_t slots = 0;
  for (const Processor& p : processors_) {
    const std::int64_t lacks = all_ - std::popcount(p.expected);
    if (t + (lacks - 1) * spacing_.G >= end) return true;
    const std::int64_t next = p.sent.empty() ? t : std::max(t, p.sent.back() + spacing_.G);
    if (next < end) slots += (end - 1 - next) / spacing_.G + 1;
  }
  return slots < missing_;
}

void SlotMatcher::slot(std::int64_t t, const std::vector<int>& from, std::vector<int> to) {
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

bool SlotMatcher::augment(int to) {
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

void SlotMatcher::commit(std::int64_t t, int from, int to) {
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

}  // namespace chasqui::plan
