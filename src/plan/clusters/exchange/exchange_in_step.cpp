// SPDX-License-Identifier: MIT
// All-gather, reduce-scatter and all-to-all on equal nodes that all do the same at the same time (clusters.md, Theorem 24). One node's
// day is made, in which it gets at once what it sends: a message to the node `distance` after it, and one from the node as far before it.
#include "plan/clusters/exchange/exchange_in_step.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"
#include "plan/clusters/hand_out.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// An item as the node sees it that has it on its board, or gets it by a message. Ranks are counted from the first of their node.
struct Cargo {
  std::int64_t origin = 0;  ///< all-gather, all-to-all: the rank that brings it, of the node `distance` before
  std::int64_t owner =
      0;  ///< reduce-scatter: the rank that gets it, of the node `distance` after; all-to-all: of this node
  std::int64_t distance = 0;
  std::int64_t number = 0;  ///< which of the items of that rank, or pair
};

/// What one node does. A part's `lo` says which of the cargos; a message goes to the node `distance` after.
struct NodesDay {
  Schedule events;
  std::vector<Cargo> cargos;
  std::string how;
};

class ExchangeMaker {
 public:
  ExchangeMaker(const Cluster& one, const Problem& problem, std::int64_t N, std::int64_t events)
      : kind_(problem.kind), N_(N), n_(one.base.P), k_(problem.items), lambda_(one.base.lambda()),
        table_(one, problem, events), sent_(static_cast<std::size_t>(n_), Time{0}),
        ends_(static_cast<std::size_t>(n_), Time{0}) {}

  /// `straight`: in an all-gather every rank gets every item of other nodes by a message of its own.
  NodesDay exchange(bool straight) {
    const bool alltoall = kind_ == Kind::alltoall;
    std::vector<Held> held;
    for (std::int64_t i = 0; i < k_; ++i) {
      for (std::int64_t d = 1; d < N_; ++d) {
        for (std::int64_t turn = 0; turn < (alltoall || straight ? n_ : 1); ++turn) {
          for (std::int64_t from = 0; from < n_; ++from) {
            const std::int64_t to = (from + turn) % n_;
            const std::int64_t item = cargo({from, to, d, i});
            const Time arrived = send(from, to, item, Time{0});
            if (!alltoall && !straight) held.push_back({arrived, rank(to), item, Rank{-1}});
          }
        }
      }
    }
    for (std::int64_t i = 0; i < k_; ++i) {
      for (std::int64_t from = 0; from < n_; ++from) {
        if (!alltoall) held.push_back({Time{0}, rank(from), cargo({from, from, 0, i}), Rank{-1}});
        for (std::int64_t turn = 1; alltoall && turn < n_; ++turn) {
          const std::int64_t to = (from + turn) % n_;
          held.push_back({Time{0}, rank(from), cargo({from, to, 0, i}), rank(to)});
        }
      }
    }
    hand_out(table_, std::move(held));
    return end(alltoall   ? "in turn to every rank of every node; boards inside nodes, all in step"
               : straight ? "every rank to every rank of other nodes; boards inside nodes, all in step"
                          : "every rank to its lane of every node; boards hand out, all in step");
  }

  NodesDay reduce_scatter() {
    for (std::int64_t i = 0; i < k_; ++i) {
      for (std::int64_t d = 1; d < N_; ++d) {
        for (std::int64_t lane = 0; lane < n_; ++lane) {
          const std::int64_t item = cargo({lane, lane, d, i});
          send(lane, lane, item, collect(lane, item));
        }
      }
      for (std::int64_t lane = 0; lane < n_; ++lane) collect(lane, cargo({lane, lane, 0, i}));
    }
    return end("a lane of every node folds and sends, all in step");
  }

 private:
  static Rank rank(std::int64_t place) { return {static_cast<std::int32_t>(place)}; }

  std::int64_t cargo(const Cargo& c) {
    cargos_.push_back(c);
    return static_cast<std::int64_t>(cargos_.size()) - 1;
  }

  /// Sends of a rank go out in the order in which they are asked for.
  Time send(std::int64_t from, std::int64_t to, std::int64_t item, Time earliest) {
    Time& last = sent_[static_cast<std::size_t>(from)];
    const Time arrived = table_.send(rank(from), rank(to), item_part(item), std::max(earliest, last));
    last = arrived - lambda_;
    return arrived;
  }

  /// The others of the node hand what they have of the item to the lane.
  Time collect(std::int64_t lane, std::int64_t item) {
    Time all{0};
    for (std::int64_t i = 1; i < n_; ++i) {
      const std::int64_t from = (lane + i) % n_;
      Time& last = ends_[static_cast<std::size_t>(from)];
      last = table_.publish(rank(from), item_part(item), last);
      all = std::max(all, table_.read(rank(lane), rank(from), item_part(item), last));
    }
    return all;
  }

  NodesDay end(std::string how) { return {std::move(table_).schedule(Time{0}), std::move(cargos_), std::move(how)}; }

  Kind kind_;
  std::int64_t N_, n_, k_;
  Time lambda_;
  Timetable table_;
  std::vector<Cargo> cargos_;
  std::vector<Time> sent_;  ///< by rank: its last send
  std::vector<Time> ends_;  ///< by rank: the end of its last publication
};

