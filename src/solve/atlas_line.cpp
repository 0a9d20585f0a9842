// SPDX-License-Identifier: MIT
// One line of the atlas, written and read.
#include <fmt/ranges.h>

#include <optional>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::int64_t kBase = 62;

constexpr Kind kOnClusters[] = {Kind::broadcast, Kind::reduce,         Kind::scatter, Kind::gather,    Kind::allgather,
                                Kind::alltoall,  Kind::reduce_scatter, Kind::barrier, Kind::allreduce, Kind::scan};

/// The place of (item, rank) in the witness; the owner has none, nor has who does not want it.
template <typename Do>
void each_delivery(const Instance& instance, Do what) {
  for (std::int64_t i = 0; i < item_count(instance); ++i) {
    for (std::int32_t q = 0; q < instance.machine.P; ++q) {
      if (owner(instance, i).index != q && wants(instance, Rank{q}, i)) what(static_cast<std::int32_t>(i), Rank{q});
    }
  }
}

std::string witness_text(const AtlasEntry& entry) {
  std::map<std::pair<std::int32_t, Rank>, const Send*> delivery;
  for (const Send& send : entry.witness.sends) delivery[{send.part.lo, send.to}] = &send;
  std::string text;
  each_delivery(entry.instance, [&](std::int32_t item, Rank to) {
    const Send* send = delivery.at({item, to});
    const std::int64_t step = (send->begin - birth(entry.instance, item)).ticks;
    CHASQUI_CHECK(step >= 0 && step < kBase && send->from.index < kBase, "step={} from={}", step, send->from.index);
    text += kDigits[static_cast<std::size_t>(step)];
    text += kDigits[static_cast<std::size_t>(send->from.index)];
  });
  return text.empty() ? "-" : text;
}

Evidence evidence_of(const std::string& word, const std::string& place) {
  for (const Evidence evidence : {Evidence::argument, Evidence::traffic, Evidence::search}) {
    if (word == to_string(evidence)) return evidence;
  }
  throw Error("{}: not a line of the atlas: the bound rests on argument, traffic or search, not on '{}'", place, word);
}

/// What an event carries: items, or the fold of one interval of ranks or two.
std::vector<std::int64_t> carried(const Problem& problem, const Part& part, const Part& second) {
  if (names_items(problem)) return {part.lo, part.len};
  return {part.lo, part.len, second.lo, second.len};
}

/// Events of a schedule on a cluster: one list of numbers each.
std::string events_text(const Schedule& schedule) {
  std::string text;
  const auto write = [&](std::vector<std::int64_t> numbers, const Part& part, const Part& second) {
    for (const std::int64_t number : carried(schedule.problem, part, second)) numbers.push_back(number);
    for (const std::int64_t number : numbers) {
      if (number < 0 || number >= kBase)
        throw Error("{} is no digit in base {}: a line has no room for it: ask for a smaller cluster", number, kBase);
      text += kDigits[static_cast<std::size_t>(number)];
    }
  };
  for (const Send& s : schedule.sends) write({s.begin.ticks, s.from.index, s.to.index}, s.part, s.second);
  text += '.';
  for (const Publication& p : schedule.publications) write({p.begin.ticks, p.rank.index}, p.part, p.second);
  text += '.';
  for (const Reading& r : schedule.readings) write({r.begin.ticks, r.rank.index, r.from.index}, r.part, r.second);
  return text;
}

/// Puts them into the schedule, whose problem is known.
void read_events(const std::string& text, Schedule& schedule, const std::string& place) {
  std::vector<std::vector<std::int32_t>> lists(1);
  for (const char letter : text) {
    if (letter == '.') {
      lists.emplace_back();
      continue;
    }
    const std::size_t value = kDigits.find(letter);
    if (value == std::string_view::npos) throw Error("{}: the witness has a letter that is no digit", place);
    lists.back().push_back(static_cast<std::int32_t>(value));
  }
  const std::size_t content = carried(schedule.problem, {}, {}).size();
  const auto each = [&](std::size_t list, std::size_t who, const auto& add) {
    if (lists.size() != 3 || lists[list].size() % (who + content) != 0)
      throw Error("{}: the witness is too short or too long", place);
    for (auto d = lists[list].begin(); d != lists[list].end(); d += static_cast<std::ptrdiff_t>(who + content)) {
      const auto c = d + static_cast<std::ptrdiff_t>(who);
      add(d, Part{c[0], c[1]}, content == 4 ? Part{c[2], c[3]} : Part{});
    }
  };
  each(0, 3, [&](auto d, const Part& part, const Part& second) {
    schedule.sends.push_back({Time{d[0]}, Rank{d[1]}, Rank{d[2]}, part, second});
  });
  each(1, 2, [&](auto d, const Part& part, const Part& second) {
    schedule.publications.push_back({Time{d[0]}, Rank{d[1]}, part, second});
  });
  each(2, 3, [&](auto d, const Part& part, const Part& second) {
    schedule.readings.push_back({Time{d[0]}, Rank{d[1]}, Rank{d[2]}, part, second});
  });
}

