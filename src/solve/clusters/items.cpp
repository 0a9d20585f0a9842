// SPDX-License-Identifier: MIT
// What moves items, as a formula for one finish time. For each item: `has` by rank and tick, `sends` from rank to rank, `publishes`
// and `reads` on the board. A rank gets an item once, by a message or a reading; it publishes an item once, for all its readers.
// A reduce-scatter is sought backwards in time: an all-gather in which a publication has one reader, publishing and reading exchanged
// (docs/clusters.md, Theorem 17); there a rank publishes an item once for each reader. So is a reduction, as a broadcast.
// On a board that takes no time two ranks could have an item from each other, and from nobody else. There only those publish an item that
// own it or got it by a message: whoever had it first in a node is one of them, and all others can read it there just as early.
#include <map>
#include <tuple>

#include "solve/clusters/climb.hpp"
#include "solve/clusters/cluster_ports.hpp"

namespace chasqui::solve {
namespace {

class ItemsOnCluster final : public FormulaSearch {
 public:
  ItemsOnCluster(const Cluster& cluster, const Problem& problem)
      : FormulaSearch(to_string(problem.kind)), cluster_(cluster), problem_(problem),
        backwards_(combines(problem.kind)), P_(cluster.base.P) {
    if (backwards_) std::swap(cluster_.nodes.publish, cluster_.nodes.read);
    const std::int64_t sharers = problem.kind == Kind::alltoall ? P_ * P_ : one_owner() ? 1 : P_;
    items_ = problem.items * sharers;
  }

 private:
  static Rank rank(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }
  bool together(std::int64_t a, std::int64_t b) const {
    return cluster_.nodes.node_of(rank(a)) == cluster_.nodes.node_of(rank(b));
  }
  bool one_owner() const { return problem_.kind == Kind::broadcast || problem_.kind == Kind::reduce; }
  std::int64_t owner(std::int64_t item) const {
    const std::int64_t share = item / problem_.items;
    if (one_owner() || problem_.kind == Kind::scatter) return problem_.root.index;
    return problem_.kind == Kind::alltoall ? share / P_ : share;
  }
  bool wants(std::int64_t r, std::int64_t item) const {
    const std::int64_t share = item / problem_.items;
    if (problem_.kind == Kind::scatter) return share == r;
    if (problem_.kind == Kind::gather) return problem_.root.index == r;
    return problem_.kind != Kind::alltoall || share % P_ == r;
  }
  /// Publications of one rank with one item are told apart by their reader only where each has one.
  std::int64_t reader_of(std::int64_t reader) const { return backwards_ ? reader : -1; }

  using Event = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;  ///< item, rank, other rank, tick

  Cnf formula() override {
    sends_.clear();
    publishes_.clear();
    reads_.clear();
    Cnf cnf;
    ClusterPorts ports(cluster_, T_ + 1);
    for (std::int64_t item = 0; item < items_; ++item) {
      if (needs_nothing(item)) continue;
      make_events(cnf, ports, item);
      move(cnf, item);
    }
    ports.rules(cnf);
    return cnf;
  }

  bool needs_nothing(std::int64_t item) const {
    for (std::int64_t r = 0; r < P_; ++r) {
      if (r != owner(item) && wants(r, item)) return false;
    }
    return true;
  }

  void make_events(Cnf& cnf, ClusterPorts& ports, std::int64_t item) {
    const std::int64_t lambda = cluster_.base.lambda().ticks, publish = cluster_.nodes.publish.ticks,
                       read = cluster_.nodes.read.ticks;
    for (std::int64_t a = 0; a < P_; ++a) {
      for (std::int64_t b = 0; b < P_; ++b) {
        if (a == b || b == owner(item)) continue;
        if (!together(a, b)) {
          for (std::int64_t t = 0; t + lambda <= T_; ++t)
            ports.message(sends_[{item, a, b, t}] = cnf.fresh(), rank(a), rank(b), t);
          continue;
        }
        for (std::int64_t t = publish; t + read <= T_; ++t) {
          ports.reading(reads_[{item, a, b, t}] = cnf.fresh(), rank(b), t);
          Literal& published = publishes_[{item, a, reader_of(b), t - publish}];
          if (published == 0) ports.publication(published = cnf.fresh(), rank(a), t - publish);
        }
      }
    }
  }

