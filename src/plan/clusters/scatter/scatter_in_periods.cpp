// SPDX-License-Identifier: MIT
#include "plan/clusters/scatter/scatter_in_periods.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/scatter/lane_period.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// The ranks of a scatter, seen from its root: those outside its node, in rank order, and the other ranks of the node, the lanes.
struct Around {
  Around(const Nodes& nodes, Rank from)
      : root(from), first(nodes.first_rank(nodes.node_of(from))), size(nodes.size(nodes.node_of(from))),
        outside(nodes.ranks() - size) {}

  std::int64_t lanes() const { return size - 1; }
  bool inside(Rank rank) const { return rank.index >= first && rank.index < first + size; }
  Rank destination(std::int64_t number) const { return at(number < first ? number : number + size); }
  std::int64_t number(Rank destination) const { return destination.index - (destination.index < first ? 0 : size); }
  Rank lane(std::int64_t number) const { return at(first + (root.index - first + 1 + number) % size); }
  std::int64_t lane_number(Rank lane) const { return modulo(lane.index - root.index - 1, size); }
  static Rank at(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }

  Rank root;
  std::int64_t first, size, outside;
};

/// The first items go to the root, the others to the lanes in turn, and the ranks of the node have theirs from the root's board.
class ItemTimes {
 public:
  ItemTimes(const Cluster& cluster, const Around& around, LanePeriod period, std::int64_t by_root)
      : lambda_(cluster.base.lambda().ticks), overhead_(cluster.base.o.ticks), publish_(cluster.nodes.publish.ticks),
        read_(cluster.nodes.read.ticks), lanes_(around.lanes()), by_root_(by_root), by_lanes_(around.outside - by_root),
        period_(std::move(period)) {
    if (by_root_ > 0) busy_ = send_of_root(by_root_ - 1) + overhead_;
    if (by_lanes_ > 0) busy_ = std::max(busy_, publication(by_lanes_ - 1) + publish_);
    early_ = std::min(lanes_, saturating_multiply(period_.spare, busy_ / period_.length));
  }

  const LanePeriod& period() const { return period_; }
  std::int64_t by_root() const { return by_root_; }
  std::int64_t by_lanes() const { return by_lanes_; }
  std::int64_t early() const { return early_; }  ///< items of the node that are published in spare places

  std::int64_t send_of_root(std::int64_t number) const { return period_.send(number); }
  std::int64_t publication(std::int64_t number) const { return period_.publication(number); }
  std::int64_t send_of_lane(std::int64_t number) const { return period_.slot(number + period_.delay); }
  std::int64_t own_publication(std::int64_t lane) const {
    return lane < early_ ? period_.spare_place(lane) : busy_ + (lane - early_) * publish_;
  }
  std::int64_t own_reading(std::int64_t lane) const {
    const std::int64_t published = own_publication(lane) + publish_;
    if (lane >= by_lanes_) return published;
    const std::int64_t last = lane + (by_lanes_ - 1 - lane) / lanes_ * lanes_;
    return std::max(published, send_of_lane(last) + overhead_);
  }

  std::int64_t finish() const {
    std::int64_t end = 0;
    if (by_root_ > 0) end = send_of_root(by_root_ - 1) + lambda_;
    if (lanes_ > 0) end = std::max(end, own_publication(lanes_ - 1) + publish_ + read_);
    if (by_lanes_ > 0) end = std::max(end, send_of_lane(by_lanes_ - 1) + std::max(lambda_, overhead_ + read_));
    return end;
  }

 private:
  std::int64_t lambda_, overhead_, publish_, read_;
  std::int64_t lanes_, by_root_, by_lanes_;
  LanePeriod period_;
  std::int64_t busy_ = 0, early_ = 0;
};

/// The root's last send and that of the lanes come as early as possible.
ItemTimes shared_out(const Cluster& cluster, const Around& around, const LanePeriod& period) {
  const std::int64_t items = around.outside;
  const auto with = [&](std::int64_t by_root) { return ItemTimes(cluster, around, period, by_root); };
  if (period.slots.empty()) return with(items);
  if (period.sends.empty()) return with(0);
  std::int64_t low = 1, high = items;  // the least number with which the root is last
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (period.send(middle - 1) >= period.slot(items - middle - 1 + period.delay)) high = middle;
    else low = middle + 1;
  }
  ItemTimes best = with(low);
  for (std::int64_t near = std::max<std::int64_t>(1, low - 2); near <= std::min(items, low + 2); ++near) {
    ItemTimes tried = with(near);
    if (tried.finish() < best.finish()) best = std::move(tried);
  }
  return best;
}

