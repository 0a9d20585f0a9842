// SPDX-License-Identifier: MIT
// The atlas: optima of small instances with their witnesses, one line of text each (data/atlas.txt, described in docs/solve.md).
// Finished lines are never computed again, so an interrupted run goes on where it stopped.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/plan/plan.hpp"
#include "chasqui/solve/solve.hpp"

namespace chasqui::solve {
/// One instance with what is known of it.
struct AtlasEntry {
  Instance instance;
  Time finish;  ///< of the witness (stream: its delay)
  Time bound;   ///< proved; equal to finish: optimal
  Evidence evidence = Evidence::argument;
  Schedule witness;  ///< a schedule that meets `finish`

  bool optimal() const { return finish == bound; }  ///< nothing is left open
};

/// broadcast, single, allgather, alltoall, stream, and those of clusters: cluster-broadcast, cluster-reduce, …
const std::vector<std::string>& atlas_families();
/// Which of them an instance belongs to.
std::string family_of(const Instance& instance);
/// The kind of a family of clusters; nothing for the other families.
std::optional<Kind> cluster_kind(std::string_view family);

/// "broadcast P L o g k finish bound argument|traffic|search witness"; families: broadcast, single, allgather, alltoall, stream (k: the period).
/// The witness has two letters for each item and rank that does not own it: when the message begins, on the item's clock, and who
/// sends it, in base 62. On clusters "cluster-broadcast N n L o g gamma publish read finish bound argument|search witness": three lists
/// of events, with dots between them: five digits a send (begin, from, to, first item, items), four a publication and five a reading;
/// two more where ranks fold or hear (cluster-reduce, -barrier, -allreduce, -scan): a second interval, 00 if there is none.
std::string to_line(const AtlasEntry& entry);
/// Throws an Error that begins with `place` for anything that is not such a line.
AtlasEntry entry_from_line(std::string_view line, const std::string& place);
/// Solved instances, one line of text each.
class Atlas {
 public:
  /// Empty if there is no such file.
  static Atlas read(const std::filesystem::path& path);
  /// The one that is part of the library.
  static const Atlas& shipped();

  const AtlasEntry* find(const Instance& instance) const;  ///< nullptr: not in the atlas
  /// Keeps the better of two entries for one instance.
  void add(AtlasEntry entry);
  /// By family, then machine, then k.
  std::vector<const AtlasEntry*> entries() const;
  /// The file: a comment line, then one line per entry.
  std::string text() const;

 private:
  std::map<std::string, AtlasEntry> entries_;
};

/// What a run is to cover.
struct AtlasRange {
  std::string family = "broadcast";    ///< one of atlas_families()
  std::int64_t P = 12;                 ///< up to so many processors
  std::int64_t N = 5;                  ///< clusters: up to so many nodes
  std::int64_t L = 5;                  ///< up to this latency; clusters: up to this λ
  std::int64_t k = 8;                  ///< broadcast, single
  std::int64_t g = 4;                  ///< allgather, alltoall: 0 < o <= g <= this
  std::int64_t shard = 0, shards = 1;  ///< only every shards-th instance, beginning with this one
};

/// The instances of a range, small ones first. A stream stands for all its periods. Throws an Error for an unknown family.
std::vector<Instance> atlas_instances(const AtlasRange& range);

/// The entry of one instance: searched for until the options say stop; no value if not even a schedule was found.
/// A stream begins with the plan, if it may and the plan repeats soon enough, then tries periods from 1 on, each with its share of the time, until one
/// meets the bound.
std::optional<AtlasEntry> atlas_entry(const Instance& instance, const Options& options);

/// The shipped witness as a plan, if the atlas has the instance (any root; on clusters only broadcasts have any). Null if not, and for streams, whose
/// plans have no finish.
plan::PlanPtr plan_from_atlas(const Instance& instance);

/// The answer's schedule as a plan. REQUIRES answer.best, and no stream.
plan::PlanPtr plan_from_answer(const Instance& instance, const Answer& answer);

/// The atlas as a page for people, docs/atlas.md. Markdown: one table per family and machine, one row per shape of clusters; with `compare_plans` also
/// where the plans of this build miss the optimum.
std::string atlas_table(const Atlas& atlas, bool compare_plans = true);

}  // namespace chasqui::solve