/// Two digits for each delivery.
void read_deliveries(const std::string& text, const Instance& instance, Schedule& schedule, const std::string& place) {
  std::size_t next = text == "-" ? 1 : 0;
  const auto digit = [&]() -> std::int64_t {
    const std::size_t value = next < text.size() ? kDigits.find(text[next++]) : std::string_view::npos;
    if (value == std::string_view::npos)
      throw Error("{}: the witness is too short or has a letter that is no digit", place);
    return static_cast<std::int64_t>(value);
  };
  each_delivery(instance, [&](std::int32_t item, Rank to) {
    const Time begin = birth(instance, item) + Time{digit()};
    schedule.sends.push_back(send_item(begin, Rank{static_cast<std::int32_t>(digit())}, to, item));
  });
  if (next != text.size()) throw Error("{}: the witness is too long", place);
}

using Numbers = std::vector<std::int64_t>;

/// N n L o g gamma publish read
Instance on_cluster(Kind kind, const Numbers& numbers) {
  const std::int64_t N = numbers[0], n = numbers[1];
  const auto time = [&](std::size_t i) { return Time{numbers[i]}; };
  if (N < 1 || n < 1 || N > kBase || n > kBase || N * n > kBase)
    throw Error("{} nodes of {} ranks: at most {} ranks together", N, n, kBase);
  const Cluster cluster = Cluster::uniform(N, n, {1, time(2), time(3), time(4)}, time(5), time(6), time(7));
  chasqui::validate(cluster);
  return {.machine = cluster.base, .problem = {.kind = kind}, .nodes = cluster.nodes};
}

/// P L o g k; for a stream k is the period.
Instance without_nodes(const std::string& family, const Numbers& numbers) {
  Instance instance{.machine = {numbers[0], Time{numbers[1]}, Time{numbers[2]}, Time{numbers[3]}}, .problem = {}};
  instance.single_sending = family == "single";
  if (family == "allgather") instance.problem.kind = Kind::allgather;
  if (family == "alltoall") instance.problem.kind = Kind::alltoall;
  if (family == "stream") {
    instance.problem.kind = Kind::stream;
    instance.period = Time{numbers[4]};
  } else {
    instance.problem.items = numbers[4];
  }
  if (family_of(instance) != family) throw Error("unknown family '{}': {}", family, fmt::join(atlas_families(), ", "));
  validate(instance);
  return instance;
}

}  // namespace

std::string family_of(const Instance& instance) {
  if (!instance.nodes.empty()) return fmt::format("cluster-{}", to_string(instance.problem.kind));
  if (instance.problem.kind == Kind::broadcast && instance.single_sending) return "single";
  return std::string(to_string(instance.problem.kind));
}

std::optional<Kind> cluster_kind(std::string_view family) {
  for (const Kind kind : kOnClusters) {
    if (family == fmt::format("cluster-{}", to_string(kind))) return kind;
  }
  return std::nullopt;
}

const std::vector<std::string>& atlas_families() {
  static const std::vector<std::string> families = [] {
    std::vector<std::string> all{"broadcast", "single", "allgather", "alltoall", "stream"};
    for (const Kind kind : kOnClusters) all.push_back(fmt::format("cluster-{}", to_string(kind)));
    return all;
  }();
  return families;
}

std::string to_line(const AtlasEntry& entry) {
  const Instance& instance = entry.instance;
  const LogP& m = instance.machine;
  if (const Nodes& nodes = instance.nodes; !nodes.empty()) {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", family_of(instance), nodes.count(), nodes.largest(),
                       m.L.ticks, m.o.ticks, m.g.ticks, nodes.gamma.ticks, nodes.publish.ticks, nodes.read.ticks,
                       entry.finish.ticks, entry.bound.ticks, to_string(entry.evidence), events_text(entry.witness));
  }
  const std::int64_t k = instance.problem.kind == Kind::stream ? instance.period.ticks : instance.problem.items;
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", family_of(instance), m.P, m.L.ticks, m.o.ticks, m.g.ticks, k,
                     entry.finish.ticks, entry.bound.ticks, to_string(entry.evidence), witness_text(entry));
}

AtlasEntry entry_from_line(std::string_view line, const std::string& place) {
  std::istringstream words{std::string(line)};
  std::string family, proof, witness, rest;
  words >> family;
  const std::optional<Kind> kind = cluster_kind(family);
  Numbers numbers(kind ? 8 : 5);
  for (std::int64_t& number : numbers) words >> number;
  AtlasEntry entry;
  if (!(words >> entry.finish.ticks >> entry.bound.ticks >> proof >> witness) || words >> rest)
    throw Error("{}: not a line of the atlas: family {} witness", place,
                kind ? "N n L o g gamma publish read finish bound argument|search"
                     : "P L o g k finish bound argument|traffic|search");
  try {
    entry.instance = kind ? on_cluster(*kind, numbers) : without_nodes(family, numbers);
  } catch (const Error& error) {
    throw Error("{}: {}", place, error.what());
  }
  entry.evidence = evidence_of(proof, place);
  entry.witness.machine = entry.instance.machine;
  entry.witness.nodes = entry.instance.nodes;
  entry.witness.problem = entry.instance.problem;
  entry.witness.period = entry.instance.period;
  entry.witness.bound = entry.bound;
  (entry.instance.problem.kind == Kind::stream ? entry.witness.delay : entry.witness.finish) = entry.finish;
  kind ? read_events(witness, entry.witness, place) : read_deliveries(witness, entry.instance, entry.witness, place);
  normalise(entry.witness);
  return entry;
}

}  // namespace chasqui::solve