class ExchangeInStep final : public Plan {
 public:
  ExchangeInStep(const Cluster& cluster, const Problem& problem, Claim claim, NodesDay day)
      : Plan(cluster, problem, std::move(claim)), day_(std::move(day)),
        places_(static_cast<std::size_t>(nodes_.largest())) {
    const Schedule& events = day_.events;
    const auto at = [&](Rank place) -> Place& { return places_[static_cast<std::size_t>(place.index)]; };
    for (std::size_t i = 0; i < events.sends.size(); ++i) {
      at(events.sends[i].from).sends.push_back(i);
      at(events.sends[i].to).receives.push_back(i);
    }
    for (std::size_t i = 0; i < events.publications.size(); ++i)
      at(events.publications[i].rank).publications.push_back(i);
    for (std::size_t i = 0; i < events.readings.size(); ++i) at(events.readings[i].rank).readings.push_back(i);
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = nodes_.node_of(rank);
    const Place& place = places_[static_cast<std::size_t>(rank.index - nodes_.first_rank(node))];
    for (const std::size_t i : place.sends)
      form.sends.push_back(message(day_.events.sends[i], node + distance(day_.events.sends[i])));
    for (const std::size_t i : place.receives) form.receives.push_back(message(day_.events.sends[i], node));
    for (const std::size_t i : place.publications)
      form.publications.push_back(publication(day_.events.publications[i], node));
    for (const std::size_t i : place.readings) form.readings.push_back(reading(day_.events.readings[i], node));
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const Schedule& events = day_.events;
    const std::size_t all = events.sends.size() + events.publications.size() + events.readings.size();
    require_listable({machine_, nodes_}, problem_, saturating_multiply(static_cast<std::int64_t>(all), nodes_.count()));
    Schedule s = empty_schedule();
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      for (const Send& send : events.sends) s.sends.push_back(message(send, node));
      for (const Publication& p : events.publications) s.publications.push_back(publication(p, node));
      for (const Reading& r : events.readings) s.readings.push_back(reading(r, node));
    }
    normalise(s);
    return s;
  }

 private:
  /// What one rank of a node does: indices into the day.
  struct Place {
    std::vector<std::size_t> sends, receives, publications, readings;
  };

  const Cargo& cargo(const Part& part) const { return day_.cargos[static_cast<std::size_t>(part.lo)]; }
  std::int64_t distance(const Send& send) const { return cargo(send.part).distance; }
  /// Of a node, counted around the end.
  Rank rank(std::int64_t node, std::int64_t place) const {
    return {static_cast<std::int32_t>(nodes_.first_rank(modulo(node, nodes_.count())) + place)};
  }

  /// The item that the cargo is at a node.
  std::pair<Part, Part> item(const Cargo& c, std::int64_t node) const {
    const bool folds = problem_.kind == Kind::reduce_scatter;
    const Rank to = rank(folds ? node + c.distance : node, c.owner);
    return EqualExchange({machine_, nodes_}, problem_).item(rank(node - c.distance, c.origin), to, c.number);
  }

  Send message(const Send& day, std::int64_t receiver) const {
    const Cargo& c = cargo(day.part);
    const std::int64_t sender = receiver - c.distance;
    const auto [part, second] = item(c, problem_.kind == Kind::reduce_scatter ? sender : receiver);
    return {day.begin, rank(sender, day.from.index), rank(receiver, day.to.index), part, second};
  }
  Publication publication(const Publication& day, std::int64_t node) const {
    const auto [part, second] = item(cargo(day.part), node);
    return {day.begin, rank(node, day.rank.index), part, second};
  }
  Reading reading(const Reading& day, std::int64_t node) const {
    const auto [part, second] = item(cargo(day.part), node);
    return {day.begin, rank(node, day.rank.index), rank(node, day.from.index), part, second};
  }

  NodesDay day_;
  std::vector<Place> places_;
};

}  // namespace

std::int64_t exchange_in_step_events(const Cluster& cluster, const Problem& problem) {
  const std::int64_t pairs = saturating_multiply(cluster.base.P, cluster.nodes.largest());
  return saturating_multiply(pairs, saturating_multiply(2, problem.items));
}

PlanPtr exchange_in_step(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  Cluster one = cluster;
  one.nodes.runs.clear();
  one.nodes.add(cluster.nodes.largest());
  one.base.P = cluster.nodes.largest();
  const std::int64_t N = cluster.nodes.count();
  const std::int64_t events = exchange_in_step_events(cluster, problem);
  require_listable(cluster, problem, events);
  const auto maker = [&] { return ExchangeMaker(one, problem, N, events); };
  NodesDay day = problem.kind == Kind::reduce_scatter ? maker().reduce_scatter() : maker().exchange(false);
  if (problem.kind == Kind::allgather && one.base.P > 1) {
    NodesDay straight = maker().exchange(true);
    if (straight.events.finish < day.events.finish) day = std::move(straight);
  }
  const Claim claim{day.events.finish, bound.time, bound.source, day.how};
  return std::make_shared<ExchangeInStep>(cluster, problem, claim, std::move(day));
}

}  // namespace chasqui::plan