  /// Literal t: the rank has the item at tick t.
  void move(Cnf& cnf, std::int64_t item) {
    std::vector<std::vector<Literal>> has(static_cast<std::size_t>(P_));
    for (std::int64_t r = 0; r < P_; ++r) {
      for (std::int64_t t = 0; t <= T_; ++t) has[static_cast<std::size_t>(r)].push_back(cnf.fresh());
    }
    const auto had = [&](std::int64_t r, std::int64_t t) {
      return has[static_cast<std::size_t>(r)][static_cast<std::size_t>(t)];
    };
    for (std::int64_t r = 0; r < P_; ++r) {
      if (r == owner(item)) {
        cnf.clause({had(r, 0)});
        continue;
      }
      get(cnf, item, r, had);
      if (wants(r, item)) cnf.clause({had(r, T_)});
    }
    for (const auto& [event, sent] : of(sends_, item)) cnf.clause({-sent, had(std::get<1>(event), std::get<3>(event))});
    const std::vector<std::vector<Literal>> entered = free_board(cluster_) ? enter(cnf, item) : has;
    for (const auto& [event, published] : of(publishes_, item)) {
      const auto [i, by, reader, t] = event;
      cnf.clause({-published, entered[static_cast<std::size_t>(by)][static_cast<std::size_t>(t)]});
    }
    for (const auto& [event, read] : of(reads_, item)) {
      const auto [i, from, reader, t] = event;
      std::vector<Literal> published{-read};
      for (std::int64_t begin = 0; begin + cluster_.nodes.publish.ticks <= t; ++begin) {
        const auto it = publishes_.find({item, from, reader_of(reader), begin});
        if (it != publishes_.end()) published.push_back(it->second);
      }
      cnf.clause(published);
    }
    publish_once(cnf, item);
  }

  /// The rank has the item from the end of the one message or reading that brings it.
  template <typename Had>
  void get(Cnf& cnf, std::int64_t item, std::int64_t r, const Had& had) {
    std::vector<Literal> brings;
    std::vector<std::vector<Literal>> arrives(static_cast<std::size_t>(T_ + 1));
    const auto add = [&](const std::map<Event, Literal>& events, std::int64_t lasts) {
      for (const auto& [event, literal] : of(events, item)) {
        if (std::get<2>(event) != r) continue;
        brings.push_back(literal);
        arrives[static_cast<std::size_t>(std::get<3>(event) + lasts)].push_back(literal);
      }
    };
    add(sends_, cluster_.base.lambda().ticks);
    add(reads_, cluster_.nodes.read.ticks);
    at_most_one(cnf, brings);
    for (std::int64_t t = 0; t <= T_; ++t) {
      std::vector<Literal> why = arrives[static_cast<std::size_t>(t)];
      why.push_back(-had(r, t));
      if (t > 0) why.push_back(had(r, t - 1));
      cnf.clause(why);
      if (t > 0) cnf.clause({-had(r, t - 1), had(r, t)});
    }
  }

  /// By rank, literal t: it owns the item, or a message brought it by tick t.
  std::vector<std::vector<Literal>> enter(Cnf& cnf, std::int64_t item) const {
    std::vector<std::vector<std::vector<Literal>>> why(
        static_cast<std::size_t>(P_), std::vector<std::vector<Literal>>(static_cast<std::size_t>(T_ + 1)));
    for (const auto& [event, sent] : of(sends_, item)) {
      const auto [i, from, to, t] = event;
      why[static_cast<std::size_t>(to)][static_cast<std::size_t>(t + cluster_.base.lambda().ticks)].push_back(sent);
    }
    std::vector<std::vector<Literal>> entered(static_cast<std::size_t>(P_));
    for (std::int64_t r = 0; r < P_; ++r) {
      std::vector<Literal>& at = entered[static_cast<std::size_t>(r)];
      for (std::vector<Literal>& literals : why[static_cast<std::size_t>(r)]) {
        const Literal now = cnf.fresh();
        literals.push_back(-now);
        if (!at.empty()) literals.push_back(at.back());
        if (r != owner(item)) cnf.clause(literals);
        at.push_back(now);
      }
    }
    return entered;
  }

