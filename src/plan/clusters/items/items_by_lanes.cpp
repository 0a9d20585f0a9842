// SPDX-License-Identifier: MIT
// Several items dealt out to the lanes of the nodes: item i travels on lane i mod l. A lane of all nodes is a postal machine whose steps
// are long enough for what its ranks publish and read beside (clusters.md, Theorem 30).
#include "plan/clusters/items/items_by_lanes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/kitem.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/items/lane_clock.hpp"
#include "plan/clusters/items/with_readers.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/clusters/timetable.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostLanes = 64;         ///< more gain little: a step is then full of readings
constexpr std::int64_t kMostNodeClasses = 256;  ///< more leave too few nodes to a class to be worth the exchange

/// What travels on the lanes: those that bring one item more than the others, and the others.
struct LanePlans {
  PlanPtr more, fewer;

  const PlanPtr& of(bool brings_more) const { return brings_more ? more : fewer; }
};

class ItemsByLanes final : public Plan {
 public:
  ItemsByLanes(const Cluster& cluster, const Problem& problem, Claim claim, LaneClock clock, LanePlans plans,
               NodeIndex where)
      : Plan(cluster, problem, std::move(claim)), clock_(std::move(clock)), plans_(std::move(plans)),
        where_(std::move(where)), home_(where_.node_of(problem.root)),
        first_(problem.root.index - where_.first_rank(home_)) {}

  LocalForm local(Rank rank) const override {
    const std::int64_t node = where_.node_of(rank), n = where_.size(node);
    const std::int64_t place = modulo(rank.index - where_.first_rank(node) - (node == home_ ? first_ : 0), n);
    require_own_list(rank, problem_.items, "ask for fewer items");
    const Rank there{static_cast<std::int32_t>(node)};
    const LocalForm more = plans_.more->local(there), fewer = plans_.fewer->local(there);
    const auto form_of = [&](std::int64_t lane) -> const LocalForm& { return brings_more(lane) ? more : fewer; };
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (place < clock_.lanes()) {
      const LocalForm& own = form_of(place);
      for (const Send& send : own.sends) form.sends.push_back(message(send, place));
      for (const Send& send : own.receives) form.receives.push_back(message(send, place));
    }
    if (n == 1) return form;
    const std::vector<std::int64_t> waits = clock_.waits(place, node == home_);
    for (std::int64_t lane = 0; lane < clock_.lanes(); ++lane) {
      const std::int64_t wait = waits[static_cast<std::size_t>(lane)];
      if (node == home_) {
        const std::vector<std::int32_t> order = in_order_of_first_sends(form_of(lane).sends);
        for (std::size_t turn = 0; turn < order.size(); ++turn) {
          const Publication published = at_home(order[turn], static_cast<std::int64_t>(turn), lane);
          if (place == 0) form.publications.push_back(published);
          else form.readings.push_back(read_at_home(published, static_cast<std::int64_t>(turn), lane, place, wait));
        }
      } else {
        for (const Send& send : form_of(lane).receives) {
          const Publication published = publication(send, lane);
          if (lane == place) form.publications.push_back(published);
          else form.readings.push_back(reading(published, rank, wait));
        }
      }
    }
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const std::int64_t widest = where_.largest(), home_size = where_.size(home_);
    const std::int64_t each = where_.count() - 1 + (widest > 1 ? machine_.P : 0);
    require_listable({machine_, nodes_}, problem_, saturating_multiply(each, problem_.items));
    Schedule all = empty_schedule();
    std::vector<std::vector<std::int64_t>> away, home;
    for (std::int64_t place = 0; place < widest && widest > 1; ++place) {
      away.push_back(clock_.waits(place, false));
      home.push_back(clock_.waits(place, true));
    }
    for (const bool more : {true, false}) {
      const Schedule one = plans_.of(more)->schedule();
      std::vector<Send> from_home;
      std::copy_if(one.sends.begin(), one.sends.end(), std::back_inserter(from_home),
                   [&](const Send& send) { return send.from.index == home_; });
      const std::vector<std::int32_t> order = in_order_of_first_sends(from_home);
      for (std::int64_t lane = 0; lane < clock_.lanes(); ++lane) {
        if (brings_more(lane) != more) continue;
        const auto i = static_cast<std::size_t>(lane);
        for (const Send& send : one.sends) {
          all.sends.push_back(message(send, lane));
          const std::int64_t n = where_.size(send.to.index);
          if (n == 1) continue;
          const Publication published = publication(send, lane);
          all.publications.push_back(published);
          for (std::int64_t place = 0; place < n; ++place) {
            if (place != lane)
              all.readings.push_back(
                  reading(published, rank_of(send.to.index, place), away[static_cast<std::size_t>(place)][i]));
          }
        }
        for (std::size_t turn = 0; turn < order.size() && home_size > 1; ++turn) {
          const Publication published = at_home(order[turn], static_cast<std::int64_t>(turn), lane);
          all.publications.push_back(published);
          for (std::int64_t place = 1; place < home_size; ++place)
            all.readings.push_back(read_at_home(published, static_cast<std::int64_t>(turn), lane, place,
                                                home[static_cast<std::size_t>(place)][i]));
        }
      }
    }
    normalise(all);
    return all;
  }

