// SPDX-License-Identifier: MIT
// Broadcast of k items, all-gather, all-to-all and continuous broadcast. For each item, rank and step: `receives` (a message with
// the item, begun at this step, goes to the rank), `has` (such a message began at this step or before) and `sends`. Who sends
// to whom is not encoded: per item and step there must be as many senders as receivers, and any matching will do.
// The steps of an item count from its birth, so a stream differs only in where the ports see them.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "solve/encode.hpp"
#include "solve/ports.hpp"

namespace chasqui::solve {
namespace {

// Symmetry breaking by time: "the first event of a comes before the first event of b". Events are literals by tick, 0 where
// none can be.

/// Literal t of the result: one of the events 0 .. t happens.
std::vector<Literal> seen_by(Cnf& cnf, const std::vector<Literal>& events) {
  std::vector<Literal> seen;
  for (const Literal event : events) {
    const Literal now = cnf.fresh();
    std::vector<Literal> some{-now};
    if (!seen.empty()) {
      cnf.clause({-seen.back(), now});
      some.push_back(seen.back());
    }
    if (event != 0) {
      cnf.clause({-event, now});
      some.push_back(event);
    }
    cnf.clause(some);
    seen.push_back(now);
  }
  return seen;
}

/// b's first event comes after a's. Both from seen_by.
void strictly_before(Cnf& cnf, const std::vector<Literal>& a, const std::vector<Literal>& b) {
  if (!b.empty()) cnf.clause({-b[0]});
  for (std::size_t t = 1; t < std::min(a.size() + 1, b.size()); ++t) cnf.clause({-b[t], a[t - 1]});
}

class Items final : public Encoding {
 public:
  Items(const Instance& instance, Time horizon)
      : Encoding(instance, horizon), P_(instance.machine.P), items_(item_count(instance)), steps_(last_step() + 1),
        lambda_(instance.machine.lambda().ticks), alltoall_(instance.problem.kind == Kind::alltoall) {
    if (P_ == 1) return;
    if (steps_ <= 0) {  // no message arrives within the horizon
      cnf_.clause({});
      return;
    }
    make_variables();
    receive_once();
    send_what_is_there();
    pair_senders_with_receivers();
    obey_ports();
    break_symmetries();
  }

  Schedule decode(const Model& model) const override {
    const auto acts = [&](const std::vector<Literal>& literals) {
      return [&](std::int64_t item, std::int64_t rank, std::int64_t step) {
        const Literal acts_now = literals[at(item, rank, step)];
        return acts_now != 0 && model(acts_now);
      };
    };
    return match_items(instance_, P_ > 1 ? steps_ : 0, acts(sends_), acts(receives_));
  }

  std::vector<Literal> describe(const Schedule& schedule) const override {
    std::vector<bool> value(static_cast<std::size_t>(cnf_.variables()) + 1, false);
    for (const Send& send : schedule.sends) {
      const std::int64_t i = send.part.lo;
      const std::int64_t t = (send.begin - birth(instance_, i)).ticks;
      CHASQUI_CHECK(i >= 0 && i < items_ && t >= 0 && t < steps_, "item={} step={} steps={}", i, t, steps_);
      value[static_cast<std::size_t>(receives_[at(i, send.to.index, t)])] = true;
      value[static_cast<std::size_t>(sends_[at(i, send.from.index, t)])] = true;
    }
    std::vector<Literal> literals;
    for (const auto* variables : {&receives_, &sends_}) {
      for (const Literal x : *variables) {
        if (x != 0) literals.push_back(value[static_cast<std::size_t>(x)] ? x : -x);
      }
    }
    return literals;
  }

 private:
  std::size_t at(std::int64_t item, std::int64_t rank, std::int64_t step) const {
    return static_cast<std::size_t>((item * P_ + rank) * steps_ + step);
  }