  void publish_once(Cnf& cnf, std::int64_t item) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Literal>> by_publisher;
    for (const auto& [event, published] : of(publishes_, item))
      by_publisher[{std::get<1>(event), std::get<2>(event)}].push_back(published);
    for (const auto& [publisher, literals] : by_publisher) at_most_one(cnf, literals);
  }

  /// The events of an item.
  static std::vector<std::pair<Event, Literal>> of(const std::map<Event, Literal>& events, std::int64_t item) {
    return {events.lower_bound({item, -1, -1, -1}), events.lower_bound({item + 1, -1, -1, -1})};
  }

  std::optional<Schedule> read_off(const SatSolver& solver) const override {
    if (problem_.kind == Kind::reduce) return std::nullopt;  // its messages would carry intervals
    const std::int64_t lambda = cluster_.base.lambda().ticks, publish = cluster_.nodes.publish.ticks,
                       read = cluster_.nodes.read.ticks;
    Schedule schedule{cluster_.base, problem_, {}, {}, {}, {}, {}, {}, {}, cluster_.nodes};
    if (backwards_) std::swap(schedule.nodes.publish, schedule.nodes.read);
    const auto part = [](std::int64_t item) { return Part{static_cast<std::int32_t>(item), 1}; };
    const auto each = [&](const std::map<Event, Literal>& events, const auto& visit) {
      for (const auto& [event, literal] : events) {
        if (solver.value(literal)) std::apply(visit, event);
      }
    };
    each(sends_, [&](std::int64_t item, std::int64_t a, std::int64_t b, std::int64_t t) {
      if (backwards_) schedule.sends.push_back({Time{T_ - t - lambda}, rank(b), rank(a), part(item)});
      else schedule.sends.push_back({Time{t}, rank(a), rank(b), part(item)});
    });
    each(reads_, [&](std::int64_t item, std::int64_t a, std::int64_t b, std::int64_t t) {
      if (backwards_) schedule.publications.push_back({Time{T_ - t - read}, rank(b), part(item)});
      else schedule.readings.push_back({Time{t}, rank(b), rank(a), part(item)});
    });
    each(publishes_, [&](std::int64_t item, std::int64_t a, std::int64_t b, std::int64_t t) {
      if (!backwards_) schedule.publications.push_back({Time{t}, rank(a), part(item)});
      else if (has_reader(solver, item, a, b))
        schedule.readings.push_back({Time{T_ - t - publish}, rank(a), rank(b), part(item)});
    });
    normalise(schedule);
    schedule.finish = actual_finish(schedule);
    return schedule;
  }

  bool has_reader(const SatSolver& solver, std::int64_t item, std::int64_t from, std::int64_t reader) const {
    for (auto it = reads_.lower_bound({item, from, reader, 0}); it != reads_.end(); ++it) {
      const auto [i, a, b, t] = it->first;
      if (i != item || a != from || b != reader) break;
      if (solver.value(it->second)) return true;
    }
    return false;
  }

  Cluster cluster_;  ///< backwards: with publishing and reading exchanged
  Problem problem_;
  bool backwards_;
  std::int64_t P_, items_ = 0;
  std::map<Event, Literal> sends_, reads_;  ///< item, from, to, begin
  std::map<Event, Literal> publishes_;      ///< item, by, reader or -1, begin
};

}  // namespace

ClusterSearchPtr search_items(const Cluster& cluster, const Problem& problem) {
  return std::make_unique<ItemsOnCluster>(cluster, problem);
}

}  // namespace chasqui::solve
