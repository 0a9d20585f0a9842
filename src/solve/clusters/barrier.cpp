// SPDX-License-Identifier: MIT
// A barrier as a formula for one finish time: everybody must know of everybody. What is sent or published carries all that its rank
// knows by then, so a message is a pair of ranks and a tick, and what it tells follows.
#include <algorithm>
#include <utility>

#include "solve/clusters/climb.hpp"
#include "solve/clusters/cluster_ports.hpp"

namespace chasqui::solve {
namespace {

class BarrierOnCluster final : public FormulaSearch {
 public:
  explicit BarrierOnCluster(const Cluster& cluster)
      : FormulaSearch("a barrier"), cluster_(cluster), P_(cluster.base.P) {}

 private:
  /// Something that tells `to` at `end` what `from` knew at `begin`.
  struct Telling {
    Literal happens;
    std::int64_t from, to, begin, end;
  };

  static Rank rank(std::int64_t index) { return {static_cast<std::int32_t>(index)}; }

  Cnf formula() override {
    Cnf cnf;
    ClusterPorts ports(cluster_, T_ + 1);
    tellings_ = all_tellings(cnf, ports);
    ports.rules(cnf);
    for (std::int64_t about = 0; about < P_; ++about) spread(cnf, about, tellings_);
    return cnf;
  }

  /// What a rank knows of as one or two intervals of ranks, around the end of their order. Nothing if it takes more.
  std::optional<std::pair<Part, Part>> intervals(std::uint32_t known) const {
    const auto knows = [&](std::int64_t r) { return (known >> static_cast<std::uint32_t>(r % P_) & 1U) != 0; };
    std::vector<Part> parts;
    for (std::int64_t lo = 0; lo < P_; ++lo) {
      if (!knows(lo) || knows(lo + P_ - 1)) continue;
      std::int32_t len = 1;
      while (knows(lo + len)) ++len;
      parts.push_back({static_cast<std::int32_t>(lo), len});
    }
    if (parts.empty()) parts.push_back({0, static_cast<std::int32_t>(P_)});
    if (parts.size() > 2) return std::nullopt;
    parts.resize(2);
    return std::pair{parts[0], parts[1]};
  }

  /// Nothing where somebody tells what no message can carry: more than two intervals.
  std::optional<Schedule> read_off(const SatSolver& solver) const override {
    std::vector<Telling> told;
    for (const Telling& telling : tellings_) {
      if (solver.value(telling.happens)) told.push_back(telling);
    }
    std::sort(told.begin(), told.end(), [](const Telling& a, const Telling& b) { return a.end < b.end; });
    std::vector<std::vector<std::uint32_t>> known(
        static_cast<std::size_t>(T_ + 1));  // by tick and rank, bits are ranks
    std::size_t next = 0;
    for (std::int64_t t = 0; t <= T_; ++t) {
      std::vector<std::uint32_t>& now = known[static_cast<std::size_t>(t)];
      if (t > 0) now = known[static_cast<std::size_t>(t - 1)];
      for (std::int64_t r = 0; t == 0 && r < P_; ++r) now.push_back(std::uint32_t{1} << static_cast<std::uint32_t>(r));
      for (; next < told.size() && told[next].end == t; ++next)
        now[static_cast<std::size_t>(told[next].to)] |=
            known[static_cast<std::size_t>(told[next].begin)][static_cast<std::size_t>(told[next].from)];
    }
    Schedule schedule{cluster_.base, {.kind = Kind::barrier}, {}, {}, {}, {}, {}, {}, {}, cluster_.nodes};
    for (const Telling& telling : told) {
      const auto parts =
          intervals(known[static_cast<std::size_t>(telling.begin)][static_cast<std::size_t>(telling.from)]);
      if (!parts) return std::nullopt;
      const auto& [part, second] = *parts;
      const Rank from = rank(telling.from), to = rank(telling.to);
      if (cluster_.nodes.node_of(from) != cluster_.nodes.node_of(to)) {
        schedule.sends.push_back({Time{telling.begin}, from, to, part, second});
        continue;
      }
      const Publication published{Time{telling.begin}, from, part, second};
      if (std::find(schedule.publications.begin(), schedule.publications.end(), published) ==
          schedule.publications.end())
        schedule.publications.push_back(published);
      schedule.readings.push_back({Time{telling.end} - cluster_.nodes.read, to, from, part, second});
    }
    normalise(schedule);
    schedule.finish = actual_finish(schedule);
    return schedule;
  }

  std::vector<Telling> all_tellings(Cnf& cnf, ClusterPorts& ports) const {
    const std::int64_t lambda = cluster_.base.lambda().ticks, publish = cluster_.nodes.publish.ticks,
                       read = cluster_.nodes.read.ticks;
    std::vector<Telling> tellings;
    for (std::int64_t from = 0; from < P_; ++from) {
      const std::int64_t node = cluster_.nodes.node_of(rank(from));
      std::vector<Literal> published;
      for (std::int64_t t = 0; t + publish + read <= T_; ++t) {
        published.push_back(cnf.fresh());
        ports.publication(published.back(), rank(from), t);
      }
      for (std::int64_t to = 0; to < P_; ++to) {
        if (to == from) continue;
        if (cluster_.nodes.node_of(rank(to)) != node) {
          for (std::int64_t t = 0; t + lambda <= T_; ++t) {
            tellings.push_back({cnf.fresh(), from, to, t, t + lambda});
            ports.message(tellings.back().happens, rank(from), rank(to), t);
          }
          continue;
        }
        for (std::int64_t t = 0; t < static_cast<std::int64_t>(published.size()); ++t) {
          for (std::int64_t u = t + publish; u + read <= T_; ++u) {
            tellings.push_back({cnf.fresh(), from, to, t, u + read});
            ports.reading(tellings.back().happens, rank(to), u);
            cnf.clause({-tellings.back().happens, published[static_cast<std::size_t>(t)]});
          }
        }
      }
    }
    return tellings;
  }

  /// Who knows of `about` when: itself from the start, everybody in the end, and others from a telling on by one who knew.
  void spread(Cnf& cnf, std::int64_t about, const std::vector<Telling>& tellings) const {
    const auto at = [&](std::int64_t r, std::int64_t t) { return static_cast<std::size_t>(r * (T_ + 1) + t); };
    std::vector<Literal> knows(static_cast<std::size_t>(P_ * (T_ + 1)));
    for (Literal& literal : knows) literal = cnf.fresh();
    std::vector<std::vector<Literal>> told(knows.size());
    for (const Telling& telling : tellings) {
      const Literal tells = cnf.fresh();
      cnf.clause({-tells, telling.happens});
      cnf.clause({-tells, knows[at(telling.from, telling.begin)]});
      told[at(telling.to, telling.end)].push_back(tells);
    }
    for (std::int64_t r = 0; r < P_; ++r) {
      cnf.clause({r == about ? knows[at(r, 0)] : -knows[at(r, 0)]});
      cnf.clause({knows[at(r, T_)]});
      for (std::int64_t t = 1; t <= T_; ++t) {
        std::vector<Literal> why = told[at(r, t)];
        why.insert(why.end(), {-knows[at(r, t)], knows[at(r, t - 1)]});
        cnf.clause(why);
        cnf.clause({-knows[at(r, t - 1)], knows[at(r, t)]});
      }
    }
  }

  const Cluster& cluster_;
  std::int64_t P_;
  std::vector<Telling> tellings_;
};

}  // namespace

ClusterSearchPtr search_barrier(const Cluster& cluster) { return std::make_unique<BarrierOnCluster>(cluster); }

}  // namespace chasqui::solve
