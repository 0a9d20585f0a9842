// SPDX-License-Identifier: MIT
#include "chasqui/solve/atlas.hpp"

#include <fmt/ranges.h>

#include <filesystem>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/solve/cluster.hpp"
#include "chasqui/solve/encoding.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/listed_plan.hpp"
#include "plan/reversed_plan.hpp"

namespace chasqui::solve {
namespace {

constexpr std::string_view kHeading =
    "# Chasqui atlas 1: family P L o g k finish bound argument|traffic|search witness (docs/solve.md)\n";

/// A key that sorts by family, machine, k.
std::string key(const Instance& instance) {
  const LogP& m = instance.machine;
  if (const Nodes& nodes = instance.nodes; !nodes.empty()) {
    CHASQUI_CHECK(nodes.uniform(), "{}", to_string(instance));
    return fmt::format("cluster-{} {:04} {:04} {:06} {:06} {:06} {:06} {:06} {:06}", to_string(instance.problem.kind),
                       nodes.count(), nodes.largest(), m.L.ticks, m.o.ticks, m.g.ticks, nodes.gamma.ticks,
                       nodes.publish.ticks, nodes.read.ticks);
  }
  return fmt::format("{}{} {:04} {:06} {:06} {:06} {:06}", to_string(instance.problem.kind),
                     instance.single_sending ? "-single" : "", m.P, m.L.ticks, m.o.ticks, m.g.ticks,
                     instance.problem.items);  // whatever the period of a stream
}

Time bound_by_argument(const Instance& instance) {
  if (instance.nodes.empty()) return lower_bound(instance).time;
  return plan::on_cluster({instance.machine, instance.nodes}, instance.problem)->claim().bound;
}

/// What can be checked of a line without a search.
void require_true(const AtlasEntry& entry, const std::string& place) {
  const auto fail = [&](const std::string& what) { throw Error("{}: {}: delete the line", place, what); };
  const Report report = verify(entry.witness);
  if (!report.legal()) fail("the witness is illegal: " + chasqui::to_string(report.violations.front()));
  const Time finish = objective(entry.witness);
  if (finish != entry.finish)
    fail(fmt::format("the witness finishes at {}, not at {}", finish.ticks, entry.finish.ticks));
  const Time bound = bound_by_argument(entry.instance);
  if (entry.bound < bound || (entry.evidence == Evidence::argument && entry.bound > bound)) {
    fail(fmt::format("the bound by argument is {}, not {}", bound.ticks, entry.bound.ticks));
  }
}

}  // namespace

Atlas Atlas::read(const std::filesystem::path& path) {
  Atlas atlas;
  if (!std::filesystem::exists(path)) return atlas;
  std::istringstream file(read_file(path.string(), "name an atlas, or a file that is not there yet"));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::string place = fmt::format("{}:{}", path.string(), number);
    AtlasEntry entry = entry_from_line(line, place);
    require_true(entry, place);
    if (atlas.find(entry.instance) != nullptr)
      throw Error("{}: {} is there twice: delete one of the lines", place, to_string(entry.instance));
    atlas.add(std::move(entry));
  }
  return atlas;
}

const Atlas& Atlas::shipped() {
  static const Atlas atlas = [] {
    static constexpr std::string_view kLines[] = {
#include "atlas_lines.inc"
        ""};
    Atlas made;
    for (const std::string_view line : kLines) {
      if (!line.empty()) made.add(entry_from_line(line, "the shipped atlas"));
    }
    return made;
  }();
  return atlas;
}

const AtlasEntry* Atlas::find(const Instance& instance) const {
  const auto found = entries_.find(key(instance));
  return found == entries_.end() ? nullptr : &found->second;
}

void Atlas::add(AtlasEntry entry) {
  const auto [place, is_new] = entries_.try_emplace(key(entry.instance), entry);
  if (is_new) return;
  AtlasEntry& old = place->second;
  const AtlasEntry& bounded = entry.bound > old.bound ? entry : old;
  const Time bound = bounded.bound;
  const Evidence evidence = bounded.evidence;
  if (entry.finish < old.finish) old = std::move(entry);
  old.bound = old.witness.bound = bound;
  old.evidence = evidence;
}

std::vector<const AtlasEntry*> Atlas::entries() const {
  std::vector<const AtlasEntry*> all;
  for (const auto& [name, entry] : entries_) all.push_back(&entry);
  return all;
}

std::string Atlas::text() const {
  std::string text(kHeading);
  for (const AtlasEntry* entry : entries()) text += to_line(*entry) + "\n";
  return text;
}