 private:
  /// Lanes that bring equally many items have the same plan.
  bool brings_more(std::int64_t lane) const {
    const std::int64_t extra = problem_.items % clock_.lanes();
    return extra == 0 || lane < extra;
  }
  Rank rank_of(std::int64_t node, std::int64_t place) const {
    if (node == home_) place = (place + first_) % where_.size(node);
    return {static_cast<std::int32_t>(where_.first_rank(node) + place)};
  }
  Part item(std::int64_t of_lane, std::int64_t lane) const { return item_part(of_lane * clock_.lanes() + lane); }

  Send message(const Send& in_steps, std::int64_t lane) const {
    return {Time{clock_.shift(lane) + in_steps.begin.ticks * clock_.length()}, rank_of(in_steps.from.index, lane),
            rank_of(in_steps.to.index, lane), item(in_steps.part.lo, lane)};
  }
  /// Of what a message brings.
  Publication publication(const Send& in_steps, std::int64_t lane) const {
    const Send sent = message(in_steps, lane);
    return {sent.begin + Time{clock_.published_after_send()}, sent.to, sent.part};
  }
  Reading reading(const Publication& of, Rank rank, std::int64_t wait) const {
    return {of.begin + nodes_.publish + Time{wait}, rank, of.rank, of.part};
  }

  static std::vector<std::int32_t> in_order_of_first_sends(const std::vector<Send>& sends) {
    std::vector<std::int32_t> order;
    std::set<std::int32_t> known;
    for (const Send& send : sends) {
      if (known.insert(send.part.lo).second) order.push_back(send.part.lo);
    }
    return order;
  }
  Publication at_home(std::int64_t of_lane, std::int64_t turn, std::int64_t lane) const {
    return {Time{turn * clock_.length() + clock_.end_at_home(lane)} - nodes_.publish, problem_.root,
            item(of_lane, lane)};
  }
  /// A lane reads its own items just before the step in which it may send them first.
  Reading read_at_home(const Publication& of, std::int64_t turn, std::int64_t lane, std::int64_t place,
                       std::int64_t wait) const {
    if (lane != place) return reading(of, rank_of(home_, place), wait);
    const Time step{clock_.shift(lane) + turn * clock_.length()};
    return {step - nodes_.read, rank_of(home_, place), of.rank, of.part};
  }

  LaneClock clock_;
  LanePlans plans_;
  NodeIndex where_;
  std::int64_t home_, first_;  ///< first_: the root's place in its node; it is lane 0 there
};

/// One way to deal the items out: what it will take, and the plan.
class Dealt {
 public:
  Dealt(const Cluster& cluster, const Problem& problem, LaneClock clock)
      : cluster_(cluster), problem_(problem), clock_(std::move(clock)), away_(clock_.last_waits(false)),
        at_home_(clock_.last_waits(true)), postal_{cluster.nodes.count(), Time{clock_.latency()}, Time{0}, Time{1}},
        expected_(finish(steps_expected(more()), steps_expected(fewer()))) {}

  std::int64_t expected() const { return expected_; }  ///< finish, as far as it is known without the plan
  /// No finish is less, whatever ranks the nodes have: the last messages arrive.
  std::int64_t least() const { return finish(steps_expected(more()), steps_expected(fewer()), false); }

