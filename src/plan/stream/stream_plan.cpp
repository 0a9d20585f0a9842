// SPDX-License-Identifier: MIT
// A stream as a plan: one period of the steady state, or the first k items.
#include <fmt/format.h>

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/items/postal_step.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostMessages = 50'000'000;

/// The machine seen in steps: the postal machine that the stream is planned for.
struct Steps {
  std::int64_t ticks = 1;  ///< of one step
  std::int64_t L = 1;      ///< latency, in steps
};

/// The shortest legal step, max(g, 2o) or a little more: a stream is about items per tick first.
Steps steps_of(const LogP& machine) {
  const PostalStep first = postal_steps(machine).front();
  return {first.step.ticks, first.L};
}

/// The step for a stream of this latency.
Steps steps_for(const LogP& machine, const Stream& stream) {
  for (const PostalStep& step : postal_steps(machine)) {
    if (step.L == stream.L() && stream.P() == machine.P) return {step.step.ticks, step.L};
  }
  throw Error("{}: a stream of P={} and latency {} steps does not fit this machine; the shortest step has latency {}",
              to_string(machine), stream.P(), stream.L(), steps_of(machine).L);
}

Rank to_rank(std::int64_t rank) { return {static_cast<std::int32_t>(rank)}; }

/// What both readings of a stream share: the stream, in steps.
class SteppedPlan : public Plan {
 protected:
  SteppedPlan(const LogP& machine, const Problem& problem, Claim claim, StreamPtr stream, Steps steps)
      : Plan(machine, problem, std::move(claim)), stream_(std::move(stream)), steps_(steps) {}

  Send send_of(const StreamMessage& message, std::int64_t earlier = 0) const {
    return send_item(Time{(message.begin.ticks - earlier) * steps_.ticks}, to_rank(message.from), to_rank(message.to),
                     static_cast<std::int32_t>(message.item - earlier));
  }

  StreamPtr stream_;
  Steps steps_;
};

class StreamPlan final : public SteppedPlan {
 public:
  using SteppedPlan::SteppedPlan;
  StreamPlan(const LogP& machine, StreamPtr stream, Steps steps, Claim claim)
      : SteppedPlan(machine, {.kind = Kind::stream, .root = to_rank(stream->root())}, std::move(claim), stream, steps) {
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t period = listed_period(1);
    for (std::int64_t time = 0; time < period; ++time) {
      if (const auto message = stream_->pattern_sent(rank.index, time)) form.sends.push_back(send_of(*message));
      const auto message = stream_->pattern_received(rank.index, time + stream_->L());
      if (message) form.receives.push_back(send_of(*message));
    }
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    const std::int64_t period = listed_period(machine_.P);
    schedule.finish = Time{0};
    schedule.period = Time{period * steps_.ticks};
    schedule.delay = claim_.finish;
    for (std::int64_t item = 0; item < period; ++item) {
      for (const StreamMessage& message : stream_->messages_of(item)) {
        schedule.sends.push_back(send_of(message, message.begin.ticks / period * period));
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
};

class WindowPlan final : public SteppedPlan {
 public:
  WindowPlan(const LogP& machine, StreamPtr stream, Steps steps, std::int64_t items, Claim claim)
      : SteppedPlan(machine, {.kind = Kind::broadcast, .root = to_rank(stream->root()), .items = items},
                    std::move(claim), stream, steps) {}

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for (std::int64_t time = 0; time < stream_->delay().ticks + problem_.items; ++time) {
      const auto sent = stream_->sent(rank.index, Time{time});
      if (sent && sent->item < problem_.items) form.sends.push_back(send_of(*sent));
      const auto received = stream_->received(rank.index, Time{time});
      if (received && received->item < problem_.items) form.receives.push_back(send_of(*received));
    }
    return form;
  }

  Schedule schedule() const override {
    if (saturating_multiply(machine_.P, problem_.items) > 1'000'000'000) {
      throw Error("P={} times {} items is too much to list; use the local form", machine_.P, problem_.items);
    }
    Schedule schedule = empty_schedule();
    for (std::int64_t item = 0; item < problem_.items; ++item) {
      for (const StreamMessage& message : stream_->messages_of(item)) schedule.sends.push_back(send_of(message));
    }
    normalise(schedule);
    return schedule;
  }
};

/// P = 1: nobody to send to, whatever the problem.
class Nothing final : public Plan {
 public:
  Nothing(const LogP& machine, const Problem& problem)
      : Plan(machine, problem, {Time{0}, Time{0}, "one processor", "nothing to do"}) {}
  LocalForm local(Rank rank) const override { return {.rank = rank, .sends = {}, .receives = {}, .adds = {}}; }
  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    if (problem_.kind == Kind::stream) schedule.period = machine_.gap();
    return schedule;
  }
};

/// Everybody's availability lags the stream's clock of steps by less than a step: the last message of a delay
/// ends here.
std::int64_t in_ticks(const LogP& machine, const Stream& stream, Steps steps, std::int64_t time) {
  return (time - stream.L()) * steps.ticks + machine.lambda().ticks;
}

/// A stream has an item every gap (docs/model.md): if a step is longer, it is planned for the machine with that gap. What
/// is legal there is legal on the faster one.
LogP slowed(LogP machine, Steps steps) {
  if (steps.ticks > machine.gap().ticks) machine.g = Time{steps.ticks};
  return machine;
}

/// Some item leaves the root only once if the root cannot send twice a step; otherwise one broadcast is the bound.
void bound_in_ticks(Claim& claim, const LogP& machine, Steps steps) {
  const TreeShape shape = broadcast_shape(machine);
  if (steps.ticks < 2 * machine.gap().ticks) {
    claim.bound = machine.lambda() + broadcast_time(shape, machine.P - 1);
    claim.bound_source = "a stream's root sends each item once: L + 2o + B(P-1) (results.md, Streams)";
  } else {
    claim.bound = broadcast_time(shape, machine.P);
    claim.bound_source = "one item alone takes B(P) (results.md, Streams)";
  }
  if (steps.ticks == machine.gap().ticks) return;
  claim.construction +=
      fmt::format(", with g = {}: the shortest step in which sends and receptions do not meet", steps.ticks);
}

}  // namespace

