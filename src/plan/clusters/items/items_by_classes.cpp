// SPDX-License-Identifier: MIT
// Few items on many equal nodes: the nodes are shared out among classes, an item spreads in one class only, and then neighbours of
// different classes exchange what they have (clusters.md, Theorem 31).
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/items/items_by_lanes.hpp"
#include "plan/clusters/items/lane_clock.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// Which node belongs to which class. Nodes are counted from the root's on. Columns of one node of each class, and nodes that are left
/// over, one beside each of the first columns: they are in no class.
struct ClassColumns {
  std::int64_t N = 1, classes = 1, home = 0;

  struct Place {
    std::int64_t column = 0, position = 0;
  };

  std::int64_t count() const { return N / classes; }
  std::int64_t left_over() const { return N - count() * classes; }
  /// Of a column: the classes, and one more where some have a node that is left over beside them.
  std::int64_t positions() const { return classes + (left_over() > 0 ? 1 : 0); }
  bool fit() const { return classes <= N && left_over() <= count(); }
  bool exists(const Place& at) const { return at.position < classes || at.column < left_over(); }
  static bool is_home(const Place& at) { return at.column == 0 && at.position == 0; }

  std::int64_t node(const Place& at) const {
    const std::int64_t index =
        at.position < classes ? at.column * classes + at.position : count() * classes + at.column;
    return (index + home) % N;
  }
  Place place(std::int64_t node) const {
    const std::int64_t index = modulo(node - home, N);
    if (index >= count() * classes) return {index - count() * classes, classes};
    return {index / classes, index % classes};
  }
};

/// First the root brings the items of every other class to a rank of the first node of that class, one after another.
struct BringOut {
  std::int64_t messages = 0;  ///< item y of class a is number y * (classes - 1) + a - 1
  std::int64_t lanes = 0;     ///< which send what the root publishes; 0: the root sends itself
  std::int64_t distance = 0;  ///< from one to the next
  std::int64_t first = 0;     ///< begin of the first send

  std::int64_t last() const { return first + (messages - 1) * distance; }
};

BringOut bring_out(const Cluster& cluster, std::int64_t classes, std::int64_t messages, std::int64_t most_lanes) {
  const std::int64_t G = cluster.base.gap().ticks, p = cluster.nodes.publish.ticks, r = cluster.nodes.read.ticks;
  const BringOut alone{messages, 0, G, 0};
  BringOut shared{messages, std::min({cluster.nodes.largest() - 1, most_lanes - 1, messages}), 0, p + r};
  if (shared.lanes == 0) return alone;
  shared.distance =
      std::max({p, cluster.nodes.gamma.ticks, divide_up(std::max(G, r + cluster.base.o.ticks), shared.lanes),
                divide_up(G, classes - 1)});
  return shared.last() < alone.last() ? shared : alone;
}

/// Then every class spreads its items, and then every node sends what its class has to all others of its column, and gets what they have.
struct Stages {
  BringOut out;
  std::int64_t spread = 0;    ///< begin of the second stage
  std::int64_t exchange = 0;  ///< … and of the third
  std::int64_t at_home = 0;   ///< when the root's neighbours begin to read what came out first
};

/// Message number m of the third stage: item y of the sender's class, to the position so much further.
struct Exchanged {
  std::int64_t y = 0, distance = 1, lane = 0, round = 0;
};

class ItemsByClasses final : public Plan {
 public:
  ItemsByClasses(const Cluster& cluster, const Problem& problem, const Bound& bound, ClassColumns columns, PlanPtr more,
                 PlanPtr fewer, std::int64_t most_lanes)
      : Plan(cluster, problem, {}), columns_(columns), more_(std::move(more)), fewer_(std::move(fewer)),
        n_(cluster.nodes.largest()), first_(problem.root.index % n_), rows_(divide_up(problem.items, columns.classes)),
        clock_(
            exchange_clock(cluster, std::min({n_, rows_ * (columns.positions() - 1), kMostClassLanes, most_lanes}))) {
    const std::int64_t c = columns.classes, lambda = cluster.base.lambda().ticks, G = cluster.base.gap().ticks;
    stages_.out = bring_out(cluster, c, problem.items - items_of(0), most_lanes);
    stages_.spread = stages_.out.last() + std::max(lambda, G);
    const std::int64_t spread = std::max(more_->claim().finish, fewer_->claim().finish).ticks;
    stages_.exchange = stages_.spread + spread + std::max<std::int64_t>(0, G - lambda);
    const std::int64_t rounds = divide_up(exchanged(), clock_.lanes());
    stages_.at_home =
        stages_.exchange + clock_.shift(clock_.lanes() - 1) + (rounds - 1) * clock_.length() + cluster.base.o.ticks;
    claim_ = {Time{std::max(end_of_exchange(), end_at_home())}, bound.time, bound.source,
              fmt::format("items dealt out to {} classes of nodes, which exchange them on {}; within a class, {}", c,
                          clock_.lanes() == 1 ? "one lane" : fmt::format("{} lanes", clock_.lanes()),
                          more_->claim().construction)};
  }