/// The last rank outside the root's node that is not the first one of its node.
std::optional<Rank> last_behind_a_leader(const Nodes& nodes, Rank root) {
  const std::int64_t home = nodes.node_of(root);
  std::int64_t behind = nodes.count();
  for (auto run = nodes.runs.rbegin(); run != nodes.runs.rend(); ++run) {
    const std::int64_t node = behind - 1 == home ? behind - 2 : behind - 1;
    behind -= run->count;
    if (run->size > 1 && node >= behind) return Around::at(nodes.first_rank(node + 1) - 1);
  }
  return std::nullopt;
}

class ScatterInPeriods final : public Plan {
 public:
  /// `cluster` as asked for; `forwards` with the costs of the board exchanged where a gather is a scatter backwards.
  ScatterInPeriods(const Cluster& cluster, const Nodes& forwards, const Problem& problem, bool leaders, Claim claim,
                   ItemTimes times)
      : Plan(cluster, problem, std::move(claim)), forwards_(forwards), leaders_(leaders), around_(nodes_, problem.root),
        times_(std::move(times)) {}

  LocalForm local(Rank rank) const override {
    require_few(rank);
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (rank == around_.root) add_root(form);
    else if (around_.inside(rank)) add_lane(form);
    else if (leaders_) add_led(form);
    else form.receives.push_back(message(around_.number(rank)));
    return in_order(problem_.kind == Kind::gather ? turned(std::move(form)) : std::move(form));
  }

  /// One period after another.
  Schedule schedule() const override {
    const Cluster cluster{machine_, forwards_};
    require_listable(cluster, problem_, 4 * machine_.P);
    Schedule s{machine_, {.kind = Kind::scatter, .root = around_.root}, claim_.finish, claim_.bound, {}, {}, {}, {}, {},
               forwards_};
    const std::vector<Time> free = list_outside(s);
    list_inside(s, free);
    if (leaders_) list_led(s);
    normalise(s);
    return problem_.kind == Kind::gather ? reversed_scatter(s, {machine_, nodes_}) : s;
  }

 private:
  static Part item(Rank destination) { return item_part(destination.index); }
  std::int64_t lane_of(std::int64_t number) const { return (number - times_.by_root()) % around_.lanes(); }
  Rank entry(Rank destination) const {
    return leaders_ ? Around::at(nodes_.first_rank(nodes_.node_of(destination))) : destination;
  }
  /// Who reads an item from the board of whoever publishes it.
  Rank reader(Rank destination) const {
    if (leaders_ || around_.inside(destination)) return destination;
    return around_.lane(lane_of(around_.number(destination)));
  }

  Send message(std::int64_t number) const {
    const Rank to = around_.destination(number);
    if (number < times_.by_root()) return {Time{times_.send_of_root(number)}, around_.root, entry(to), item(to)};
    return {Time{times_.send_of_lane(number - times_.by_root())}, around_.lane(lane_of(number)), to, item(to)};
  }

  void require_few(Rank rank) const {
    std::int64_t events = 2;
    if (rank == around_.root) events = machine_.P - 1;
    else if (around_.inside(rank)) events = 1 + 2 * divide_up(times_.by_lanes(), around_.lanes());
    else if (leaders_ && entry(rank) == rank) events = 2 * nodes_.size(nodes_.node_of(rank));
    require_own_list(rank, events, "ask for a rank outside the root's node, or on fewer nodes");
  }

  void add_root(LocalForm& form) const {
    for (std::int64_t u = 0; u < times_.by_root(); ++u) form.sends.push_back(message(u));
    for (std::int64_t v = 0; v < times_.by_lanes(); ++v) {
      const Part part = item(around_.destination(times_.by_root() + v));
      form.publications.push_back({Time{times_.publication(v)}, form.rank, part});
    }
    for (std::int64_t lane = 0; lane < around_.lanes(); ++lane)
      form.publications.push_back({Time{times_.own_publication(lane)}, form.rank, item(around_.lane(lane))});
  }