PlanPtr stream_plan(const LogP& machine, StreamPtr stream) {
  validate(machine);
  const Steps steps = steps_for(machine, *stream);
  Claim claim = stream->claim();
  claim.finish = Time{in_ticks(machine, *stream, steps, stream->delay().ticks)};
  if (!machine.is_postal()) bound_in_ticks(claim, machine, steps);
  return std::make_shared<StreamPlan>(slowed(machine, steps), std::move(stream), steps, std::move(claim));
}

PlanPtr stream(const LogP& machine, Rank root) {
  validate(machine);
  const Problem problem{.kind = Kind::stream, .root = root};
  validate(problem, machine);
  if (machine.P == 1) return std::make_shared<Nothing>(machine, problem);
  return stream_plan(machine, make_stream(machine.P, steps_of(machine).L, root.index));
}

PlanPtr stream_window(const LogP& machine, StreamPtr stream, std::int64_t items) {
  validate(machine);
  const Steps steps = steps_for(machine, *stream);
  if (items < 1 || items > 2'000'000'000) throw Error("items={} is out of range: 1..2000000000", items);
  Claim claim = stream->claim();
  claim.finish = Time{in_ticks(machine, *stream, steps, stream->delay().ticks + items - 1)};
  claim.bound = kitem_bound(machine, items);
  claim.bound_source = "counting receptions: a step moves no more than holders can send or receivers take";
  claim.construction = "the first items of a stream: " + claim.construction;
  if (!machine.is_postal()) claim.construction += fmt::format(", in steps of {} ticks", steps.ticks);
  return std::make_shared<WindowPlan>(machine, std::move(stream), steps, items, std::move(claim));
}

PlanPtr stream_window(const LogP& machine, std::int64_t items, Rank root) {
  validate(machine);
  const Problem problem{.kind = Kind::broadcast, .root = root, .items = items};
  validate(problem, machine);
  if (machine.P == 1) return std::make_shared<Nothing>(machine, problem);
  return stream_window(machine, make_stream(machine.P, steps_of(machine).L, root.index), items);
}

}  // namespace chasqui::plan
