// SPDX-License-Identifier: MIT
#include "chasqui/run/sum.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"

namespace chasqui::run {

Task sum_placed(Group group, LocalForm form, const std::byte* mine, std::byte* total, RunOfOperands how) {
  Operator op;
  op.context = &how;
  op.combine = [](void* context, const void* first, const void*, void* fold, std::size_t count) {
    const auto& run = *static_cast<const RunOfOperands*>(context);
    run.fold(run.op, first, count, fold);
  };
  auto program = std::make_shared<const Program>(sum_program(form, how.element));
  co_await play(std::move(group), std::move(program), {mine, total}, op);
}

}  // namespace chasqui::run
