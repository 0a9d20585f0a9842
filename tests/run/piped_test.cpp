// SPDX-License-Identifier: MIT
// Long values in items, whose boards work while messages are under way.
#include "run/messages/piped.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "chasqui/model/profile.hpp"
#include "play_of_all.hpp"

namespace chasqui::run {
namespace {

RC_GTEST_PROP(Piped, ItemsOfAllRanksMeet, ()) {
  Nodes nodes;
  const int N = *rc::gen::inRange(2, 10);
  for (int i = 0; i < N; ++i) nodes.add(*rc::gen::inRange(1, 5), 1);
  const Shape call{.kind = *rc::gen::element(Kind::broadcast, Kind::reduce, Kind::allreduce),
                   .root = *rc::gen::inRange(0, static_cast<int>(nodes.ranks())),
                   .count = static_cast<std::size_t>(*rc::gen::inRange(20, 300))};
  const int items = *rc::gen::inRange(2, 20);
  Level level = default_profile().levels.back();
  level.L = Estimate::exactly(*rc::gen::inRange(0, 3000));
  level.o_s = level.o_r = level.g = Estimate::exactly(*rc::gen::inRange(1, 500));
  level.G = Estimate::exactly(*rc::gen::inRange(0, 10));
  level.shares_bandwidth = *rc::gen::arbitrary<bool>();
  const double busy = *rc::gen::inRange(0, 2000);
  const auto program = [&](const Shape& shape, const std::vector<int>& names) {
    return piped_program(shape, nodes, names, items, level, [&](Kind) { return busy; });
  };
  const std::string wrong = Play(nodes, call, *rc::gen::arbitrary<bool>(), program).run();
  if (!wrong.empty())
    RC_FAIL(wrong + ": " + std::string(to_string(call.kind)) + " to or from " + std::to_string(call.root) + " of " +
            std::to_string(N) + " nodes, " + std::to_string(items) + " items");
}

}  // namespace
}  // namespace chasqui::run
