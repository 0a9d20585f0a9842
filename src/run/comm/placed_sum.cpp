// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"
#include "chasqui/run/sum.hpp"
#include "run/comm/engine.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"
#include "run/messages/tags.hpp"

namespace chasqui::run {
namespace {

void check_machine(Comm& comm, const plan::SumPlan& plan) {
  if (plan.machine().P == comm.size()) return;
  comm.refuse(fmt::format("sum: the plan is for {} ranks, this communicator has {}", plan.machine().P, comm.size()));
}

void check_operands(Comm& comm, std::size_t planned, std::size_t count) {
  if (planned == count) return;
  comm.refuse(fmt::format("sum: rank {} brings {} operands where the plan has {}", comm.rank(), count, planned));
}

/// REQUIRES that `how` outlives it.
Operator folds(const RunOfOperands& how) {
  Operator op;
  op.context = const_cast<RunOfOperands*>(&how);
  op.combine = [](void* context, const void* first, const void*, void* fold, std::size_t count) {
    const auto& run = *static_cast<const RunOfOperands*>(context);
    run.fold(run.op, first, count, fold);
  };
  return op;
}

Task sum_placed(Group group, LocalForm form, Buffers buffers, RunOfOperands how) {
  auto program = std::make_shared<const Program>(sum_program(form, how.element));
  co_await play(std::move(group), std::move(program), buffers, folds(how));
}

}  // namespace

Request Engine::start_sum(const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
                          const RunOfOperands& how, std::shared_ptr<const void> kept) {
  return or_broken([&] {
    check_machine(*this, plan);
    LocalForm form = plan.local({rank_});
    check_operands(*this, static_cast<std::size_t>(form.operands), count);
    const auto make = [&](Group group) { return sum_placed(std::move(group), std::move(form), {mine, total}, how); };
    return launch(make, std::move(kept));
  });
}

PlanCache::PlacedSum& Engine::planned_sum(const plan::SumPlan& plan, std::size_t element) {
  const auto make = [&] {
    const LocalForm form = plan.local({rank_});
    PlanCache::PlacedSum made{plan.weak_from_this(),
                              static_cast<std::size_t>(form.operands),
                              std::make_shared<const Program>(sum_program(form, element)),
                              {}};
    if (made.keeps_scratch()) made.scratch.fit(*made.program);
    return made;
  };
  PlanCache::PlacedSum& known = plans_.sums.get({&plan, element}, make);
  if (known.plan.lock().get() != &plan) known = make();
  return known;
}

void Engine::run_sum(const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
                     const RunOfOperands& how) {
  check_usable();
  const bool plays = fabric_.messages != nullptr && !fabric_.timing.blocks && in_flight_.none();
  if (!plays) return start_sum(plan, mine, count, total, how, nullptr).wait();
  check_machine(*this, plan);
  PlanCache::PlacedSum& known = or_broken([&]() -> PlanCache::PlacedSum& { return planned_sum(plan, how.element); });
  check_operands(*this, known.operands, count);
  Scratch own;
  if (!known.keeps_scratch()) or_broken([&] { own.fit(*known.program); });
  const std::uint64_t number = health_.next();
  note(number, Signature::own());
  play_to_end(number, *known.program, tasks_.all_ranks(tag_of_own(number)), {mine, total}, folds(how),
              known.keeps_scratch() ? known.scratch : own);
}

Request start_sum(Comm& comm, const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
                  RunOfOperands how, std::shared_ptr<const void> kept) {
  return Engine::of(comm).start_sum(plan, mine, count, total, how, std::move(kept));
}

void run_sum(Comm& comm, const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
             RunOfOperands how) {
  Engine::of(comm).run_sum(plan, mine, count, total, how);
}

}  // namespace chasqui::run
