// SPDX-License-Identifier: MIT
#include "measure/turns.hpp"

namespace chasqui::measure {

std::vector<double> timed_rounds(CommonStart& start, int rounds, const std::function<void()>& body) {
  for (int i = 0; i < rounds / 10 + 2; ++i) body();
  std::vector<double> spans;
  for (int i = 0; i < rounds; ++i) spans.push_back(start.once(body));
  return spans;
}

Turns take_turns(const std::function<std::vector<double>()>& a, const std::function<std::vector<double>()>& b) {
  std::vector<double> all_a, all_b, ratios;
  for (int i = 0; i < kSlices; ++i) {
    std::vector<double> times_a, times_b;
    if (i % 2 == 0) times_a = a();
    times_b = b();
    if (i % 2 != 0) times_a = a();
    if (times_a.empty() || times_b.empty()) continue;
    all_a.insert(all_a.end(), times_a.begin(), times_a.end());
    all_b.insert(all_b.end(), times_b.begin(), times_b.end());
    ratios.push_back(Quartiles::of(std::move(times_a)).median / Quartiles::of(std::move(times_b)).median);
  }
  if (ratios.empty()) return {};
  return {Quartiles::of(std::move(all_a)), Quartiles::of(std::move(all_b)), Quartiles::of(std::move(ratios))};
}

}  // namespace chasqui::measure