  LocalForm local(Rank rank) const override {
    require_own_list(rank, problem_.items, "ask for fewer items");
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const ClassColumns::Place at = columns_.place(rank.index / n_);
    const std::int64_t place = rank.index % n_;
    if (ClassColumns::is_home(at)) add_at_home(place, form);
    if (at.column == 0 && at.position > 0 && at.position < columns_.classes && place == first_) {
      for (std::int64_t y = 0; y < items_of(at.position); ++y)
        form.receives.push_back(brought_out(number_out(y, at.position)));
    }
    if (at.position < columns_.classes) {
      const LocalForm own = plan_of(at.position)->local(Rank{static_cast<std::int32_t>(at.column * n_ + place)});
      for (const Send& send : own.sends) form.sends.push_back(spread(send, at.position));
      for (const Send& send : own.receives) form.receives.push_back(spread(send, at.position));
      for (const Publication& p : own.publications) form.publications.push_back(spread(p, at.position));
      for (const Reading& r : own.readings) form.readings.push_back(spread(r, at.position));
    }
    add_exchanged(at, rank, form);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    require_listable({machine_, nodes_}, problem_,
                     saturating_multiply(machine_.P + 2 * nodes_.count(), problem_.items));
    Schedule all = empty_schedule();
    list_brought_out(all);
    const Schedule more = more_->schedule(), fewer = fewer_->schedule();
    for (std::int64_t position = 0; position < columns_.classes; ++position) {
      const Schedule& one = brings_more(position) ? more : fewer;
      for (const Send& send : one.sends) all.sends.push_back(spread(send, position));
      for (const Publication& p : one.publications) all.publications.push_back(spread(p, position));
      for (const Reading& r : one.readings) all.readings.push_back(spread(r, position));
    }
    list_exchanged(all);
    normalise(all);
    return all;
  }

 private:
  static constexpr std::int64_t kMostClassLanes = 256;

  static LaneClock exchange_clock(const Cluster& cluster, std::int64_t lanes) {
    const std::int64_t gamma = cluster.nodes.gamma.ticks;
    const std::int64_t least =
        std::max({cluster.base.gap().ticks, lanes * gamma, lanes * cluster.nodes.read.ticks, std::int64_t{1}});
    std::vector<std::int64_t> shifts;
    for (std::int64_t lane = 0; lane < lanes; ++lane) shifts.push_back(lane * gamma);
    return {cluster, std::move(shifts), short_step(cluster, least, 1, lanes - 1)};
  }

  bool brings_more(std::int64_t position) const {
    const std::int64_t extra = problem_.items % columns_.classes;
    return extra == 0 || position < extra;
  }
  const PlanPtr& plan_of(std::int64_t position) const { return brings_more(position) ? more_ : fewer_; }
  std::int64_t items_of(std::int64_t position) const {
    if (position >= columns_.classes) return 0;
    return problem_.items / columns_.classes + (position < problem_.items % columns_.classes ? 1 : 0);
  }
  Part item(std::int64_t y, std::int64_t position) const { return item_part(y * columns_.classes + position); }
  Rank rank_of(const ClassColumns::Place& at, std::int64_t place) const {
    return {static_cast<std::int32_t>(columns_.node(at) * n_ + place)};
  }