  void add_lane(LocalForm& form) const {
    const std::int64_t lane = around_.lane_number(form.rank);
    for (std::int64_t v = lane; v < times_.by_lanes(); v += around_.lanes()) {
      const Send send = message(times_.by_root() + v);
      form.readings.push_back({send.begin - forwards_.read, form.rank, around_.root, send.part});
      form.sends.push_back(send);
    }
    form.readings.push_back({Time{times_.own_reading(lane)}, form.rank, around_.root, item(form.rank)});
  }

  /// What goes through the leader of another node.
  void add_led(LocalForm& form) const {
    const Rank leader = entry(form.rank);
    const Time there = machine_.lambda();
    if (form.rank != leader) {
      const Send send = message(around_.number(form.rank));
      form.readings.push_back({send.begin + there + forwards_.publish, form.rank, leader, send.part});
      return;
    }
    const std::int64_t size = nodes_.size(nodes_.node_of(leader));
    for (std::int64_t place = 0; place < size; ++place) {
      const Send send = message(around_.number(leader) + place);
      form.receives.push_back(send);
      if (place > 0) form.publications.push_back({send.begin + there, leader, send.part});
    }
  }

  /// What came last comes first.
  LocalForm turned(LocalForm scatter) const {
    LocalForm form{.rank = scatter.rank, .sends = {}, .receives = {}, .adds = {}};
    const auto back = [&](const Send& send) {
      return Send{claim_.finish - send.begin - machine_.lambda(), send.to, send.from, send.part};
    };
    std::transform(scatter.receives.rbegin(), scatter.receives.rend(), std::back_inserter(form.sends), back);
    std::transform(scatter.sends.rbegin(), scatter.sends.rend(), std::back_inserter(form.receives), back);
    for (auto r = scatter.readings.rbegin(); r != scatter.readings.rend(); ++r)
      form.publications.push_back({claim_.finish - r->begin - forwards_.read, r->rank, r->part});
    for (auto p = scatter.publications.rbegin(); p != scatter.publications.rend(); ++p) {
      const Rank whose = reader(Around::at(p->part.lo));
      form.readings.push_back({claim_.finish - p->begin - forwards_.publish, p->rank, whose, p->part});
    }
    return form;
  }

  /// What leaves the node. Returns when each lane has made its last send.
  std::vector<Time> list_outside(Schedule& s) const {
    const LanePeriod& period = times_.period();
    std::vector<Time> free(static_cast<std::size_t>(around_.lanes()), Time{0});
    std::int64_t root_next = 0, published = times_.by_root(), lane_next = times_.by_root(), empty = period.delay,
                 turn = 0;
    const std::int64_t end = around_.outside;
    for (Time begin{0}; root_next < times_.by_root() || lane_next < end; begin += Time{period.length}) {
      for (const std::int64_t t : period.sends) {
        if (root_next == times_.by_root()) break;
        const Rank to = around_.destination(root_next++);
        s.sends.push_back({begin + Time{t}, around_.root, entry(to), item(to)});
      }
      std::size_t wanted = period.slots.size();
      for (const LanePeriod::Pause& pause : period.pauses) {
        Time t = begin + Time{pause.begin};
        for (std::int64_t i = 0; i < pause.places && wanted > 0 && published < end; ++i, --wanted) {
          s.publications.push_back({t, around_.root, item(around_.destination(published++))});
          t += forwards_.publish;
        }
      }
      for (const std::int64_t t : period.slots) {
        if (lane_next == end) break;
        if (empty-- > 0) continue;
        const Rank to = around_.destination(lane_next++), by = around_.lane(turn);
        s.readings.push_back({begin + Time{t} - forwards_.read, by, around_.root, item(to)});
        s.sends.push_back({begin + Time{t}, by, to, item(to)});
        free[static_cast<std::size_t>(turn)] = begin + Time{t} + machine_.o;
        turn = turn + 1 == around_.lanes() ? 0 : turn + 1;
      }
    }
    return free;
  }