  PlanPtr plan(const Bound& bound) && {
    NodeIndex where(cluster_.nodes);
    const Rank home{static_cast<std::int32_t>(where.node_of(problem_.root))};
    LanePlans plans;
    plans.more = kitem(postal_, more(), home, {.kernels = {}, .quick = true});
    plans.fewer = fewer() == more() ? plans.more : kitem(postal_, fewer(), home, {.kernels = {}, .quick = true});
    const std::int64_t l = clock_.lanes();
    const std::string how =
        l == 1 ? fmt::format("one lane a node, in steps of {} ticks: ", clock_.length())
               : fmt::format("items dealt out to {} lanes, each in steps of {} ticks: ", l, clock_.length());
    const std::int64_t all = cluster_.nodes.uniform()
                                 ? finish(plans.more->claim().finish.ticks, plans.fewer->claim().finish.ticks)
                                 : last_on_unequal_nodes(plans, where, home);
    Claim claim{Time{all}, bound.time, bound.source, how + plans.more->claim().construction};
    return std::make_shared<ItemsByLanes>(cluster_, problem_, std::move(claim), std::move(clock_), std::move(plans),
                                          std::move(where));
  }

 private:
  static constexpr const char* kWhat = "a broadcast of several items";

  std::int64_t more() const { return divide_up(problem_.items, clock_.lanes()); }
  std::int64_t fewer() const { return problem_.items / clock_.lanes(); }
  std::int64_t steps_expected(std::int64_t items) const {
    if (items == 1) return broadcast_time(broadcast_shape(postal_), postal_.P).ticks;
    return quick_kitem_time(postal_, items).ticks;
  }

  /// Given how many steps the lanes' plans take. Without boards: of the messages.
  std::int64_t finish(std::int64_t steps_of_more, std::int64_t steps_of_fewer, bool boards = true) const {
    const std::int64_t n = cluster_.nodes.largest(), p = cluster_.nodes.publish.ticks, r = cluster_.nodes.read.ticks;
    const std::int64_t extra = problem_.items % clock_.lanes();
    std::int64_t last = 0;
    for (std::int64_t lane = 0; lane < clock_.lanes(); ++lane) {
      const auto i = static_cast<std::size_t>(lane);
      const bool brings_more = extra == 0 || lane < extra;
      const std::int64_t step = (brings_more ? steps_of_more : steps_of_fewer) - clock_.latency();
      const std::int64_t sent = checked_add(clock_.shift(lane), checked_multiply(step, clock_.length(), kWhat), kWhat);
      last = std::max(last, sent + cluster_.base.lambda().ticks);
      if (n == 1 || !boards) continue;
      const std::int64_t turns = (brings_more ? more() : fewer()) - 1;
      last = std::max({last, sent + clock_.published_after_send() + p + away_[i] + r,
                       turns * clock_.length() + clock_.end_at_home(lane) + at_home_[i] + r});
    }
    return last;
  }

  /// In which step the last message to each processor is sent; 0 for the root's.
  static std::vector<std::int64_t> last_received(const Plan& plan, Rank home) {
    std::vector<std::int64_t> last(static_cast<std::size_t>(plan.machine().P), 0);
    if (listable(saturating_multiply(plan.machine().P, plan.problem().items))) {  // it may be a list
      for (const Send& send : plan.schedule().sends) {
        std::int64_t& step = last[static_cast<std::size_t>(send.to.index)];
        step = std::max(step, send.begin.ticks);
      }
      return last;
    }
    for (std::int32_t r = 0; r < plan.machine().P; ++r) {
      if (Rank{r} != home) last[static_cast<std::size_t>(r)] = plan.local(Rank{r}).receives.back().begin.ticks;
    }
    return last;
  }