  bool owns(std::int64_t rank, std::int64_t item) const { return owner(instance_, item).index == rank; }
  bool wanted(std::int64_t rank, std::int64_t item) const {
    return wants(instance_, Rank{static_cast<std::int32_t>(rank)}, item);
  }
  // All-to-all: what a rank has for itself is never sent, who wants an item does not send it, and others receive it only if there is
  // time to pass it on.
  bool may_receive(std::int64_t i, std::int64_t p, std::int64_t t) const {
    if (owns(p, i) || !alltoall_) return !owns(p, i);
    return !wanted(owner(instance_, i).index, i) && (wanted(p, i) || t + lambda_ < steps_);
  }
  bool may_send(std::int64_t i, std::int64_t p, std::int64_t t) const {
    if (alltoall_ && wanted(p, i)) return false;
    return owns(p, i) || (t >= lambda_ && may_receive(i, p, 0));
  }

  void make_variables() {
    receives_.assign(static_cast<std::size_t>(items_ * P_ * steps_), 0);
    has_ = sends_ = receives_;
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t p = 0; p < P_; ++p) {
        for (std::int64_t t = 0; t < steps_; ++t) {
          if (may_receive(i, p, 0)) has_[at(i, p, t)] = cnf_.fresh();
          if (may_receive(i, p, t)) receives_[at(i, p, t)] = cnf_.fresh();
          if (may_send(i, p, t)) sends_[at(i, p, t)] = cnf_.fresh();
        }
      }
    }
  }

