// SPDX-License-Identifier: MIT
// All-reduce and scan as a formula for one finish time. A message or a publication carries the fold of one interval of contributions,
// around the end of the rank order where operands may be reordered. For each rank and interval: `sends`, `publishes` and `reads`
// by tick, `got` (by a message or a reading that has ended) and `can` (tiled by what was got and the rank's own contribution).
// On a board that takes no time two ranks could make a fold from each other's. There a rank publishes only its own contribution and
// what messages brought it: all of its node can read that at once, and tile it as it could.
#include <tuple>
#include <utility>

#include "solve/clusters/climb.hpp"
#include "solve/clusters/cluster_ports.hpp"

namespace chasqui::solve {
namespace {

class FoldsOnCluster final : public FormulaSearch {
 public:
  FoldsOnCluster(const Cluster& cluster, const Problem& problem)
      : FormulaSearch(to_string(problem.kind)), cluster_(cluster), problem_(problem), P_(cluster.base.P) {
    for (std::int64_t lo = 0; lo < P_; ++lo) {
      for (std::int64_t len = 1; len < P_; ++len) {
        if (lo + len <= P_ || problem.commutative) intervals_.push_back({lo, len});
      }
    }
    intervals_.push_back({0, P_});
  }

 private:
  struct Interval {
    std::int64_t lo, len;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  /// What happens if the literal is true. `to` reads, or is sent to.
  struct Event {
    Literal happens;
    std::int64_t from, to;
    std::size_t interval;
    std::int64_t begin;
  };

  static Rank rank(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }
  std::size_t at(std::int64_t r, std::size_t interval, std::int64_t t) const {
    return (static_cast<std::size_t>(r) * intervals_.size() + interval) * static_cast<std::size_t>(T_ + 1) +
           static_cast<std::size_t>(t);
  }
  std::size_t number(std::int64_t lo, std::int64_t len) const {
    const Interval wanted{len == P_ ? 0 : lo % P_, len};
    for (std::size_t i = 0; i < intervals_.size(); ++i) {
      if (intervals_[i] == wanted) return i;
    }
    return intervals_.size();
  }

  Cnf formula() override {
    Cnf cnf;
    const std::size_t all = static_cast<std::size_t>(P_ * (T_ + 1)) * intervals_.size();
    got_.assign(all, 0);
    can_.assign(all, 0);
    arrives_.assign(all, {});
    for (std::size_t i = 0; i < all; ++i) {
      got_[i] = cnf.fresh();
      can_[i] = cnf.fresh();
    }
    ClusterPorts ports(cluster_, T_ + 1);
    send_messages(cnf, ports);
    use_boards(cnf, ports, free_board(cluster_) ? brought(cnf) : can_);
    ports.rules(cnf);
    for (std::int64_t r = 0; r < P_; ++r) {
      tile(cnf, r);
      if (const std::int64_t len = promised(r); len > 0) cnf.clause({can_[at(r, number(0, len), T_)]});
    }
    return cnf;
  }

  /// The contributions of so many ranks, from 0 on, are folded at the rank in the end.
  std::int64_t promised(std::int64_t r) const {
    if (problem_.kind == Kind::scan) return problem_.exclusive ? r : r + 1;
    return P_;
  }

  void send_messages(Cnf& cnf, ClusterPorts& ports) {
    const std::int64_t lambda = cluster_.base.lambda().ticks;
    sends_.clear();
    for (std::int64_t from = 0; from < P_; ++from) {
      for (std::int64_t to = 0; to < P_; ++to) {
        if (cluster_.nodes.node_of(rank(from)) == cluster_.nodes.node_of(rank(to))) continue;
        for (std::size_t i = 0; i < intervals_.size(); ++i) {
          for (std::int64_t t = 0; t + lambda <= T_; ++t) {
            const Literal sent = cnf.fresh();
            sends_.push_back({sent, from, to, i, t});
            ports.message(sent, rank(from), rank(to), t);
            cnf.clause({-sent, can_[at(from, i, t)]});
            arrives_[at(to, i, t + lambda)].push_back(sent);
          }
        }
      }
    }
  }

  /// By rank, interval and tick: its own contribution, or a message brought it by then. REQUIRES that only messages arrive so far.
  std::vector<Literal> brought(Cnf& cnf) const {
    std::vector<Literal> all(can_.size());
    for (std::int64_t r = 0; r < P_; ++r) {
      for (std::size_t i = 0; i < intervals_.size(); ++i) {
        for (std::int64_t t = 0; t <= T_; ++t) {
          std::vector<Literal> why = arrives_[at(r, i, t)];
          why.push_back(-(all[at(r, i, t)] = cnf.fresh()));
          if (t > 0) why.push_back(all[at(r, i, t - 1)]);
          if (intervals_[i] != Interval{r, 1}) cnf.clause(why);
        }
      }
    }
    return all;
  }