  /// The same exactly, where the nodes that get the last items may have no rank that waits longest. Time: that of a rank's part, for each node.
  std::int64_t last_on_unequal_nodes(const LanePlans& plans, const NodeIndex& where, Rank home) const {
    const std::int64_t p = cluster_.nodes.publish.ticks, r = cluster_.nodes.read.ticks;
    const std::int64_t home_size = where.size(home.index);
    // Places behind the lanes all wait equally long.
    std::vector<std::vector<std::int64_t>> waits;  // the longest of a node of so many ranks or more, by lane
    const auto longest = [&](std::int64_t size, bool at_home) {
      std::vector<std::int64_t> last(static_cast<std::size_t>(clock_.lanes()), 0);
      for (std::int64_t place = at_home ? 1 : 0; place < std::min(size, clock_.lanes() + 1); ++place) {
        const std::vector<std::int64_t> own = clock_.waits(place, at_home);
        for (std::size_t i = 0; i < last.size(); ++i) last[i] = std::max(last[i], own[i]);
      }
      return last;
    };
    for (std::int64_t size = 0; size <= clock_.lanes() + 1; ++size) waits.push_back(longest(size, false));
    const std::vector<std::int64_t> home_waits = longest(home_size, true);
    const std::vector<std::int64_t> last_more = last_received(*plans.more, home),
                                    last_fewer =
                                        plans.fewer == plans.more ? last_more : last_received(*plans.fewer, home);
    const std::int64_t extra = problem_.items % clock_.lanes();
    std::int64_t last = 0;
    for (std::int64_t node = 0; node < where.count(); ++node) {
      const Rank there{static_cast<std::int32_t>(node)};
      if (there == home && home_size == 1) continue;
      const std::int64_t size = where.size(node);
      const auto& board = waits[static_cast<std::size_t>(std::min(size, clock_.lanes() + 1))];
      const std::int64_t in_more = last_more[static_cast<std::size_t>(node)];
      const std::int64_t in_fewer = last_fewer[static_cast<std::size_t>(node)];
      for (std::int64_t lane = 0; lane < clock_.lanes(); ++lane) {
        const auto i = static_cast<std::size_t>(lane);
        const bool brings_more = extra == 0 || lane < extra;
        if (there == home) {
          const std::int64_t turns = (brings_more ? more() : fewer()) - 1;
          last = std::max(last, turns * clock_.length() + clock_.end_at_home(lane) + home_waits[i] + r);
          continue;
        }
        const std::int64_t sent = clock_.shift(lane) + (brings_more ? in_more : in_fewer) * clock_.length();
        last = std::max(last, sent + cluster_.base.lambda().ticks);
        if (size > 1) last = std::max(last, sent + clock_.published_after_send() + p + board[i] + r);
      }
    }
    return last;
  }

  Cluster cluster_;
  Problem problem_;
  LaneClock clock_;
  std::vector<std::int64_t> away_, at_home_;  ///< the longest waits for a reading, by lane
  LogP postal_;
  std::int64_t expected_;
};

/// The steps that are tried for so many lanes: the shortest one, and longer ones in which a message takes fewer of them.
std::vector<StepSlots> steps_tried(const Cluster& cluster, std::int64_t lanes) {
  const std::int64_t o = cluster.base.o.ticks, lambda = cluster.base.lambda().ticks, n = cluster.nodes.largest();
  const std::int64_t p = n > 1 ? cluster.nodes.publish.ticks : 0, r = n > 1 ? cluster.nodes.read.ticks : 0;
  const std::int64_t publications = n > 1 ? 1 : 0, readings = n > 1 ? lanes - 1 : 0;
  const std::int64_t least = std::max(
      {cluster.base.gap().ticks, lanes * cluster.nodes.gamma.ticks, o + lanes * p, o + lanes * r, std::int64_t{1}});
  std::vector<StepSlots> all{short_step(cluster, least, publications, readings)};
  for (std::int64_t flight = divide_up(lambda, all.front().length) - 1; flight > 0;
       flight -= std::max<std::int64_t>(1, flight / 4)) {
    const std::int64_t length = divide_up(lambda, flight);
    if (length <= all.back().length) continue;
    all.push_back(short_step(cluster, length, publications, readings));
  }
  return all;
}

Dealt best_dealt(const Cluster& cluster, const Problem& problem, std::int64_t lanes) {
  std::optional<Dealt> best;
  for (const StepSlots& step : steps_tried(cluster, lanes)) {
    std::vector<std::int64_t> shifts = shifts_from_home(cluster, lanes, step.length);
    Dealt dealt(cluster, problem, LaneClock(cluster, std::move(shifts), step));
    if (!best || dealt.expected() < best->expected()) best.emplace(std::move(dealt));
  }
  return std::move(*best);
}

