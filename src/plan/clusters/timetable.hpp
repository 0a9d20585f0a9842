// SPDX-License-Identifier: MIT
// A schedule on a cluster that is made one event after another: each begins as early as the rules allow, given those that are
// already there (docs/clusters.md, Lemma 15). What comes first in the order of booking goes first.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/schedule/schedule.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/listing.hpp"

namespace chasqui::plan {

/// Lanes are counted around the end of the node.
inline Rank rank_at(const NodeIndex& nodes, std::int64_t node, std::int64_t lane) {
  return {static_cast<std::int32_t>(nodes.first_rank(node) + lane % nodes.size(node))};
}

class Timetable {
 public:
  /// Throws as require_listable does.
  Timetable(const Cluster& cluster, const Problem& problem, std::int64_t events);

  /// Each finds the earliest begin from `earliest` on, books it, and says when it has ended: for a message, when what it carries
  /// is available at `to`. Time: O(log events), and what is booked behind it is moved; a message may have to try several times.
  Time send(Rank from, Rank to, const Part& part, Time earliest, const Part& second = {});
  Time publish(Rank rank, const Part& part, Time earliest, const Part& second = {});
  Time read(Rank rank, Rank from, const Part& part, Time earliest, const Part& second = {});

  /// When a message, publication or reading would have ended, without booking it.
  Time end_of_send(Rank from, Rank to, Time earliest) const;
  Time end_of_publication(Rank rank, Time earliest) const {
    return Time{processor(rank).publications.first_free(earliest.ticks)} + nodes().publish;
  }
  Time end_of_reading(Rank rank, Time earliest) const {
    return Time{processor(rank).readings.first_free(earliest.ticks)} + nodes().read;
  }

  const Nodes& nodes() const { return schedule_.nodes; }
  const NodeIndex& where() const { return where_; }
  std::int64_t node_of(Rank rank) const { return node_of_[static_cast<std::size_t>(rank.index)]; }

  /// In canonical order, with its finish.
  Schedule schedule(Time bound) &&;

 private:
  /// Times at which an event of some kind cannot begin. What is blocked without a pause is one stretch: a full day is stepped over at once.
  class Blocked {
   public:
    void add(std::int64_t from, std::int64_t to);          ///< all times from .. to-1
    std::int64_t first_free(std::int64_t earliest) const;  ///< from `earliest` on

   private:
    struct Stretch {
      std::int64_t begin, end;
    };
    std::size_t begun_by(std::int64_t time) const;  ///< so many begin at that time or before

    std::vector<Stretch> stretches_;  ///< ascending; they do not touch
  };
  struct Processor {
    Blocked sends, receptions, publications, readings;
  };
  struct Adapter {
    Blocked sends, receptions;
  };

  const Processor& processor(Rank rank) const { return processors_[static_cast<std::size_t>(rank.index)]; }
  Processor& processor(Rank rank) { return processors_[static_cast<std::size_t>(rank.index)]; }
  const Adapter& adapter(Rank rank) const { return adapters_[static_cast<std::size_t>(node_of(rank))]; }
  Adapter& adapter(Rank rank) { return adapters_[static_cast<std::size_t>(node_of(rank))]; }
  /// The rank does nothing else from `begin` on for so long.
  void book(Rank rank, Time begin, Time length);

  Schedule schedule_;
  NodeIndex where_;
  std::vector<std::int64_t> node_of_;
  std::vector<Processor> processors_;
  std::vector<Adapter> adapters_;
};

}  // namespace chasqui::plan
