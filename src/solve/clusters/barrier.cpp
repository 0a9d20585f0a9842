// SPDX-License-Identifier: MIT
// Who must hear of whom, as a formula for one finish time: in a barrier everybody of everybody. What is sent or published carries all
// that its rank knows by then, so a message is a pair of ranks and a tick, and what it tells follows. An all-reduce or a scan, whose
// messages carry less, takes at least as long. On a board that takes no time two ranks could hear of somebody from each other. There a
// publication tells only what its rank knows from messages, and of itself: all of its node can read that at once.
#include <algorithm>
#include <utility>

#include "solve/clusters/climb.hpp"
#include "solve/clusters/cluster_ports.hpp"
#include "solve/clusters/renamings.hpp"

namespace chasqui::solve {
namespace {

class HearingOnCluster final : public FormulaSearch {
 public:
  HearingOnCluster(const Cluster& cluster, const Problem& problem)
      : FormulaSearch(to_string(problem.kind)), cluster_(cluster), problem_(problem), P_(cluster.base.P) {}

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

  static std::uint32_t bit(std::int64_t r) { return std::uint32_t{1} << static_cast<std::uint32_t>(r % 32); }

  /// A message, or a publication with all its readings.
  struct Message {
    std::int64_t from, begin;
    std::uint32_t known = 0;          ///< to its sender, bits are ranks
    std::uint32_t news = 0;           ///< what somebody hears from it first
    std::vector<Telling> tellings{};  ///< who hears it
  };

  /// What was told, without what nobody heard first there.
  std::vector<Message> messages(const SatSolver& solver) const {
    std::vector<Telling> told;
    for (const Telling& telling : tellings_) {
      if (solver.value(telling.happens)) told.push_back(telling);
    }
    std::sort(told.begin(), told.end(), [&](const Telling& a, const Telling& b) {
      return std::pair(a.end, on_board(a)) < std::pair(b.end, on_board(b));
    });
    // By tick and rank: what it knows, and what a board may tell of that.
    std::vector<std::uint32_t> at_first;
    for (std::int64_t r = 0; r < P_; ++r) at_first.push_back(bit(r));
    std::vector<std::vector<std::uint32_t>> known(static_cast<std::size_t>(T_ + 1), at_first), publishable = known;
    const bool in_no_time = free_board(cluster_);
    std::vector<Message> all;
    std::size_t next = 0;
    for (std::size_t t = 0; t <= static_cast<std::size_t>(T_); ++t) {
      if (t > 0) known[t] = known[t - 1], publishable[t] = publishable[t - 1];
      for (; next < told.size() && told[next].end == static_cast<std::int64_t>(t); ++next) {
        const Telling& telling = told[next];
        const bool board = on_board(telling);
        const auto from = static_cast<std::size_t>(telling.from), to = static_cast<std::size_t>(telling.to);
        const std::uint32_t tells = (board ? publishable : known)[static_cast<std::size_t>(telling.begin)][from];
        const std::uint32_t news = tells & ~(board ? known : publishable)[t][to];
        if (news == 0) continue;
        known[t][to] |= tells;
        if (!board || !in_no_time) publishable[t][to] |= tells;
        Message& message = message_of(all, telling);
        message.known = tells;
        message.news |= news;
        message.tellings.push_back(telling);
      }
    }
    return all;
  }

  bool on_board(const Telling& telling) const {
    return cluster_.nodes.node_of(rank(telling.from)) == cluster_.nodes.node_of(rank(telling.to));
  }

  /// A publication that others have read before, or a new message.
  Message& message_of(std::vector<Message>& all, const Telling& telling) const {
    for (Message& message : all) {
      if (on_board(telling) && on_board(message.tellings.front()) && message.from == telling.from &&
          message.begin == telling.begin)
        return message;
    }
    return all.emplace_back(Message{.from = telling.from, .begin = telling.begin});
  }

  /// All news of a message, and more that its sender knows, as one or two intervals of names. Nothing if it takes more.
  std::optional<std::pair<Part, Part>> intervals(const Message& message, const std::vector<std::uint32_t>& at) const {
    const auto named = [&](std::int64_t name) { return at[static_cast<std::size_t>(name % P_)]; };
    const auto knows = [&](std::int64_t name) { return (message.known & named(name)) != 0; };
    std::vector<Part> parts;
    for (std::int64_t lo = 0; lo < P_; ++lo) {
      if (!knows(lo) || (knows(lo + P_ - 1) && message.known != everybody())) continue;
      Part part{static_cast<std::int32_t>(lo), 0};
      std::uint32_t told = 0;
      for (; part.len < P_ && knows(lo + part.len); ++part.len) told |= named(lo + part.len);
      if ((told & message.news) != 0) parts.push_back(part);
      if (message.known == everybody()) break;
    }
    if (parts.size() > 2) return std::nullopt;
    parts.resize(2);
    return std::pair{parts[0], parts[1]};
  }
  std::uint32_t everybody() const { return static_cast<std::uint32_t>((std::uint64_t{1} << P_) - 1); }