/// The powers of two up to `most`, and `most`.
std::vector<std::int64_t> numbers_tried(std::int64_t from, std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t x = from; x < most; x *= 2) all.push_back(x);
  if (most >= from) all.push_back(most);
  return all;
}

void offer_classes(Earliest& best, const Cluster& cluster, const Problem& problem, const Bound& bound,
                   std::int64_t most_lanes) {
  const Time each = cluster.base.lambda() + cluster.base.gap();
  if (saturating_multiply(problem.items, each.ticks) > kMaxTime / 64) return;  // times may not fit
  for (const std::int64_t classes :
       numbers_tried(2, std::min({cluster.nodes.count(), problem.items, kMostNodeClasses})))
    best.offer(dealt_to_classes(cluster, problem, classes, bound, most_lanes));
}

Dealt best_dealt_to_any(const Cluster& cluster, const Problem& problem, Lanes lanes, std::int64_t most_lanes) {
  const std::int64_t most =
      lanes == Lanes::leaders ? 1 : std::min({cluster.nodes.smallest(), problem.items, kMostLanes, most_lanes});
  std::optional<Dealt> best;
  for (const std::int64_t l : numbers_tried(1, most)) {
    Dealt dealt = best_dealt(cluster, problem, l);
    if (!best || dealt.expected() < best->expected()) best.emplace(std::move(dealt));
  }
  return std::move(*best);
}

/// Of items into unequal nodes: so often one looks at a node, to see when the last of them ends, in any case; and where that may be earlier than what
/// is known.
constexpr std::int64_t kFewEntries = 1'000'000, kMostEntries = 100'000'000;

/// The lanes themselves, or as equal nodes do it that have as many lanes as the smallest node has ranks.
PlanPtr on_unequal_nodes(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound) {
  const std::int64_t entries = saturating_multiply(cluster.nodes.count(), problem.items);
  Earliest best;
  std::optional<Dealt> dealt;
  if (entries <= kMostEntries) dealt.emplace(best_dealt_to_any(cluster, problem, lanes, kSaturated));
  const auto offer_dealt = [&] { best.offer(std::move(*dealt).plan(bound)); };
  if (dealt && entries <= kFewEntries) offer_dealt();
  best.offer(with_readers(cluster, problem, [&](const Cluster& equal, const Problem& own, std::int64_t most) {
    Earliest of_equal(spread_in_step(equal, own, lanes, bound, most));
    if (lanes != Lanes::leaders) offer_classes(of_equal, equal, own, bound, most);
    return of_equal.plan();
  }));
  if (dealt && entries > kFewEntries && dealt->least() < best.before().ticks) offer_dealt();
  return best.plan();
}

}  // namespace

PlanPtr dealt_to_lanes(const Cluster& cluster, const Problem& problem, std::int64_t lanes, const Bound& bound) {
  return best_dealt(cluster, problem, lanes).plan(bound);
}

PlanPtr spread_in_step(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound,
                       std::int64_t most_lanes) {
  PlanPtr repeated =
      cluster.nodes.uniform() ? repeated_on_cluster(cluster, problem, lanes, bound, most_lanes) : nullptr;
  if (cluster.nodes.count() == 1) return repeated;
  Dealt best = best_dealt_to_any(cluster, problem, lanes, most_lanes);
  Earliest earliest(std::move(repeated));
  if (best.expected() < earliest.before().ticks) earliest.offer(std::move(best).plan(bound));
  return earliest.plan();
}

PlanPtr items_in_step(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound) {
  if (!cluster.nodes.uniform()) return on_unequal_nodes(cluster, problem, lanes, bound);
  Earliest best(spread_in_step(cluster, problem, lanes, bound));
  if (lanes == Lanes::leaders || cluster.nodes.count() == 1 || cluster.nodes.largest() == 1) return best.plan();
  offer_classes(best, cluster, problem, bound, kSaturated);
  return best.plan();
}

}  // namespace chasqui::plan
