// SPDX-License-Identifier: MIT
// One line of the atlas, written and read.
#include <optional>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::int64_t kBase = 62;

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

Instance instance_of(const std::string& name, const LogP& machine, std::int64_t k, const std::string& place) {
  Instance instance{.machine = machine, .problem = {}};
  instance.single_sending = name == "single";
  if (name == "allgather") instance.problem.kind = Kind::allgather;
  if (name == "alltoall") instance.problem.kind = Kind::alltoall;
  if (name == "stream") {
    instance.problem.kind = Kind::stream;
    instance.period = Time{k};
  } else {
    instance.problem.items = k;
  }
  if (family_of(instance) != name) throw Error("{}: unknown family '{}': {}", place, name, kAtlasFamilies);
  return instance;
}

Evidence evidence_of(const std::string& word, const std::string& place) {
  for (const Evidence evidence : {Evidence::argument, Evidence::traffic, Evidence::search}) {
    if (word == to_string(evidence)) return evidence;
  }
  throw Error("{}: not a line of the atlas: the bound rests on argument, traffic or search, not on '{}'", place, word);
}

/// Events of a schedule on a cluster: one list of numbers each.
std::string events_text(const Schedule& schedule) {
  std::string text;
  const auto write = [&](const Part& second, std::initializer_list<std::int64_t> numbers) {
    if (second.len != 0) throw Error("{}: a line has no room for two values", to_string(schedule.problem.kind));
    for (const std::int64_t number : numbers) {
      if (number < 0 || number >= kBase)
        throw Error("{} is no digit in base {}: a line has no room for it: ask for a smaller cluster", number, kBase);
      text += kDigits[static_cast<std::size_t>(number)];
    }
  };
  for (const Send& s : schedule.sends)
    write(s.second, {s.begin.ticks, s.from.index, s.to.index, s.part.lo, s.part.len});
  text += '.';
  for (const Publication& p : schedule.publications)
    write(p.second, {p.begin.ticks, p.rank.index, p.part.lo, p.part.len});
  text += '.';
  for (const Reading& r : schedule.readings)
    write(r.second, {r.begin.ticks, r.rank.index, r.from.index, r.part.lo, r.part.len});
  return text;
}

/// Puts them into the schedule.
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
  if (lists.size() != 3 || lists[0].size() % 5 != 0 || lists[1].size() % 4 != 0 || lists[2].size() % 5 != 0)
    throw Error("{}: the witness is too short or too long", place);
  for (auto d = lists[0].begin(); d != lists[0].end(); d += 5)
    schedule.sends.push_back({Time{d[0]}, Rank{d[1]}, Rank{d[2]}, Part{d[3], d[4]}});
  for (auto d = lists[1].begin(); d != lists[1].end(); d += 4)
    schedule.publications.push_back({Time{d[0]}, Rank{d[1]}, Part{d[2], d[3]}});
  for (auto d = lists[2].begin(); d != lists[2].end(); d += 5)
    schedule.readings.push_back({Time{d[0]}, Rank{d[1]}, Rank{d[2]}, Part{d[3], d[4]}});
  normalise(schedule);
}

AtlasEntry cluster_entry(Kind kind, std::istringstream& words, const std::string& place) {
  std::string proof, witness, rest;
  std::int64_t N = 0, n = 0, L = 0, o = 0, g = 0, gamma = 0, publish = 0, read = 0, finish = 0, bound = 0;
  if (!(words >> N >> n >> L >> o >> g >> gamma >> publish >> read >> finish >> bound >> proof >> witness) ||
      words >> rest) {
    throw Error("{}: not a line of the atlas: family N n L o g gamma publish read finish bound argument|search witness",
                place);
  }
  if (N < 1 || n < 1 || N > kBase || n > kBase || N * n > kBase)
    throw Error("{}: {} nodes of {} ranks: at most {} ranks together", place, N, n, kBase);
  const Cluster c = Cluster::uniform(N, n, {1, Time{L}, Time{o}, Time{g}}, Time{gamma}, Time{publish}, Time{read});
  try {
    chasqui::validate(c);
  } catch (const Error& error) {
    throw Error("{}: {}", place, error.what());
  }
  AtlasEntry entry;
  entry.instance = {.machine = c.base, .problem = {.kind = kind}, .nodes = c.nodes};
  entry.finish = Time{finish};
  entry.bound = Time{bound};
  entry.evidence = evidence_of(proof, place);
  entry.witness.machine = c.base;
  entry.witness.nodes = c.nodes;
  entry.witness.problem = entry.instance.problem;
  entry.witness.finish = entry.finish;
  entry.witness.bound = entry.bound;
  read_events(witness, entry.witness, place);
  return entry;
}

}  // namespace

std::string family_of(const Instance& instance) {
  if (!instance.nodes.empty()) return fmt::format("cluster-{}", to_string(instance.problem.kind));
  if (instance.problem.kind == Kind::broadcast && instance.single_sending) return "single";
  return std::string(to_string(instance.problem.kind));
}

std::optional<Kind> cluster_kind(std::string_view family) {
  for (const Kind kind : {Kind::broadcast, Kind::scatter, Kind::gather, Kind::allgather, Kind::alltoall}) {
    if (family == fmt::format("cluster-{}", to_string(kind))) return kind;
  }
  return std::nullopt;
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
  std::string name, proof, witness, rest;
  std::int64_t P = 0, L = 0, o = 0, g = 0, k = 0, finish = 0, bound = 0;
  words >> name;
  if (const std::optional<Kind> kind = cluster_kind(name)) return cluster_entry(*kind, words, place);
  if (!(words >> P >> L >> o >> g >> k >> finish >> bound >> proof >> witness) || words >> rest) {
    throw Error("{}: not a line of the atlas: family P L o g k finish bound argument|traffic|search witness", place);
  }
  AtlasEntry entry;
  entry.instance = instance_of(name, {P, Time{L}, Time{o}, Time{g}}, k, place);
  try {
    validate(entry.instance);
  } catch (const Error& error) {
    throw Error("{}: {}", place, error.what());
  }
  entry.finish = Time{finish};
  entry.bound = Time{bound};
  entry.evidence = evidence_of(proof, place);
  entry.witness.machine = entry.instance.machine;
  entry.witness.problem = entry.instance.problem;
  entry.witness.period = entry.instance.period;
  entry.witness.bound = entry.bound;
  (entry.instance.problem.kind == Kind::stream ? entry.witness.delay : entry.witness.finish) = entry.finish;
  std::size_t next = witness == "-" ? 1 : 0;
  const auto digit = [&]() -> std::int64_t {
    const std::size_t value = next < witness.size() ? kDigits.find(witness[next++]) : std::string_view::npos;
    if (value == std::string_view::npos)
      throw Error("{}: the witness is too short or has a letter that is no digit", place);
    return static_cast<std::int64_t>(value);
  };
  each_delivery(entry.instance, [&](std::int32_t item, Rank to) {
    const Time begin = birth(entry.instance, item) + Time{digit()};
    entry.witness.sends.push_back(send_item(begin, Rank{static_cast<std::int32_t>(digit())}, to, item));
  });
  if (next != witness.size()) throw Error("{}: the witness is too long", place);
  normalise(entry.witness);
  return entry;
}

}  // namespace chasqui::solve