  /// has(t) = has(t-1) or receives(t), never both; and in the end everybody has what it wants.
  void receive_once() {
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t q = 0; q < P_; ++q) {
        if (!may_receive(i, q, 0)) continue;
        for (std::int64_t t = 0; t < steps_; ++t) {
          const Literal now = has_[at(i, q, t)], receives = receives_[at(i, q, t)];
          if (receives == 0) {
            const Literal before = has_[at(i, q, t - 1)];
            cnf_.clause({-before, now});
            cnf_.clause({before, -now});
            continue;
          }
          cnf_.clause({-receives, now});
          cnf_.clause({-receives, allowed_[static_cast<std::size_t>(t)]});
          if (t == 0) {
            cnf_.clause({receives, -now});
          } else {
            const Literal before = has_[at(i, q, t - 1)];
            cnf_.clause({-before, now});
            cnf_.clause({-before, -receives});
            cnf_.clause({before, receives, -now});
          }
        }
        if (wanted(q, i)) cnf_.clause({has_[at(i, q, steps_ - 1)]});
      }
    }
  }

  void send_what_is_there() {
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t p = 0; p < P_; ++p) {
        if (owns(p, i)) continue;
        for (std::int64_t t = lambda_; t < steps_; ++t) {
          if (const Literal sends = sends_[at(i, p, t)]; sends != 0) cnf_.clause({-sends, has_[at(i, p, t - lambda_)]});
        }
      }
    }
  }

  /// Per item and step no more receptions than sends. Not more than P(t) ranks hold an item at step t, which caps the counters.
  void pair_senders_with_receivers() {
    const plan::TreeShape tree = plan::broadcast_shape(instance_.machine);
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        std::vector<Literal> receivers, senders;
        for (std::int64_t p = 0; p < P_; ++p) {
          if (const Literal receives = receives_[at(i, p, t)]; receives != 0) receivers.push_back(receives);
          if (const Literal sends = sends_[at(i, p, t)]; sends != 0) senders.push_back(sends);
        }
        if (receivers.empty()) continue;
        const auto most = static_cast<std::size_t>(
            std::min({plan::reach(tree, Time{t}), P_ - 1, static_cast<std::int64_t>(senders.size())}));
        const std::vector<Literal> in = count(cnf_, receivers, Counts::from_below, most + 1);
        const std::vector<Literal> out = count(cnf_, senders, Counts::from_above, most);
        for (std::size_t n = 0; n < in.size(); ++n) {
          n < most ? cnf_.clause({-in[n], out[n]}) : cnf_.clause({-in[n]});
        }
      }
    }
  }

  void obey_ports() {
    for (std::int64_t p = 0; p < P_; ++p) {
      Ports ports(instance_);
      for (std::int64_t i = 0; i < items_; ++i) {
        for (std::int64_t t = 0; t < steps_; ++t) {
          const std::int64_t tick = birth(instance_, i).ticks + t;
          if (const Literal sends = sends_[at(i, p, t)]; sends != 0) ports.may_send(sends, tick);
          if (const Literal receives = receives_[at(i, p, t)]; receives != 0) ports.may_receive(receives, tick);
        }
      }
      ports.rules(cnf_);
      const std::int64_t own = instance_.problem.items * (P_ - 1);
      if (alltoall_ || instance_.problem.kind == Kind::allgather) ports.receives_at_least(cnf_, own);
      if (alltoall_) ports.sends_at_least(cnf_, own);
    }
  }

  void break_symmetries() {
    switch (instance_.problem.kind) {
      case Kind::broadcast:
        order_items();
        order_ranks_by_reception();
        break;
      case Kind::stream: order_ranks_by_reception(); break;
      case Kind::alltoall: order_pairs(); break;
      default:
        order_sends();
        order_ranks_by_reception();
        break;
    }
  }

  /// The source sends the items for the first time in the order of their numbers, item 0 at once.
  void order_items() {
    const std::int64_t root = instance_.problem.root.index;
    std::vector<std::vector<Literal>> sent;
    for (std::int64_t i = 0; i < items_; ++i) {
      const auto first = sends_.begin() + static_cast<std::ptrdiff_t>(at(i, root, 0));
      const std::vector<Literal> sends(first, first + steps_);
      sent.push_back(seen_by(cnf_, sends));
      cnf_.clause({sent.back().back()});
      if (i > 0) strictly_before(cnf_, sent[static_cast<std::size_t>(i - 1)], sent.back());
      if (instance_.single_sending) at_most_one(cnf_, sends);
    }
    cnf_.clause({sends_[at(0, root, 0)]});
  }

  /// The other ranks receive item 0 in the order of their numbers.
  void order_ranks_by_reception() {
    std::int64_t before = -1;
    for (std::int64_t q = 0; q < P_; ++q) {
      if (owns(q, 0)) continue;
      for (std::int64_t t = 0; before >= 0 && t < steps_; ++t)
        cnf_.clause({-has_[at(0, q, t)], has_[at(0, before, t)]});
      before = q;
    }
  }

  /// All-gather: rank 0 sends at once; the items of one rank leave it for the first time in the order of their numbers.
  void order_sends() {
    cnf_.clause({sends_[at(0, 0, 0)]});
    for (std::int64_t i = 1; i < items_ && instance_.problem.items > 1; ++i) {
      if (owner(instance_, i) != owner(instance_, i - 1)) continue;
      const auto sent = [&](std::int64_t item) {
        const auto first = sends_.begin() + static_cast<std::ptrdiff_t>(at(item, owner(instance_, item).index, 0));
        return seen_by(cnf_, std::vector<Literal>(first, first + steps_));
      };
      strictly_before(cnf_, sent(i - 1), sent(i));
    }
  }

  /// All-to-all: rank 0 sends at once; the other ranks get what it has for them in the order of their numbers.
  void order_pairs() {
    const std::int64_t k = instance_.problem.items;
    std::vector<Literal> at_once;
    for (std::int64_t i = k; i < P_ * k; ++i) at_once.push_back(sends_[at(i, 0, 0)]);
    cnf_.clause(at_once);
    for (std::int64_t q = 2; q < P_; ++q) {
      for (std::int64_t t = 0; t < steps_; ++t) cnf_.clause({-has_[at(q * k, q, t)], has_[at((q - 1) * k, q - 1, t)]});
    }
  }

  std::int64_t P_, items_, steps_, lambda_;
  bool alltoall_;
  std::vector<Literal> receives_, has_, sends_;  ///< 0: cannot be
};

