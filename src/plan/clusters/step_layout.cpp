// SPDX-License-Identifier: MIT
#include "plan/clusters/step_layout.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

/// A time in which the rank neither sends nor receives.
struct Pause {
  std::int64_t begin = 0, length = 0;

  /// How many events of so many ticks.
  std::int64_t room(std::int64_t ticks) const { return ticks == 0 ? kSaturated : length / ticks; }
};

/// How the publications are shared out between the two pauses, so that the readings fit too.
struct Sharing {
  std::int64_t before = 0, after = 0;  ///< publications
};

class Step {
 public:
  Step(const Cluster& cluster, std::int64_t length)
      : overhead_(cluster.base.o.ticks), publish_(cluster.nodes.publish.ticks), read_(cluster.nodes.read.ticks) {
    const std::int64_t there = (cluster.base.o + cluster.base.L).ticks;
    layout_.length = length;
    layout_.flight = there / length;
    layout_.reception = there % length;
    if (overhead_ == 0) {  // what takes no time fits anywhere, also into a publication (rule 4)
      after_ = {0, length};
    } else {
      before_ = {overhead_, layout_.reception - overhead_};
      after_ = {layout_.reception + overhead_, length - layout_.reception - overhead_};
    }
  }

  /// Does the reception meet no send?
  bool apart() const { return before_.length >= 0 && after_.length >= 0; }

  std::optional<Sharing> sharing(std::int64_t publications, std::int64_t readings) const {
    for (std::int64_t after = std::min(publications, after_.room(publish_)); after >= 0; --after) {
      const std::int64_t before = publications - after;
      if (before > before_.room(publish_)) break;
      if (saturating_add(left(before_, before).room(read_), left(after_, after).room(read_)) >= readings)
        return Sharing{before, after};
    }
    return std::nullopt;
  }

  StepLayout layout(const Sharing& sharing, std::int64_t readings) && {
    fill(before_, sharing.before, readings);
    fill(after_, sharing.after, readings);
    return std::move(layout_);
  }

 private:
  Pause left(const Pause& pause, std::int64_t publications) const {
    const std::int64_t taken = publications * publish_;
    return {pause.begin + taken, pause.length - taken};
  }
  void fill(const Pause& pause, std::int64_t publications, std::int64_t readings) {
    for (std::int64_t i = 0; i < publications; ++i) layout_.publications.push_back(pause.begin + i * publish_);
    const Pause rest = left(pause, publications);
    const auto wanted = readings - static_cast<std::int64_t>(layout_.readings.size());
    for (std::int64_t i = 0; i < std::min(wanted, rest.room(read_)); ++i)
      layout_.readings.push_back(rest.begin + i * read_);
  }

  std::int64_t overhead_, publish_, read_;
  Pause before_, after_;  ///< the reception
  StepLayout layout_;
};

}  // namespace

std::optional<StepLayout> step_layout(const Cluster& cluster, std::int64_t length, std::int64_t publications,
                                      std::int64_t readings) {
  Step step(cluster, length);
  if (!step.apart()) return std::nullopt;
  const std::optional<Sharing> sharing = step.sharing(publications, readings);
  if (!sharing) return std::nullopt;
  return std::move(step).layout(*sharing, readings);
}

StepLayout shortest_step(const Cluster& cluster, std::int64_t least, std::int64_t publications, std::int64_t readings) {
  const std::int64_t L = cluster.base.L.ticks, o = cluster.base.o.ticks, lambda = cluster.base.lambda().ticks;
  const std::int64_t work = 2 * o + publications * cluster.nodes.publish.ticks + readings * cluster.nodes.read.ticks;
  for (std::int64_t length = std::max(least, work);; ++length) {
    // A reception meets a send where a multiple of the step lies between L and lambda: the same multiple must be lambda or more.
    if (const std::int64_t multiple = L / length + 1; o > 0 && multiple * length < lambda)
      length = divide_up(lambda, multiple);
    if (auto layout = step_layout(cluster, length, publications, readings)) return std::move(*layout);
  }
}

}  // namespace chasqui::plan