  /// `may`: what a rank may publish.
  void use_boards(Cnf& cnf, ClusterPorts& ports, const std::vector<Literal>& may) {
    const std::int64_t publish = cluster_.nodes.publish.ticks, read = cluster_.nodes.read.ticks;
    publications_.clear();
    readings_.clear();
    for (std::int64_t from = 0; from < P_; ++from) {
      for (std::size_t i = 0; i < intervals_.size(); ++i) {
        Literal there = 0;  // what `from` has published by u
        for (std::int64_t u = publish; u + read <= T_; ++u) {
          const Literal published = cnf.fresh(), before = std::exchange(there, cnf.fresh());
          publications_.push_back({published, from, from, i, u - publish});
          ports.publication(published, rank(from), u - publish);
          cnf.clause({-published, may[at(from, i, u - publish)]});
          if (before == 0) cnf.clause({-there, published});
          else cnf.clause({-there, published, before});
          for (std::int64_t to = 0; to < P_; ++to) {
            if (to == from || cluster_.nodes.node_of(rank(from)) != cluster_.nodes.node_of(rank(to))) continue;
            const Literal reads = cnf.fresh();
            readings_.push_back({reads, from, to, i, u});
            ports.reading(reads, rank(to), u);
            cnf.clause({-reads, there});
            arrives_[at(to, i, u + read)].push_back(reads);
          }
        }
      }
    }
  }

  /// A tiling begins with something that was got, or with the rank's own contribution, and goes on with what can be tiled.
  void tile(Cnf& cnf, std::int64_t r) {
    for (std::int64_t t = 0; t <= T_; ++t) {
      for (std::size_t i = 0; i < intervals_.size(); ++i) {
        const auto [lo, len] = intervals_[i];
        const bool own = lo == r && len == 1;
        if (own) {
          cnf.clause({got_[at(r, i, t)]});
        } else {
          std::vector<Literal> why = arrives_[at(r, i, t)];
          why.push_back(-got_[at(r, i, t)]);
          if (t > 0) why.push_back(got_[at(r, i, t - 1)]);
          cnf.clause(why);
        }
        std::vector<Literal> why{-can_[at(r, i, t)], got_[at(r, i, t)]};
        const bool circle = len == P_ && problem_.commutative;
        for (std::int64_t begin = lo; begin < (circle ? P_ : lo + 1); ++begin) {
          for (std::int64_t first = 1; first < len; ++first) {
            const Literal both = cnf.fresh();
            cnf.clause({-both, got_[at(r, number(begin, first), t)]});
            cnf.clause({-both, can_[at(r, number(begin + first, len - first), t)]});
            why.push_back(both);
          }
        }
        cnf.clause(why);
      }
    }
  }

  std::optional<Schedule> read_off(const SatSolver& solver) const override {
    Schedule schedule{cluster_.base, problem_, {}, {}, {}, {}, {}, {}, {}, cluster_.nodes};
    const auto part = [&](const Event& e) {
      const auto [lo, len] = intervals_[e.interval];
      return Part{static_cast<std::int32_t>(lo), static_cast<std::int32_t>(len)};
    };
    for (const Event& e : sends_) {
      if (solver.value(e.happens)) schedule.sends.push_back({Time{e.begin}, rank(e.from), rank(e.to), part(e)});
    }
    for (const Event& e : publications_) {
      if (solver.value(e.happens)) schedule.publications.push_back({Time{e.begin}, rank(e.from), part(e)});
    }
    for (const Event& e : readings_) {
      if (solver.value(e.happens)) schedule.readings.push_back({Time{e.begin}, rank(e.to), rank(e.from), part(e)});
    }
    normalise(schedule);
    schedule.finish = actual_finish(schedule);
    return schedule;
  }

  const Cluster& cluster_;
  Problem problem_;
  std::int64_t P_;
  std::vector<Interval> intervals_;
  std::vector<Literal> got_, can_;             ///< by rank, interval and tick
  std::vector<std::vector<Literal>> arrives_;  ///< the same: what ends then
  std::vector<Event> sends_, publications_, readings_;
};

}  // namespace

ClusterSearchPtr search_folds(const Cluster& cluster, const Problem& problem) {
  return std::make_unique<FoldsOnCluster>(cluster, problem);
}

}  // namespace chasqui::solve