// The renaming behind the symmetry breaking.

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// new_number[x]: the place of x when sorted by `key`, ties by number.
std::vector<std::int32_t> places(const std::vector<std::int64_t>& key) {
  std::vector<std::int32_t> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
  });
  std::vector<std::int32_t> place(key.size());
  for (std::size_t n = 0; n < order.size(); ++n)
    place[static_cast<std::size_t>(order[n])] = static_cast<std::int32_t>(n);
  return place;
}

void rename_items(Schedule& schedule, const std::vector<std::int32_t>& place) {
  for (Send& send : schedule.sends) send.part.lo = place[static_cast<std::size_t>(send.part.lo)];
}

void rename_ranks(Schedule& schedule, const std::vector<std::int32_t>& place) {
  for (Send& send : schedule.sends) {
    send.from = Rank{place[static_cast<std::size_t>(send.from.index)]};
    send.to = Rank{place[static_cast<std::size_t>(send.to.index)]};
  }
}

/// First begin of a send that `key` files under a number.
template <typename Key>
std::vector<std::int64_t> first_begin(const Schedule& schedule, std::int64_t numbers, Key key) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(numbers), kNever);
  for (const Send& send : schedule.sends) {
    if (const std::int64_t number = key(send); number >= 0) {
      std::int64_t& begin = first[static_cast<std::size_t>(number)];
      begin = std::min(begin, send.begin.ticks);
    }
  }
  return first;
}

/// Ranks other than the root by reception of item 0; the root keeps its number.
void order_by_reception(const Instance& instance, Schedule& schedule) {
  const Rank root = instance.problem.root;
  const auto first = first_begin(schedule, instance.machine.P,
                                 [](const Send& s) { return s.part.lo == 0 ? s.to.index : std::int64_t{-1}; });
  std::vector<std::int64_t> others;
  for (std::int64_t p = 0; p < instance.machine.P; ++p) {
    if (p != root.index) others.push_back(first[static_cast<std::size_t>(p)]);
  }
  const std::vector<std::int32_t> rank = places(others);
  std::vector<std::int32_t> place;
  for (std::int32_t p = 0, n = 0; p < instance.machine.P; ++p) {
    if (p == root.index) {
      place.push_back(p);
    } else {
      const std::int32_t to = rank[static_cast<std::size_t>(n++)];
      place.push_back(to < root.index ? to : to + 1);
    }
  }
  rename_ranks(schedule, place);
}

/// A rank that sends first becomes rank 0, the items of each rank are numbered by the owner's first send, and then the other
/// ranks by the reception of item 0.
void order_allgather(const Instance& instance, Schedule& schedule) {
  const std::int64_t k = instance.problem.items;
  const auto rename = [&](const std::vector<std::int32_t>& rank) {
    rename_ranks(schedule, rank);
    std::vector<std::int32_t> item(static_cast<std::size_t>(instance.machine.P * k));
    for (std::size_t i = 0; i < item.size(); ++i) {
      const std::size_t own = i / static_cast<std::size_t>(k);
      item[i] = static_cast<std::int32_t>(rank[own] * k + static_cast<std::int64_t>(i) % k);
    }
    rename_items(schedule, item);
  };
  rename(places(first_begin(schedule, instance.machine.P, [](const Send& s) { return s.from.index; })));
  const auto first = first_begin(schedule, instance.machine.P * k, [&](const Send& s) {
    return owner(instance, s.part.lo) == s.from ? std::int64_t{s.part.lo} : std::int64_t{-1};
  });
  std::vector<std::int32_t> item;
  for (std::int64_t p = 0; p < instance.machine.P; ++p) {
    const auto begin = first.begin() + static_cast<std::ptrdiff_t>(p * k);
    for (const std::int32_t place : places({begin, begin + k}))
      item.push_back(static_cast<std::int32_t>(p * k) + place);
  }
  rename_items(schedule, item);
  auto received = first_begin(schedule, instance.machine.P,
                              [](const Send& s) { return s.part.lo == 0 ? s.to.index : std::int64_t{-1}; });
  received[0] = -1;  // rank 0 stays
  rename(places(received));
}

