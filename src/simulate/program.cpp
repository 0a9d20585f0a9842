// SPDX-License-Identifier: MIT
#include "simulate/program.hpp"

#include <algorithm>
#include <span>

#include "chasqui/base/error.hpp"
#include "simulate/large_pages.hpp"

namespace chasqui::simulate {
namespace {

std::int64_t item_of(const Send& send, Kind kind) { return kind == Kind::alltoall ? send.item_number() : send.part.lo; }

/// Item → number of the planned reception that brings it, sorted by item.
std::vector<std::pair<std::int64_t, std::int32_t>> receptions_by_item(const std::vector<Send>& receives, Kind kind) {
  std::vector<std::pair<std::int64_t, std::int32_t>> by_item;
  by_item.reserve(receives.size());
  for (std::size_t i = 0; i < receives.size(); ++i) {
    by_item.emplace_back(item_of(receives[i], kind), static_cast<std::int32_t>(i));
  }
  std::sort(by_item.begin(), by_item.end());
  return by_item;
}

/// The planned reception whose value the addition takes in.
std::int32_t need_of(const Add& add, const std::vector<Send>& receives) {
  if (add.from == add.rank) return Program::kNothing;
  for (std::size_t i = 0; i < receives.size(); ++i) {
    if (receives[i].from == add.from) return static_cast<std::int32_t>(i);
  }
  return Program::kImpossible;
}

/// One rank's sends and additions in planned order: calls on_send(i) and on_add(i) with their places in the lists.
template <typename Sends, typename Adds, typename OnSend, typename OnAdd>
void merge(const Sends& sends, const Adds& adds, OnSend on_send, OnAdd on_add) {
  std::size_t s = 0;
  std::size_t a = 0;
  while (s < sends.size() || a < adds.size()) {
    if (s == sends.size() || (a < adds.size() && adds[a].begin < sends[s].begin)) {
      on_add(a++);
    } else {
      on_send(s++);
    }
  }
}

void require_playable(const LogP& machine, const Problem& problem) {
  validate(machine);
  validate(problem, machine);
  if (problem.kind == Kind::stream) throw Error("a stream has no end: unroll it to a number of items first (--items)");
}

bool counts_prefixes(const Problem& problem) { return !names_items(problem) && problem.kind != Kind::sum; }
bool reduces_items(const Problem& problem) { return names_items(problem) && combines(problem.kind); }

}  // namespace

Program::Program(Schedule schedule)
    : schedule_(std::move(schedule)), prefix_(counts_prefixes(schedule_.problem)),
      per_item_(reduces_items(schedule_.problem)) {
  require_playable(schedule_.machine, schedule_.problem);
  require_ranks();
  sort_by_sender();
  number_receptions();
  if (!single_) find_needs();
}

void Program::require_ranks() const {
  if (schedule_.sends.size() >= kAdd || schedule_.adds.size() >= kAdd) {
    throw Error("the schedule has more than 2^31 messages: simulate it from its local forms");
  }
  const auto require = [&](Rank rank) {
    if (rank.index >= 0 && rank.index < ranks()) return;
    throw Error("rank {} does not exist: verify the schedule before it is played", rank.index);
  };
  // Arrays go by rank: a mistyped P must not fill the memory.
  constexpr std::uint64_t kFew = 1'000'000;
  const std::uint64_t most = 2 * schedule_.sends.size() + schedule_.adds.size() + schedule_.operands.size();
  if (static_cast<std::uint64_t>(ranks()) > std::max(kFew, most)) {
    throw Error(
        "P is {}, and {} messages reach {} ranks at most: correct P, or verify the schedule before it is played",
        ranks(), schedule_.sends.size(), 2 * schedule_.sends.size());
  }
  for (const Send& send : schedule_.sends) require(send.from), require(send.to);
  for (const Add& add : schedule_.adds) require(add.rank);
}

void Program::sort_by_sender() {
  if (!std::is_sorted(schedule_.sends.begin(), schedule_.sends.end())) {
    std::sort(schedule_.sends.begin(), schedule_.sends.end());
  }
  const auto P = static_cast<std::size_t>(ranks());
  first_action_.assign(P + 1, 0);
  for (const Send& send : schedule_.sends) ++first_action_[index(send.from) + 1];
  for (std::size_t r = 0; r < P; ++r) first_action_[r + 1] += first_action_[r];
  std::vector<std::uint32_t> next(first_action_.begin(), first_action_.end() - 1);
  std::vector<Send> sorted;
  reserve_on_large_pages(sorted, schedule_.sends.size());
  sorted.resize(schedule_.sends.size());
  for (const Send& send : schedule_.sends) sorted[next[index(send.from)]++] = send;
  schedule_.sends = std::move(sorted);
  std::sort(schedule_.adds.begin(), schedule_.adds.end(),
            [](const Add& a, const Add& b) { return a.rank != b.rank ? a.rank < b.rank : a.begin < b.begin; });
}

void Program::number_receptions() {
  const auto P = static_cast<std::size_t>(ranks());
  first_reception_.assign(P + 1, 0);
  for (const Send& send : schedule_.sends) ++first_reception_[index(send.to) + 1];
  single_ = schedule_.problem.kind == Kind::broadcast && schedule_.problem.items == 1 &&
            *std::max_element(first_reception_.begin(), first_reception_.end()) <= 1 &&
            first_reception_[index(schedule_.problem.root) + 1] == 0;
  if (single_) {
    first_reception_ = {};
    return;
  }
  for (std::size_t r = 0; r < P; ++r) first_reception_[r + 1] += first_reception_[r];
  receptions_ = schedule_.sends.size();
}

void Program::find_needs() {
  const auto& sends = schedule_.sends;
  std::vector<std::uint32_t> incoming(sends.size());  // messages by receiver, then time
  std::vector<std::uint32_t> next(first_reception_.begin(), first_reception_.end() - 1);
  for (std::uint32_t m = 0; m < sends.size(); ++m) incoming[next[index(sends[m].to)]++] = m;
  number_.resize(sends.size());
  send_needs_.resize(sends.size());
  add_needs_.resize(schedule_.adds.size());

  std::vector<Send> receives;
  std::vector<std::uint32_t> merged;
  std::vector<std::uint32_t> first_merged(first_action_.size(), 0);
  auto add = schedule_.adds.begin();
  for (std::size_t r = 0; r + 1 < first_action_.size(); ++r) {
    const auto begin = incoming.begin() + first_reception_[r];
    const auto end = incoming.begin() + first_reception_[r + 1];
    std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) { return planned_before(sends[a], sends[b]); });
    receives.clear();
    for (auto m = begin; m != end; ++m) {
      number_[*m] = static_cast<std::uint32_t>(m - begin);
      receives.push_back(sends[*m]);
    }
    const ByItem by_item = receptions_by_item(receives, schedule_.problem.kind);
    for (std::uint32_t m = first_action_[r]; m < first_action_[r + 1]; ++m) {
      send_needs_[m] = need_of_send(sends[m], receives, by_item);
      if (per_item_) add_needs_of_item(sends[m], receives);
    }
    if (schedule_.adds.empty()) continue;
    const auto first_add = add;
    for (; add != schedule_.adds.end() && index(add->rank) == r; ++add) {
      add_needs_[static_cast<std::size_t>(add - schedule_.adds.begin())] = need_of(*add, receives);
    }
    const std::span<const Send> own_sends(sends.data() + first_action_[r], first_action_[r + 1] - first_action_[r]);
    const auto add_base = static_cast<std::uint32_t>(first_add - schedule_.adds.begin());
    const std::span<const Add> own_adds(schedule_.adds.data() + add_base, static_cast<std::size_t>(add - first_add));
    merge(
        own_sends, own_adds, [&](std::size_t i) { merged.push_back(first_action_[r] + static_cast<std::uint32_t>(i)); },
        [&](std::size_t i) { merged.push_back(kAdd | (add_base + static_cast<std::uint32_t>(i))); });
    first_merged[r + 1] = static_cast<std::uint32_t>(merged.size());
  }
  if (schedule_.adds.empty()) return;
  actions_ = std::move(merged);
  first_action_ = std::move(first_merged);
}

