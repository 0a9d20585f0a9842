// SPDX-License-Identifier: MIT
// Legal schedules, damaged at random: the verifier must name exactly the rules that a naive second verifier
// names.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "verify/any.hpp"
#include "verify/legal_examples.hpp"
#include "verify/oracle.hpp"

namespace chasqui {
namespace {

Schedule any_legal() {
  const LogP machine{any(1, 10), Time{any(0, 5)}, Time{any(0, 4)}, Time{any(1, 6)}};
  if (machine.lambda() == Time{0}) return examples::greedy_broadcast(LogP::postal(machine.P, Time{1}), Rank{0});
  const Rank root{any(0, static_cast<int>(machine.P))};
  switch (any(0, 17)) {
    case 0: return examples::greedy_broadcast(machine, root);
    case 1: return examples::reversed_reduce(machine, true);
    case 2: return examples::reversed_reduce(machine, false);
    case 3: return examples::star_scatter(machine, root);
    case 4: return examples::star_gather(machine, root);
    case 5: return examples::rotating_allgather(machine.P, machine.L + Time{1});
    case 6: return examples::doubling_allreduce(machine);
    case 7: return examples::ordered_allreduce(machine);
    case 8: return examples::doubling_scan(machine, any(0, 2) == 0);
    case 9: return examples::dissemination_barrier(machine);
    case 10: return examples::rotating_alltoall(machine, any(1, 3));
    case 11: return examples::alltoall_round_the_ring({any(1, 6), machine.L, machine.o, machine.g});
    case 12: return examples::ring_reduce_scatter(machine, any(1, 3), true);
    case 13: return examples::ring_reduce_scatter(machine, any(1, 3), false);
    case 14: return examples::ring_allreduce({any(2, 7), machine.L, machine.o, machine.g}, any(1, 3), true);
    case 15: return examples::ring_allreduce({any(2, 7), machine.L, machine.o, machine.g}, any(1, 3), false);
    default: return examples::star_sum(machine);
  }
}

void damage_send(Schedule& s) {
  if (s.sends.empty()) return;
  const auto P = static_cast<int>(s.machine.P);
  Send& send = s.sends[static_cast<std::size_t>(any(0, static_cast<int>(s.sends.size())))];
  switch (any(0, 9)) {
    case 0: send.begin += Time{any(-4, 5)}; break;
    case 1: send.from = Rank{any(-1, P + 1)}; break;
    case 2: send.to = Rank{any(-1, P + 1)}; break;
    case 3: send.part.lo = any(-1, s.problem.kind == Kind::alltoall ? P * P + 1 : P + 1); break;
    case 4: send.part.len += any(-1, 2); break;
    case 5: s.sends.erase(s.sends.begin() + (&send - s.sends.data())); break;
    case 6: s.sends.push_back(send); break;
    case 7: std::swap(send.part, s.sends.front().part); break;
    default: send.second = {any(0, P), names_items(s.problem) ? 0 : any(0, 3)}; break;
  }
}

void damage_add(Schedule& s) {
  if (s.adds.empty()) return;
  Add& add = s.adds[static_cast<std::size_t>(any(0, static_cast<int>(s.adds.size())))];
  switch (any(0, 5)) {
    case 0: add.begin += Time{any(-3, 4)}; break;
    case 1: add.count += any(-1, 2); break;
    case 2: add.from = Rank{any(-1, static_cast<int>(s.machine.P) + 1)}; break;
    case 3: s.adds.erase(s.adds.begin() + (&add - s.adds.data())); break;
    default: s.operands[static_cast<std::size_t>(add.rank.index)] += any(-1, 2); break;
  }
}

RC_GTEST_PROP(Mutation, TheSameRulesAreBrokenForANaiveVerifier, ()) {
  Schedule s = any_legal();
  RC_ASSERT(verify(s).legal());
  for (int n = any(1, 4); n > 0; --n) {
    if (any(0, 3) == 0) damage_add(s);
    else damage_send(s);
  }
  if (any(0, 2) == 0) s.finish = actual_finish(s);
  if (any(0, 10) == 0) s.machine.g += Time{1};
  if (any(0, 10) == 0) s.problem.root = Rank{0};
  const Report report = verify(s);
  const unsigned expected = oracle::broken_rules(s);
  if (rules_in(report) != expected) {
    RC_LOG() << to_json(s) << to_string(report) << "expected rules " << expected << "\n";
  }
  RC_ASSERT(rules_in(report) == expected);
}

}  // namespace
}  // namespace chasqui
