// SPDX-License-Identifier: MIT
// A stream as a plan: one period of the steady state.
#include <fmt/core.h>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/postal_step.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostMessages = 50'000'000;

Rank to_rank(std::int64_t rank) { return {static_cast<std::int32_t>(rank)}; }

class StreamPlan final : public Plan {
 public:
  StreamPlan(const LogP& machine, StreamPtr stream, PostalStep step, Claim claim)
      : Plan(machine, {.kind = Kind::stream, .root = to_rank(stream->root())}, std::move(claim)),
        stream_(std::move(stream)), step_(step) {}

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t period = listed_period(1);
    for (std::int64_t time = 0; time < period; ++time) {
      if (const auto message = stream_->pattern_sent(rank.index, time)) form.sends.push_back(in_steps(*message, step_));
      const auto message = stream_->pattern_received(rank.index, time + stream_->L());
      if (message) form.receives.push_back(in_steps(*message, step_));
    }
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    const std::int64_t period = listed_period(machine_.P);
    schedule.finish = Time{0};
    schedule.period = period * step_.step;
    schedule.delay = claim_.finish;
    for (std::int64_t item = 0; item < period; ++item) {
      for (StreamMessage message : stream_->messages_of(item)) {
        const std::int64_t earlier = message.begin.ticks / period * period;
        message.begin = message.begin - Time{earlier};
        message.item -= earlier;
        schedule.sends.push_back(in_steps(message, step_));
      }
    }
    normalise(schedule);
    return schedule;
  }

 private:
  std::int64_t listed_period(std::int64_t messages_a_step) const {
    const std::int64_t period = stream_->period();
    if (saturating_multiply(period, messages_a_step) > kMostMessages) {
      throw Error(
          "the period of this stream is {}{} steps: too long to list. Take a window of k items, or see any "
          "rank's "
          "messages at any time with 'chasqui stream -P {} -L {} --rank R'",
          period == kSaturated ? "at least " : "", period, machine_.P, stream_->L());
    }
    return period;
  }

  StreamPtr stream_;
  PostalStep step_;
};

/// P = 1: nobody to send to.
class NoStream final : public Plan {
 public:
  NoStream(const LogP& machine, const Problem& problem)
      : Plan(machine, problem, {Time{0}, Time{0}, "one processor", "nothing to do"}) {}
  LocalForm local(Rank rank) const override { return {.rank = rank, .sends = {}, .receives = {}, .adds = {}}; }
  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.period = machine_.gap();
    return schedule;
  }
};

/// A stream has an item every gap (docs/model.md): if a step is longer, it is planned for the machine with that gap. What
/// is legal there is legal on the faster one.
LogP slowed(LogP machine, Time step) {
  if (step > machine.gap()) machine.g = step;
  return machine;
}

/// Some item leaves the root only once if the root cannot send twice a step; otherwise one broadcast is the bound.
void bound_in_ticks(Claim& claim, const LogP& machine, Time step) {
  if (step < 2 * machine.gap()) {
    claim.bound = stream_bound(machine);
    claim.bound_source = "a stream's root sends each item once: L + 2o + B(P-1) (streams.md, Theorem 2)";
  } else {
    claim.bound = broadcast_time(broadcast_shape(machine), machine.P);
    claim.bound_source = "one item alone takes B(P) (trees.md, Theorem 2)";
  }
  if (step == machine.gap()) return;
  claim.construction +=
      fmt::format(", with g = {}: the shortest step in which sends and receptions do not meet", step.ticks);
}

}  // namespace

PlanPtr stream_plan(const LogP& machine, StreamPtr stream) {
  validate(machine);
  const PostalStep step = step_of(machine, *stream);
  Claim claim = stream->claim();
  claim.finish = (stream->delay().ticks - step.L) * step.step + machine.lambda();
  if (!machine.is_postal()) bound_in_ticks(claim, machine, step.step);
  return std::make_shared<StreamPlan>(slowed(machine, step.step), std::move(stream), step, std::move(claim));
}

PlanPtr stream(const LogP& machine, Rank root) {
  validate(machine);
  const Problem problem{.kind = Kind::stream, .root = root};
  validate(problem, machine);
  if (machine.P == 1) return std::make_shared<NoStream>(machine, problem);
  return stream_plan(machine, make_stream(machine.P, postal_steps(machine).front().L, root.index));
}

}  // namespace chasqui::plan