Program::Program(const LogP& machine, const Problem& problem, std::function<LocalForm(Rank)> local)
    : local_(std::move(local)), prefix_(counts_prefixes(problem)), per_item_(reduces_items(problem)) {
  require_playable(machine, problem);
  schedule_.machine = machine;
  schedule_.problem = problem;
  const auto P = static_cast<std::size_t>(machine.P);
  first_action_.assign(P, 0);
  end_action_.assign(P, 0);
  first_reception_.assign(P, 0);
  known_.assign(P, false);
  planned_.resize(P);
  if (problem.kind == Kind::sum) schedule_.operands.assign(P, 0);
}

Program::Actions Program::actions_of(Rank rank) const {
  const std::size_t r = index(rank);
  return {first_action_[r], all_known() ? first_action_[r + 1] : end_action_[r]};
}

std::vector<Rank> Program::starters() const {
  const Kind kind = schedule_.problem.kind;
  if (kind == Kind::broadcast || kind == Kind::scatter) return {schedule_.problem.root};
  std::vector<Rank> everybody;
  for (std::int32_t r = 0; r < ranks(); ++r) everybody.push_back(Rank{r});
  return everybody;
}

bool Program::holds_initially(Rank rank, std::int64_t item) const {
  switch (schedule_.problem.kind) {
    case Kind::broadcast:
    case Kind::scatter: return rank == schedule_.problem.root;
    case Kind::gather:
    case Kind::allgather: return item / schedule_.problem.items == rank.index;
    case Kind::alltoall: return item / schedule_.problem.items / schedule_.machine.P == rank.index;
    default: return true;
  }
}

