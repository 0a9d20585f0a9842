// SPDX-License-Identifier: MIT
// The registry of named constructions.
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/published/block_cyclic.hpp"
#include "plan/stream/compose.hpp"
#include "plan/stream/layout.hpp"

namespace chasqui::plan {

using namespace stream_detail;

namespace {

void require(const LogP& machine, Rank root, bool holds, const char* needs) {
  validate(machine);
  validate(Problem{.kind = Kind::stream, .root = root}, machine);
  if (!machine.is_postal() || machine.P < 3 || !holds)
    throw Error("{}: this construction needs {}", to_string(machine), needs);
}

StreamPtr play(const LogP& machine, Rank root, const std::optional<Recipe>& recipe, const char* construction) {
  if (!recipe) throw Error("{}: this construction finds no schedule here (use stream instead)", to_string(machine));
  CHASQUI_CHECK(is_sound(*recipe, machine.P - 1), "{}: {}", construction, to_string(machine));
  Claim claim = make_stream(machine.P, machine.L.ticks, root.index)->claim();  // the same bound
  claim.finish = machine.L + Time{recipe->t};
  claim.construction = construction;
  return block_stream(machine.P, machine.L.ticks, root.index, lay_out(*recipe), claim);
}

bool is_nice(const LogP& machine) {
  const TreeShape shape = broadcast_shape(machine);
  return machine.P >= 2 && reach(shape, broadcast_time(shape, machine.P - 1)) == machine.P - 1;
}

StreamPtr induction(const LogP& machine, Rank root) {
  require(machine, root, machine.L >= Time{3} && machine.L <= Time{24} && is_nice(machine),
          "the postal machine, 3 <= L <= 24 and P-1 = f_t");
  return play(machine, root, block_cyclic(machine.L.ticks, machine.P - 1), "block-cyclic by induction (SPAA 3.3)");
}

StreamPtr pruning(const LogP& machine, Rank root) {
  require(machine, root, machine.L == Time{2} && is_nice(machine) && machine.P <= 20'000,
          "the postal machine, L = 2 and P-1 = f_t below 20000");
  return play(machine, root, pruned_two(machine.P - 1), "pruned tree one step higher (SPAA Theorem 3.5)");
}

StreamPtr waiting(const LogP& machine, Rank root) {
  require(machine, root, machine.L >= Time{2} && machine.L < Time{kMaxStreamLatency},
          "the postal machine, 2 <= L < 10^9 and P >= 3");
  const StreamPtr slower = make_stream(machine.P, machine.L.ticks + 1, root.index);
  if (slower->layout() == nullptr) throw Error("{}: no block-cyclic stream of latency L+1", to_string(machine));
  Claim claim = make_stream(machine.P, machine.L.ticks, root.index)->claim();
  claim.finish = machine.L + Time{slower->layout()->t};
  claim.construction = "the stream of latency L+1, every node waits a step";
  return block_stream(machine.P, machine.L.ticks, root.index, *slower->layout(), claim);
}

}  // namespace

const std::vector<StreamAlgorithm>& stream_algorithms() {
  static const std::vector<StreamAlgorithm> table = {
      {"stream", "the best stream known, cut after k items: delay L + B(P-1) wherever that is known to be possible",
       false, [](const LogP& m, std::int64_t k, Rank root) { return stream_window(m, k, root); },
       [](const LogP& m, Rank root) { return stream(m, root); }},
      {"block-cyclic", "induction from L base cases with a receive-only rank that gets b (SPAA 3.3); P-1 = f_t, L >= 3",
       false, [](const LogP& m, std::int64_t k, Rank root) { return stream_window(m, induction(m, root), k); },
       [](const LogP& m, Rank root) { return stream_plan(m, induction(m, root)); }},
      {"single-sending", "blocks serve each other in an endgame, B(P-1) + 2L + k - 2 (SPAA 3.4); P-1 = f_t, L odd",
       false, &single_sending, nullptr},
      {"buffered", "a leaf may wait in a buffer, B(P-1) + L + k - 1 for every P and L (SPAA 3.5)", true,
       &buffered_items, nullptr},
      {"pruning", "the tree one step higher, pruned (SPAA Theorem 3.5); L = 2, P-1 = f_t", false,
       [](const LogP& m, std::int64_t k, Rank root) { return stream_window(m, pruning(m, root), k); },
       [](const LogP& m, Rank root) { return stream_plan(m, pruning(m, root)); }},
      {"simple", "the tree of latency L+1, leaves shared out at will but cyclically, buffers (SV 6)", true,
       &simple_items, nullptr},
      {"waiting", "the stream of latency L+1 with every node waiting a step: SV 6 without buffers", false,
       [](const LogP& m, std::int64_t k, Rank root) { return stream_window(m, waiting(m, root), k); },
       [](const LogP& m, Rank root) { return stream_plan(m, waiting(m, root)); }},
  };
  return table;
}

const StreamAlgorithm& stream_algorithm(std::string_view name) {
  for (const StreamAlgorithm& algorithm : stream_algorithms()) {
    if (algorithm.name == name) return algorithm;
  }
  std::string names;
  for (const StreamAlgorithm& algorithm : stream_algorithms()) {
    names += names.empty() ? "" : ", ";
    names += algorithm.name;
  }
  throw Error("algorithm '{}' is unknown; there are binomial, chain, flat, {}", name, names);
}

}  // namespace chasqui::plan