  // First stage.
  std::int64_t number_out(std::int64_t y, std::int64_t position) const {
    return y * (columns_.classes - 1) + position - 1;
  }
  std::pair<std::int64_t, std::int64_t> item_out(std::int64_t number) const {  // y and its class
    return {number / (columns_.classes - 1), number % (columns_.classes - 1) + 1};
  }
  Part part_out(std::int64_t number) const {
    const auto [y, position] = item_out(number);
    return item(y, position);
  }
  /// Who sends it: the root, or one of its neighbours in turn.
  std::int64_t sender_out(std::int64_t number) const {
    return stages_.out.lanes == 0 ? first_ : (first_ + 1 + number % stages_.out.lanes) % n_;
  }
  Send brought_out(std::int64_t number) const {
    return {Time{stages_.out.first + number * stages_.out.distance}, rank_of({0, 0}, sender_out(number)),
            rank_of({0, item_out(number).second}, first_), part_out(number)};
  }
  /// On the board of the root's node: before the sends, or where there is time after the third stage.
  Publication published_at_home(std::int64_t number) const {
    const BringOut& out = stages_.out;
    const std::int64_t begin =
        out.lanes > 0 ? number * out.distance : stages_.at_home + number * std::max(nodes_.publish, nodes_.read).ticks;
    return {Time{begin}, problem_.root, part_out(number)};
  }
  Reading read_at_home(std::int64_t number, std::int64_t place) const {
    const Rank rank = rank_of({0, 0}, place);
    const Time published = published_at_home(number).begin + nodes_.publish;
    if (stages_.out.lanes == 0 || place == sender_out(number))
      return {published, rank, problem_.root, part_out(number)};
    return {Time{stages_.at_home} + number * nodes_.read, rank, problem_.root, part_out(number)};
  }
  void add_at_home(std::int64_t place, LocalForm& form) const {
    for (std::int64_t number = 0; number < stages_.out.messages; ++number) {
      if (place == sender_out(number)) form.sends.push_back(brought_out(number));
      if (place == first_) form.publications.push_back(published_at_home(number));
      else form.readings.push_back(read_at_home(number, place));
    }
  }
  void list_brought_out(Schedule& all) const {
    for (std::int64_t position = 1; position < columns_.classes; ++position) {
      for (std::int64_t y = 0; y < items_of(position); ++y) {
        const std::int64_t number = number_out(y, position);
        all.sends.push_back(brought_out(number));
        all.publications.push_back(published_at_home(number));
        for (std::int64_t place = 0; place < n_; ++place) {
          if (place != first_) all.readings.push_back(read_at_home(number, place));
        }
      }
    }
  }
  std::int64_t end_at_home() const {
    const std::int64_t last = stages_.out.messages - 1, r = nodes_.read.ticks;
    if (stages_.out.lanes == 0) return (published_at_home(last).begin + nodes_.publish).ticks + r;
    return n_ == 2 ? 0 : stages_.at_home + last * r + r;  // a single neighbour has read all at once
  }

  // Second stage.
  Rank in_class(Rank rank, std::int64_t position) const {
    return rank_of({rank.index / n_, position}, rank.index % n_);
  }
  Send spread(const Send& s, std::int64_t position) const {
    return {s.begin + Time{stages_.spread}, in_class(s.from, position), in_class(s.to, position),
            item(s.part.lo, position)};
  }
  Publication spread(const Publication& p, std::int64_t position) const {
    return {p.begin + Time{stages_.spread}, in_class(p.rank, position), item(p.part.lo, position)};
  }
  Reading spread(const Reading& r, std::int64_t position) const {
    return {r.begin + Time{stages_.spread}, in_class(r.rank, position), in_class(r.from, position),
            item(r.part.lo, position)};
  }

