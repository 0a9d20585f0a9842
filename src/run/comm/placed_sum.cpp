// SPDX-License-Identifier: MIT
#include <algorithm>

#include "chasqui/run/sum.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/messages/outstanding.hpp"

namespace chasqui::run {

Task sum_placed(Group group, LocalForm form, const std::byte* mine, std::byte* total, RunOfOperands how) {
  if (form.operands == 0) co_return;
  const std::size_t element = how.element;
  Room room = room_for(form.receives.size() * element);
  Outstanding messages(group);
  for (std::size_t i = 0; i < form.receives.size(); ++i) {
    messages.receive(form.receives[i].from.index, bytes_of(room) + i * element, element);
  }
  // What is folded first stands right-most: own operands from the last on, between them the subtrees that report.
  auto left = static_cast<std::size_t>(form.operands) - 1;
  copy_bytes(total, mine + left * element, element);
  for (const Add& add : form.adds) {
    if (add.from == form.rank) {
      const std::size_t count = std::min(left, static_cast<std::size_t>(add.count));
      left -= count;
      how.fold(how.op, mine + left * element, count, total);
      continue;
    }
    const auto from = std::find_if(form.receives.begin(), form.receives.end(),
                                   [&](const Send& send) { return send.from == add.from; });
    const auto i = static_cast<std::size_t>(from - form.receives.begin());
    co_await messages.complete(i);
    how.fold(how.op, bytes_of(room) + i * element, 1, total);
  }
  CHASQUI_CHECK(left == 0, "rank {}: the plan adds all but {} of {} operands", form.rank.index, left, form.operands);
  for (const Send& send : form.sends) co_await messages.complete(messages.send(send.to.index, total, element));
}

}  // namespace chasqui::run
