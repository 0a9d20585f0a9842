// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"
#include "chasqui/run/sum.hpp"
#include "run/comm/fabric.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"

namespace chasqui::run {
namespace {

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

}  // namespace

Request start_sum(Comm& comm, const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
                  RunOfOperands how, std::shared_ptr<const void> kept) {
  if (plan.machine().P != comm.size()) {
    comm.refuse(fmt::format("sum: the plan is for {} ranks, this communicator has {}", plan.machine().P, comm.size()));
  }
  LocalForm form = plan.local({comm.rank()});
  if (form.operands != static_cast<std::int64_t>(count)) {
    comm.refuse(
        fmt::format("sum: rank {} brings {} operands where the plan has {}", comm.rank(), count, form.operands));
  }
  const auto make = [&](Group group) {
    return sum_placed(std::move(group), std::move(form), static_cast<const std::byte*>(mine),
                      static_cast<std::byte*>(total), how);
  };
  return launch(comm, make, std::move(kept));
}

}  // namespace chasqui::run
