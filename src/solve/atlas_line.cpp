// SPDX-License-Identifier: MIT
// One line of the atlas, written and read.
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::int64_t kBase = 62;

std::string family(const Instance& instance) {
  if (instance.problem.kind == Kind::broadcast && instance.single_sending) return "single";
  return std::string(to_string(instance.problem.kind));
}

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
  if (family(instance) != name)
    throw Error("{}: unknown family '{}': broadcast, single, allgather, alltoall or stream", place, name);
  return instance;
}

Evidence evidence_of(const std::string& word, const std::string& place) {
  for (const Evidence evidence : {Evidence::argument, Evidence::traffic, Evidence::search}) {
    if (word == to_string(evidence)) return evidence;
  }
  throw Error("{}: not a line of the atlas: the bound rests on argument, traffic or search, not on '{}'", place, word);
}

}  // namespace

std::string to_line(const AtlasEntry& entry) {
  const Instance& instance = entry.instance;
  const LogP& m = instance.machine;
  const std::int64_t k = instance.problem.kind == Kind::stream ? instance.period.ticks : instance.problem.items;
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", family(instance), m.P, m.L.ticks, m.o.ticks, m.g.ticks, k,
                     entry.finish.ticks, entry.bound.ticks, to_string(entry.evidence), witness_text(entry));
}

AtlasEntry entry_from_line(std::string_view line, const std::string& place) {
  std::istringstream words{std::string(line)};
  std::string name, proof, witness, rest;
  std::int64_t P = 0, L = 0, o = 0, g = 0, k = 0, finish = 0, bound = 0;
  if (!(words >> name >> P >> L >> o >> g >> k >> finish >> bound >> proof >> witness) || words >> rest) {
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