  /// What stays in the node: in spare places of whole periods, then behind everything else that the root does.
  void list_inside(Schedule& s, const std::vector<Time>& free) const {
    const LanePeriod& period = times_.period();
    std::vector<Time> begins;
    for (Time begin{0}; static_cast<std::int64_t>(begins.size()) < times_.early(); begin += Time{period.length}) {
      std::size_t skipped = 0;
      for (const LanePeriod::Pause& pause : period.pauses) {
        for (std::int64_t i = 0; i < pause.places && static_cast<std::int64_t>(begins.size()) < times_.early(); ++i) {
          if (skipped++ >= period.slots.size()) begins.push_back(begin + Time{pause.begin} + i * forwards_.publish);
        }
      }
    }
    Time next{0};
    for (const Send& send : s.sends) {
      if (send.from == around_.root) next = std::max(next, send.begin + machine_.o);
    }
    for (const Publication& p : s.publications) next = std::max(next, p.begin + forwards_.publish);
    for (; begins.size() < free.size(); next += forwards_.publish) begins.push_back(next);
    for (std::size_t lane = 0; lane < free.size(); ++lane) {
      const Rank to = around_.lane(static_cast<std::int64_t>(lane));
      s.publications.push_back({begins[lane], around_.root, item(to)});
      s.readings.push_back({std::max(begins[lane] + forwards_.publish, free[lane]), to, around_.root, item(to)});
    }
  }

  void list_led(Schedule& s) const {
    for (const Send& send : s.sends) {
      const Rank to = Around::at(send.part.lo);
      if (send.to == to) continue;
      s.publications.push_back({send.begin + machine_.lambda(), send.to, send.part});
      s.readings.push_back({send.begin + machine_.lambda() + forwards_.publish, to, send.to, send.part});
    }
  }

  Nodes forwards_;
  bool leaders_;
  Around around_;
  ItemTimes times_;
};

std::string described(const LanePeriod& period, bool leaders) {
  if (leaders) return fmt::format("leaders: the root sends one item in {} ticks", period.length);
  if (period.slots.empty())
    return fmt::format("the root sends {} items in {} ticks", period.sends.size(), period.length);
  return fmt::format("lanes in periods of {} ticks: the root sends {} and publishes {}", period.length,
                     period.sends.size(), period.slots.size());
}

}  // namespace

bool fits_in_periods(const Cluster& cluster) {
  const LogP& m = cluster.base;
  const std::int64_t most = (m.lambda() + m.gap() + cluster.nodes.publish + cluster.nodes.read).ticks;
  constexpr std::int64_t kRoom = 32;  // a period that is tried may be that much longer than one that is taken
  return saturating_multiply(saturating_multiply(kRoom, m.P), most) < kSaturated;
}

PlanPtr scatter_in_periods(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound) {
  Cluster forwards = cluster;
  if (problem.kind == Kind::gather) std::swap(forwards.nodes.publish, forwards.nodes.read);
  const Around around(cluster.nodes, problem.root);
  const bool leaders = lanes == Lanes::leaders;
  const auto led = leaders ? last_behind_a_leader(cluster.nodes, problem.root) : std::nullopt;
  LanePeriod period;
  if (leaders || around.outside == 0) {
    const LogP& m = cluster.base;
    const Time apart = led ? std::max(m.gap(), m.o + forwards.nodes.publish) : m.gap();
    period = root_period(forwards, around.lanes(), apart.ticks);
  } else {
    period = best_lane_period(forwards, around.lanes(), around.outside,
                              [&](const LanePeriod& tried) { return shared_out(forwards, around, tried).finish(); });
  }
  ItemTimes times = shared_out(forwards, around, period);
  Time finish{times.finish()};
  if (led) {
    const Time sent{times.send_of_root(around.number(*led))};
    finish = std::max(finish, sent + cluster.base.lambda() + forwards.nodes.publish + forwards.nodes.read);
  }
  std::string how = described(period, leaders);
  if (problem.kind == Kind::gather) how += ", reversed";
  const Claim claim{finish, bound.time, bound.source, how};
  return std::make_shared<ScatterInPeriods>(cluster, forwards.nodes, problem, leaders, claim, std::move(times));
}

}  // namespace chasqui::plan