/// Without messages that bring nothing nearer to where it is wanted.
void drop_useless(const Instance& instance, Schedule& schedule) {
  std::map<std::pair<std::int32_t, Rank>, const Send*> brings;
  for (const Send& send : schedule.sends) brings[{send.part.lo, send.to}] = &send;
  std::vector<Send> useful;
  for (std::int32_t i = 0; i < item_count(instance); ++i) {
    Rank at{static_cast<std::int32_t>(i / instance.problem.items % instance.machine.P)};
    while (at != owner(instance, i)) {
      const Send& send = *brings.at({i, at});
      useful.push_back(send);
      at = send.from;
    }
  }
  schedule.sends = std::move(useful);
}

/// A rank that sends first becomes rank 0, the others come in the order in which they get its first item for them.
void order_alltoall(const Instance& instance, Schedule& schedule) {
  const std::int64_t P = instance.machine.P, k = instance.problem.items;
  const auto rename = [&](const std::vector<std::int32_t>& rank) {
    rename_ranks(schedule, rank);
    std::vector<std::int32_t> item;
    for (std::int64_t i = 0; i < P * P * k; ++i) {
      const std::int64_t p = rank[static_cast<std::size_t>(i / k / P)], q = rank[static_cast<std::size_t>(i / k % P)];
      item.push_back(static_cast<std::int32_t>((p * P + q) * k + i % k));
    }
    rename_items(schedule, item);
  };
  rename(places(first_begin(schedule, P, [](const Send& s) { return s.from.index; })));
  auto received = first_begin(schedule, P, [&](const Send& s) {
    return s.part.lo == s.to.index * k ? std::int64_t{s.to.index} : std::int64_t{-1};
  });
  received[0] = -1;  // rank 0 stays
  rename(places(received));
}

}  // namespace

std::unique_ptr<Encoding> encode_items(const Instance& instance, Time horizon) {
  return std::make_unique<Items>(instance, horizon);
}

Schedule canonical_items(const Instance& instance, Schedule schedule) {
  if (schedule.sends.empty()) return schedule;
  if (instance.problem.kind == Kind::stream) {
    const std::int64_t items = item_count(instance);
    for (Send& send : schedule.sends) {  // the representative whose item is in the first period
      const std::int64_t number = send.part.lo;
      const std::int64_t periods = number >= 0 ? number / items : -((items - 1 - number) / items);
      send.part.lo = static_cast<std::int32_t>(number - periods * items);
      send.begin -= periods * instance.period;
    }
    order_by_reception(instance, schedule);
    return schedule;
  }
  if (instance.problem.kind == Kind::alltoall) drop_useless(instance, schedule);
  Time begin = schedule.sends.front().begin;
  for (const Send& send : schedule.sends) begin = std::min(begin, send.begin);
  for (Send& send : schedule.sends) send.begin -= begin;
  schedule.finish -= begin;
  if (instance.problem.kind == Kind::allgather) {
    order_allgather(instance, schedule);
    return schedule;
  }
  if (instance.problem.kind == Kind::alltoall) {
    order_alltoall(instance, schedule);
    schedule.finish = actual_finish(schedule);
    return schedule;
  }
  rename_items(schedule, places(first_begin(schedule, instance.problem.items, [&](const Send& s) {
                 return s.from == instance.problem.root ? std::int64_t{s.part.lo} : std::int64_t{-1};
               })));
  order_by_reception(instance, schedule);
  return schedule;
}

}  // namespace chasqui::solve