namespace {

/// Equal nodes of two ranks or more, and few values of everything: those of clusters.md, Computed evidence 11.
std::vector<Instance> cluster_instances(const AtlasRange& range) {
  std::vector<Instance> all;
  const Problem problem{.kind = cluster_kind(range.family).value()};
  for (std::int64_t N = 2; N <= range.N; ++N) {
    for (std::int64_t n = 2; N * n <= range.P; ++n) {
      for (std::int64_t o = 0; o <= 1; ++o) {
        for (std::int64_t L = o == 0 ? 1 : 0; L + 2 * o <= range.L; ++L) {
          for (std::int64_t g = 1; g <= 3; ++g) {
            for (std::int64_t gamma = 0; gamma <= std::min<std::int64_t>(2, std::max(g, o)); ++gamma) {
              for (std::int64_t publish = 1; publish <= 2; ++publish) {
                for (std::int64_t read = 1; read <= std::min<std::int64_t>(2, L + 2 * o - publish); ++read) {
                  const Cluster c =
                      Cluster::uniform(N, n, {1, Time{L}, Time{o}, Time{g}}, Time{gamma}, Time{publish}, Time{read});
                  all.push_back({.machine = c.base, .problem = problem, .nodes = c.nodes});
                }
              }
            }
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

std::vector<Instance> atlas_instances(const AtlasRange& range) {
  std::vector<Instance> all;
  if (cluster_kind(range.family)) all = cluster_instances(range);
  for (std::int64_t P = 2; P <= range.P && !cluster_kind(range.family); ++P) {
    for (std::int64_t L = 1; L <= range.L; ++L) {
      if (range.family == "broadcast" || range.family == "single") {
        for (std::int64_t k = 1; k <= range.k; ++k) {
          all.push_back({.machine = LogP::postal(P, Time{L}),
                         .problem = {.items = k},
                         .single_sending = range.family == "single"});
        }
      } else if (range.family == "allgather" || range.family == "alltoall") {
        const Kind kind = range.family == "allgather" ? Kind::allgather : Kind::alltoall;
        for (std::int64_t g = 1; g <= range.g; ++g) {
          for (std::int64_t o = 1; o <= g; ++o) {
            all.push_back({.machine = {P, Time{L}, Time{o}, Time{g}}, .problem = {.kind = kind}});
          }
        }
      } else if (range.family == "stream") {
        all.push_back({.machine = LogP::postal(P, Time{L}), .problem = {.kind = Kind::stream}, .period = Time{1}});
      } else {
        throw Error("atlas: unknown family '{}': {}", range.family, fmt::join(atlas_families(), ", "));
      }
    }
  }
  std::vector<Instance> mine;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (static_cast<std::int64_t>(n) % range.shards == range.shard) mine.push_back(all[n]);
  }
  return mine;
}

namespace {

std::optional<AtlasEntry> entry_of(const Instance& instance, const Answer& answer) {
  if (!answer.best) return std::nullopt;
  Schedule witness = *answer.best;
  if (instance.problem.kind == Kind::alltoall && instance.nodes.empty()) {
    witness = canonical(instance, std::move(witness));
    for (const Send& send : witness.sends) {
      if (send.from != owner(instance, send.part.lo))
        throw Error("{}: an item is passed on, and a line has room for straight ones only", to_string(instance));
    }
  }
  return AtlasEntry{instance, objective(witness), answer.bound, answer.evidence, witness};
}

/// The plan chooses its own period, often a long one; none if that is too long for a witness.
std::optional<AtlasEntry> planned_stream(Instance instance) {
  constexpr std::int64_t kLongest = 120;
  if (!instance.machine.is_postal() || instance.machine.P < 2) return std::nullopt;
  const plan::StreamPtr stream =
      plan::make_stream(instance.machine.P, instance.machine.L.ticks, instance.problem.root.index);
  if (stream->period() > kLongest) return std::nullopt;
  instance.period = Time{stream->period()};
  const Schedule witness = canonical(instance, plan::stream_plan(instance.machine, stream)->schedule());
  return AtlasEntry{instance, objective(witness), lower_bound(instance).time, Evidence::argument, witness};
}

/// Refutations of one period say nothing about streams in general: only the bound that needs no search counts.
std::optional<AtlasEntry> stream_entry(Instance instance, const Options& options) {
  constexpr std::int64_t kLongest = 12;
  const Time bound = lower_bound(instance).time;
  std::optional<AtlasEntry> best = options.warm_start ? planned_stream(instance) : std::nullopt;
  for (std::int64_t period = 1; period <= kLongest && !(best && best->optimal()); ++period) {
    if (options.interrupted && options.interrupted()) break;
    instance.period = period * instance.machine.gap();
    Options share = options;
    share.time_limit = options.time_limit / 4;
    if (best) share.at_most = best->finish - Time{1};
    std::optional<AtlasEntry> entry = entry_of(instance, solve(instance, share));
    if (!entry || (best && entry->finish >= best->finish)) continue;
    best = std::move(entry);
    best->bound = best->witness.bound = bound;
    best->evidence = Evidence::argument;
  }
  return best;
}

plan::PlanPtr listed(const Schedule& schedule, plan::Claim claim) {
  return std::make_shared<plan::ListedPlan>(schedule.machine, schedule.problem, std::move(claim), schedule.sends);
}

/// Exchanges ranks 0 and `root` everywhere.
Schedule with_root(Schedule schedule, Rank root) {
  const auto exchange = [root](Rank rank) { return rank == root ? Rank{0} : rank == Rank{0} ? root : rank; };
  for (Send& send : schedule.sends) {
    send.from = exchange(send.from);
    send.to = exchange(send.to);
  }
  schedule.problem.root = root;
  normalise(schedule);
  return schedule;
}

/// Who says so.
const char* source_of(const AtlasEntry& entry) {
  return entry.evidence == Evidence::argument ? "an argument without search (docs/solve.md)"
                                              : "exact search (docs/atlas.md)";
}

/// Of the atlas of clusters, which is part of the library too; only the line that is asked for is read. Time: a look at every line.
std::optional<AtlasEntry> entry_on_cluster(const Instance& instance) {
  static const char* const kLines[] = {
#include "clusters_lines.inc"
      ""};
  const LogP& m = instance.machine;
  const Nodes& nodes = instance.nodes;
  if (!nodes.uniform() || instance.problem.items != 1 || instance.problem.exclusive) return std::nullopt;
  const std::string begin = fmt::format("cluster-{} {} {} {} {} {} {} {} {} ", to_string(instance.problem.kind),
                                        nodes.count(), nodes.largest(), m.L.ticks, m.o.ticks, m.g.ticks,
                                        nodes.gamma.ticks, nodes.publish.ticks, nodes.read.ticks);
  for (const std::string_view line : kLines) {
    if (line.starts_with(begin)) return entry_from_line(line, "the shipped atlas of clusters");
  }
  return std::nullopt;
}

/// The same with another root: equal nodes are alike, and so are the ranks of a node. REQUIRES a broadcast.
Schedule with_root_on_cluster(Schedule schedule, Rank root) {
  const auto n = static_cast<std::int32_t>(schedule.nodes.largest());
  const std::int32_t node = root.index / n, place = root.index % n;
  const auto exchanged = [](std::int32_t x, std::int32_t y) { return x == y ? 0 : x == 0 ? y : x; };
  const auto rename = [&](Rank& rank) {
    const bool home = rank.index < n;
    rank.index = exchanged(rank.index / n, node) * n + (home ? exchanged(rank.index % n, place) : rank.index % n);
  };
  for (Send& send : schedule.sends) rename(send.from), rename(send.to);
  for (Publication& publication : schedule.publications) rename(publication.rank);
  for (Reading& reading : schedule.readings) rename(reading.rank), rename(reading.from);
  schedule.problem.root = root;
  normalise(schedule);
  return schedule;
}

plan::PlanPtr cluster_plan_from_atlas(const Instance& instance) {
  if (instance.problem.root != Rank{} && instance.problem.kind != Kind::broadcast) return nullptr;
  const std::optional<AtlasEntry> entry = entry_on_cluster(instance);
  if (!entry) return nullptr;
  return std::make_shared<plan::ListedClusterPlan>(with_root_on_cluster(entry->witness, instance.problem.root),
                                                   source_of(*entry), "atlas witness");
}

}  // namespace

std::optional<AtlasEntry> atlas_entry(const Instance& instance, const Options& options) {
  if (instance.problem.kind == Kind::stream) return stream_entry(instance, options);
  if (!instance.nodes.empty())
    return entry_of(instance, solve_on_cluster({instance.machine, instance.nodes}, instance.problem, options));
  return entry_of(instance, solve(instance, options));
}

plan::PlanPtr plan_from_atlas(const Instance& instance) {
  if (instance.problem.kind == Kind::stream || !instance.problem.commutative) return nullptr;
  if (!instance.nodes.empty()) return cluster_plan_from_atlas(instance);
  Instance asked = forwards(instance);
  asked.problem.root = Rank{0};
  const AtlasEntry* entry = Atlas::shipped().find(asked);
  if (entry == nullptr) return nullptr;
  const Schedule witness = asked.problem.kind == instance.problem.kind
                               ? with_root(entry->witness, instance.problem.root)
                               : plan::backwards(entry->witness, instance.problem);
  return listed(witness, {entry->finish, entry->bound, source_of(*entry), "atlas witness"});
}

plan::PlanPtr plan_from_answer(const Instance& instance, const Answer& answer) {
  CHASQUI_CHECK(answer.best.has_value() && instance.problem.kind != Kind::stream, "{}", to_string(instance));
  return listed(*answer.best, {objective(*answer.best), answer.bound, answer.bound_source, "exact search"});
}

}  // namespace chasqui::solve