  // Third stage.
  std::int64_t exchanged() const { return rows_ * (columns_.positions() - 1); }
  Exchanged message(std::int64_t m) const {
    const std::int64_t others = columns_.positions() - 1;
    return {m / others, m % others + 1, m % clock_.lanes(), m / clock_.lanes()};
  }
  std::int64_t after(std::int64_t position, std::int64_t distance) const {
    return modulo(position + distance, columns_.positions());
  }
  /// Is there such a message from this position? The root's node gets none.
  bool sends(const ClassColumns::Place& from, const Exchanged& message) const {
    const ClassColumns::Place to{from.column, after(from.position, message.distance)};
    return message.y < items_of(from.position) && columns_.exists(from) && columns_.exists(to) &&
           !ClassColumns::is_home(to);
  }
  Send sent(const ClassColumns::Place& from, const Exchanged& m) const {
    const ClassColumns::Place to{from.column, after(from.position, m.distance)};
    return {Time{stages_.exchange + clock_.shift(m.lane) + m.round * clock_.length()}, rank_of(from, m.lane),
            rank_of(to, m.lane), item(m.y, from.position)};
  }
  Publication published(const Send& send) const {
    return {send.begin + Time{clock_.published_after_send()}, send.to, send.part};
  }
  Reading read(const Publication& p, Rank rank, std::int64_t wait) const {
    return {p.begin + nodes_.publish + Time{wait}, rank, p.rank, p.part};
  }
  void add_exchanged(const ClassColumns::Place& at, Rank rank, LocalForm& form) const {
    const std::int64_t place = rank.index % n_;
    const std::vector<std::int64_t> waits = clock_.waits(place, false);
    for (std::int64_t number = 0; number < exchanged(); ++number) {
      const Exchanged m = message(number);
      if (m.lane == place && sends(at, m)) form.sends.push_back(sent(at, m));
      const ClassColumns::Place from{at.column, after(at.position, -m.distance)};
      if (!sends(from, m)) continue;
      const Send arriving = sent(from, m);
      if (m.lane == place) {
        form.receives.push_back(arriving);
        form.publications.push_back(published(arriving));
      } else {
        form.readings.push_back(read(published(arriving), rank, waits[static_cast<std::size_t>(m.lane)]));
      }
    }
  }
  void list_exchanged(Schedule& all) const {
    std::vector<std::vector<std::int64_t>> waits;
    for (std::int64_t place = 0; place < n_; ++place) waits.push_back(clock_.waits(place, false));
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      const ClassColumns::Place at = columns_.place(node);
      for (std::int64_t number = 0; number < exchanged(); ++number) {
        const Exchanged m = message(number);
        if (!sends(at, m)) continue;
        const Send send = sent(at, m);
        all.sends.push_back(send);
        all.publications.push_back(published(send));
        const std::int64_t first = send.to.index - m.lane;
        for (std::int64_t place = 0; place < n_; ++place) {
          if (place == m.lane) continue;
          all.readings.push_back(read(published(send), Rank{static_cast<std::int32_t>(first + place)},
                                      waits[static_cast<std::size_t>(place)][static_cast<std::size_t>(m.lane)]));
        }
      }
    }
  }
  /// Of the last rounds that have a message at all: waits are shorter than a step, so nothing of two rounds before ends later. What is
  /// sent in any column is sent in one of the first two.
  std::int64_t end_of_exchange() const {
    const std::vector<std::int64_t> waits = clock_.last_waits(false);
    const std::int64_t board = (nodes_.publish + nodes_.read).ticks;
    std::int64_t end = 0;
    std::optional<std::int64_t> last;
    for (std::int64_t number = exchanged() - 1; number >= 0; --number) {
      const Exchanged m = message(number);
      if (last && m.round + 2 < *last) break;
      for (std::int64_t from = 0; from < columns_.classes * std::min<std::int64_t>(2, columns_.count()); ++from) {
        const ClassColumns::Place at{from / columns_.classes, from % columns_.classes};
        if (!sends(at, m)) continue;
        if (!last) last = m.round;
        const std::int64_t begin = sent(at, m).begin.ticks;
        end = std::max(end, begin + clock_.published_after_send() + board + waits[static_cast<std::size_t>(m.lane)]);
        break;
      }
    }
    return end;
  }

  ClassColumns columns_;
  PlanPtr more_, fewer_;           ///< of a class that brings one item more than the others, and of the others
  std::int64_t n_, first_, rows_;  ///< first_: the root's place in its node
  LaneClock clock_;
  Stages stages_;
};

}  // namespace

PlanPtr dealt_to_classes(const Cluster& cluster, const Problem& problem, std::int64_t classes, const Bound& bound,
                         std::int64_t most_lanes) {
  const std::int64_t n = cluster.nodes.largest();
  const ClassColumns columns{cluster.nodes.count(), classes, problem.root.index / n};
  if (!columns.fit()) return nullptr;
  Cluster part = cluster;
  part.nodes.runs.front().count = columns.count();
  part.base.P = columns.count() * n;
  const auto spread = [&](std::int64_t items) {
    const Problem own{
        .kind = Kind::broadcast, .root = Rank{static_cast<std::int32_t>(problem.root.index % n)}, .items = items};
    return items == 1 ? repeated_on_cluster(part, own, Lanes::all, bound, most_lanes)
                      : spread_in_step(part, own, Lanes::all, bound, most_lanes);
  };
  PlanPtr more = spread(divide_up(problem.items, classes));
  PlanPtr fewer = problem.items % classes == 0 ? more : spread(problem.items / classes);
  return std::make_shared<ItemsByClasses>(cluster, problem, bound, columns, std::move(more), std::move(fewer),
                                          most_lanes);
}

}  // namespace chasqui::plan
