// SPDX-License-Identifier: MIT
// An activity chart of an all-gather as SVG on standard output.
#include <chasqui/plan/allgather.hpp>
#include <chasqui/show/draw.hpp>
#include <cstdio>

int main() {
  using namespace chasqui;
  const plan::PlanPtr plan = plan::allgather({.P = 6, .L = Time{5}, .o = Time{1}, .g = Time{2}});
  std::puts(show::to_svg(plan->schedule(), show::Picture::chart).c_str());
}
