// SPDX-License-Identifier: MIT
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {

Program sum_program(const LocalForm& form, std::size_t element) {
  Program program;
  if (form.operands == 0) return program;
  constexpr Address mine{Memory::input, 0}, total{Memory::output, 0};
  const Address arrived = program.more_scratch(form.receives.size() * element);
  for (std::size_t i = 0; i < form.receives.size(); ++i) {
    program.post(form.receives[i].from.index, {arrived + i * element, element});
  }
  // What is folded first stands right-most: own operands from the last on, between them the subtrees that report.
  auto left = static_cast<std::size_t>(form.operands) - 1;
  program.copy(total, {mine + left * element, element});
  for (const Add& add : form.adds) {
    if (add.from == form.rank) {
      const std::size_t count = std::min(left, static_cast<std::size_t>(add.count));
      left -= count;
      program.fold(mine + left * element, total, total, count);
      continue;
    }
    const auto from = std::find_if(form.receives.begin(), form.receives.end(),
                                   [&](const Send& send) { return send.from == add.from; });
    CHASQUI_CHECK(from != form.receives.end(), "rank {} adds what rank {} never sends", form.rank.index,
                  add.from.index);
    const auto i = from - form.receives.begin();
    program.arrive(static_cast<std::int32_t>(i));
    program.fold(arrived + static_cast<std::size_t>(i) * element, total, total, 1);
  }
  CHASQUI_CHECK(left == 0, "rank {}: the plan adds all but {} of {} operands", form.rank.index, left, form.operands);
  for (const Send& send : form.sends) program.send(send.to.index, {total, element});
  program.finish();
  return program;
}

}  // namespace chasqui::run