  /// Nothing where folds are sought, or where, whatever the ranks are called, somebody tells what no message can carry: more than two intervals.
  std::optional<Schedule> read_off(const SatSolver& solver) const override {
    if (problem_.kind != Kind::barrier) return std::nullopt;
    constexpr int kMostNames = 100'000;
    const std::vector<Message> told = messages(solver);
    std::optional<Schedule> schedule;
    any_renaming(cluster_.nodes, kMostNames, [&](const std::vector<Rank>& names) {
      schedule = with_names(told, names);
      return schedule.has_value();
    });
    return schedule;
  }

  std::optional<Schedule> with_names(const std::vector<Message>& told, const std::vector<Rank>& names) const {
    std::vector<std::uint32_t> at(static_cast<std::size_t>(P_));  // by name: the bit of the rank
    for (std::int64_t r = 0; r < P_; ++r)
      at[static_cast<std::size_t>(names[static_cast<std::size_t>(r)].index)] = bit(r);
    const auto name = [&](std::int64_t r) { return names[static_cast<std::size_t>(r)]; };
    Schedule schedule{cluster_.base, {.kind = Kind::barrier}, {}, {}, {}, {}, {}, {}, {}, cluster_.nodes};
    for (const Message& message : told) {
      const auto parts = intervals(message, at);
      if (!parts) return std::nullopt;
      const auto& [part, second] = *parts;
      const Telling& first = message.tellings.front();
      if (!on_board(first)) {
        schedule.sends.push_back({Time{first.begin}, name(first.from), name(first.to), part, second});
        continue;
      }
      schedule.publications.push_back({Time{message.begin}, name(message.from), part, second});
      for (const Telling& telling : message.tellings)
        schedule.readings.push_back(
            {Time{telling.end} - cluster_.nodes.read, name(telling.to), name(telling.from), part, second});
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

  bool must_hear(std::int64_t r, std::int64_t about) const {
    return problem_.kind != Kind::scan || about < r || (about == r && !problem_.exclusive);
  }

  /// Who knows of `about` when: itself from the start, all who must in the end, and others from a telling on by one who knew.
  void spread(Cnf& cnf, std::int64_t about, const std::vector<Telling>& tellings) const {
    const auto at = [&](std::int64_t r, std::int64_t t) { return static_cast<std::size_t>(r * (T_ + 1) + t); };
    const auto fresh = [&] {
      std::vector<Literal> literals(static_cast<std::size_t>(P_ * (T_ + 1)));
      for (Literal& literal : literals) literal = cnf.fresh();
      return literals;
    };
    const std::vector<Literal> knows = fresh();
    const bool in_no_time = free_board(cluster_);
    const std::vector<Literal> by_message = in_no_time ? fresh() : knows;  // what a board may tell
    std::vector<std::vector<Literal>> told(knows.size()), sent(knows.size());
    for (const Telling& telling : tellings) {
      const Literal tells = cnf.fresh();
      cnf.clause({-tells, telling.happens});
      const std::vector<Literal>& source = on_board(telling) ? by_message : knows;
      cnf.clause({-tells, source[at(telling.from, telling.begin)]});
      told[at(telling.to, telling.end)].push_back(tells);
      if (!on_board(telling)) sent[at(telling.to, telling.end)].push_back(tells);
    }
    /// Literal t needs one of why[t], or literal t - 1.
    const auto begins_with = [&](const std::vector<Literal>& has, const std::vector<std::vector<Literal>>& whys,
                                 std::int64_t r) {
      for (std::int64_t t = 0; t <= T_; ++t) {
        std::vector<Literal> why = whys[at(r, t)];
        why.push_back(-has[at(r, t)]);
        if (t > 0) why.push_back(has[at(r, t - 1)]);
        cnf.clause(why);
        if (t > 0) cnf.clause({-has[at(r, t - 1)], has[at(r, t)]});
      }
    };
    for (std::int64_t r = 0; r < P_; ++r) {
      if (must_hear(r, about)) cnf.clause({knows[at(r, T_)]});
      if (r == about) continue;
      begins_with(knows, told, r);
      if (in_no_time) begins_with(by_message, sent, r);
    }
  }

  const Cluster& cluster_;
  Problem problem_;
  std::int64_t P_;
  std::vector<Telling> tellings_;
};

}  // namespace

ClusterSearchPtr search_hearing(const Cluster& cluster, const Problem& problem) {
  return std::make_unique<HearingOnCluster>(cluster, problem);
}

}  // namespace chasqui::solve