std::int32_t Program::need_of_send(const Send& send, const std::vector<Send>& receives, const ByItem& by_item) const {
  if (schedule_.problem.kind == Kind::sum) return kNothing;  // its additions come first, in planned order
  if (prefix_) {
    const auto later = std::find_if(receives.begin(), receives.end(), [&](const Send& receive) {
      return available(schedule_.machine, receive) > send.begin;
    });
    return static_cast<std::int32_t>(later - receives.begin());
  }
  const std::int64_t item = item_of(send, schedule_.problem.kind);
  if (!per_item_ && holds_initially(send.from, item)) return kNothing;
  const auto found = std::lower_bound(by_item.begin(), by_item.end(), std::pair{item, std::int32_t{0}});
  if (found == by_item.end() || found->first != item) return per_item_ ? kNothing : kImpossible;
  const bool in_time =
      !per_item_ || available(schedule_.machine, receives[static_cast<std::size_t>(found->second)]) <= send.begin;
  return in_time ? found->second : kNothing;
}

void Program::add_needs_of_item(const Send& send, const std::vector<Send>& receives) {
  const std::int32_t first = send_needs_[more_needs_.size()];
  std::int32_t more = 0;
  for (auto i = static_cast<std::size_t>(first + 1); first != kNothing && i < receives.size(); ++i, ++more) {
    const bool same = receives[i].part.lo == send.part.lo;
    if (!same || available(schedule_.machine, receives[i]) > send.begin) break;
  }
  more_needs_.push_back(more);
}

bool Program::planned_before(const Send& a, const Send& b) const {
  return per_item_ && a.part.lo != b.part.lo ? a.part.lo < b.part.lo : a < b;
}

std::int32_t Program::needs(std::uint32_t action) const {
  if (single_) return schedule_.sends[action].from == schedule_.problem.root ? kNothing : 0;
  return action & kAdd ? add_needs_[action & ~kAdd] : send_needs_[action];
}

std::uint32_t Program::reception_number(std::uint32_t message) const {
  if (all_known()) return number_[message];
  const Send& send = schedule_.sends[message];
  const auto& planned = planned_[index(send.to)];
  const auto found = std::lower_bound(planned.begin(), planned.end(), send,
                                      [this](const Send& a, const Send& b) { return planned_before(a, b); });
  if (found == planned.end() || *found != send) {
    throw Error("rank {} does not expect the message that rank {} sends it at {}: the local forms disagree",
                send.to.index, send.from.index, send.begin.ticks);
  }
  return static_cast<std::uint32_t>(found - planned.begin());
}

void Program::learn(Rank rank) {
  CHASQUI_CHECK(!known(rank), "rank={}", rank.index);
  LocalForm form = local_(rank);
  std::sort(form.receives.begin(), form.receives.end(),
            [this](const Send& a, const Send& b) { return planned_before(a, b); });
  const std::size_t r = index(rank);
  const bool sum = schedule_.problem.kind == Kind::sum;
  known_[r] = true;
  first_action_[r] = static_cast<std::uint32_t>(sum ? actions_.size() : schedule_.sends.size());
  const ByItem by_item = receptions_by_item(form.receives, schedule_.problem.kind);
  merge(
      form.sends, form.adds,
      [&](std::size_t i) {
        if (sum) actions_.push_back(static_cast<std::uint32_t>(schedule_.sends.size()));
        send_needs_.push_back(need_of_send(form.sends[i], form.receives, by_item));
        if (per_item_) add_needs_of_item(form.sends[i], form.receives);
        schedule_.sends.push_back(form.sends[i]);
      },
      [&](std::size_t i) {
        actions_.push_back(kAdd | static_cast<std::uint32_t>(schedule_.adds.size()));
        add_needs_.push_back(need_of(form.adds[i], form.receives));
        schedule_.adds.push_back(form.adds[i]);
      });
  end_action_[r] = static_cast<std::uint32_t>(sum ? actions_.size() : schedule_.sends.size());
  first_reception_[r] = static_cast<std::uint32_t>(receptions_);
  receptions_ += form.receives.size();
  planned_[r] = std::move(form.receives);
  if (sum) schedule_.operands[r] = form.operands;
}

}  // namespace chasqui::simulate
