// SPDX-License-Identifier: MIT
#include <algorithm>

#include "run/messages/script.hpp"

namespace chasqui::run {

std::vector<Step> steps_of(const Script& script) {
  std::vector<Step> steps;
  steps.reserve(script.form.sends.size() + script.form.receives.size());
  const auto sign = script.reversed ? -1 : 1;
  for (const Send& send : script.form.sends) {
    steps.push_back({sign * send.begin, script.reversed, send.to.index, send.part, send.second});
  }
  for (const Send& send : script.form.receives) {
    steps.push_back(
        {sign * available(script.machine, send), !script.reversed, send.from.index, send.part, send.second});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.at != b.at ? a.at < b.at : a.receives > b.receives; });
  return steps;
}

}  // namespace chasqui::run
