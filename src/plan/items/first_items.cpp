// SPDX-License-Identifier: MIT
// k items as the first k of a stream.
#include <fmt/core.h>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "plan/listed_plan.hpp"
#include "plan/postal_step.hpp"

namespace chasqui::plan {
namespace {

class FirstItems final : public Plan {
 public:
  FirstItems(const LogP& machine, const Problem& problem, Claim claim, StreamPtr stream, PostalStep step)
      : Plan(machine, problem, std::move(claim)), stream_(std::move(stream)), step_(step) {}

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for (std::int64_t time = 0; time < stream_->delay().ticks + problem_.items; ++time) {
      const auto sent = stream_->sent(rank.index, Time{time});
      if (sent && sent->item < problem_.items) form.sends.push_back(in_steps(*sent, step_));
      const auto received = stream_->received(rank.index, Time{time});
      if (received && received->item < problem_.items) form.receives.push_back(in_steps(*received, step_));
    }
    return form;
  }

  Schedule schedule() const override {
    if (saturating_multiply(machine_.P, problem_.items) > 1'000'000'000) {
      throw Error("P={} times {} items is too much to list; use the local form", machine_.P, problem_.items);
    }
    Schedule schedule = empty_schedule();
    for (std::int64_t item = 0; item < problem_.items; ++item) {
      for (const StreamMessage& message : stream_->messages_of(item)) {
        schedule.sends.push_back(in_steps(message, step_));
      }
    }
    normalise(schedule);
    return schedule;
  }

 private:
  StreamPtr stream_;
  PostalStep step_;
};

}  // namespace

PlanPtr stream_window(const LogP& machine, StreamPtr stream, std::int64_t items) {
  validate(machine);
  const PostalStep step = step_of(machine, *stream);
  if (items < 1 || items > 2'000'000'000) throw Error("items={} is out of range: 1..2000000000", items);
  const Problem problem{.kind = Kind::broadcast, .root = {static_cast<std::int32_t>(stream->root())}, .items = items};
  const std::int64_t last = stream->delay().ticks + items - 1 - step.L;
  const Bound bound = least_kitem_time(machine, items);
  Claim claim{last * step.step + machine.lambda(), bound.time, bound.source,
              "the first items of a stream: " + stream->claim().construction};
  if (!machine.is_postal()) claim.construction += fmt::format(", in steps of {} ticks", step.step.ticks);
  return std::make_shared<FirstItems>(machine, problem, std::move(claim), std::move(stream), step);
}

PlanPtr stream_window(const LogP& machine, std::int64_t items, Rank root) {
  validate(machine);
  const Problem problem{.kind = Kind::broadcast, .root = root, .items = items};
  validate(problem, machine);
  if (machine.P == 1) return nothing_to_do(machine, problem);
  return stream_window(machine, make_stream(machine.P, postal_steps(machine).front().L, root.index), items);
}

}  // namespace chasqui::plan
