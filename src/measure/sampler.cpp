// SPDX-License-Identifier: MIT
#include "measure/sampler.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "measure/message_probe.hpp"

namespace chasqui::measure {

using namespace run;

void Sampler::open(double nanoseconds, bool each) {
  budget_ = TimeBudget(clock_now(), std::max(0.0, nanoseconds), each);
  next_ = budget_.next(clock_now());
  comm_.broadcast(next_, 0);
}

std::optional<double> Sampler::median(double share, const std::function<double()>& sample) {
  if (next_ == 0) return {};
  budget_.begin(clock_now(), share);
  std::vector<double> samples;
  double fastest = 1e18;
  struct {
    int more, next;
  } word{next_, 0};
  while (word.more > 0) {
    for (int i = 0; i < word.more; ++i) {
      const double before = clock_now();
      samples.push_back(sample());
      fastest = std::min(fastest, clock_now() - before);
    }
    const double now = clock_now();
    word.more = budget_.more(now, fastest, samples.size());
    if (word.more == 0) word.next = budget_.next(now);
    comm_.broadcast(word, 0);
  }
  next_ = word.next;
  least_ += fastest;
  cut_ = cut_ || budget_.cut();
  const std::size_t warm = samples.size() > 4 ? 2 : samples.size() > 1 ? 1 : 0;
  samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(warm));
  return median_of(std::move(samples)).value;
}

std::optional<double> Sampler::together(double share, const std::function<void()>& body,
                                        const std::function<void()>& before) {
  return median(share, [&] {
    if (before) {
      before();
      comm_.barrier();
    }
    return once(body);
  });
}

namespace {

/// The longest comparison that makes no more calls than there is time for.
BlockPlan plan_of(double calls) {
  const BlockPlan longest;
  int quadruples = 0;
  for (double made = 2 * longest.pair; quadruples < longest.quadruples; ++quadruples) {
    made += 4 * (longest.first << quadruples);
    if (made > calls) break;
  }
  return {calls < 2 * longest.pair ? 1 : longest.pair, longest.first, quadruples};
}

constexpr double kMostRatio = 10;  ///< more is noise, or as good

}  // namespace

std::optional<double> Sampler::compare(double share, bool meets, const std::function<void(Side)>& call,
                                       const std::function<void()>& before) {
  if (next_ == 0) return {};
  budget_.begin(clock_now(), share);
  double outside = 0;  // the comparison's clock stands still in calls, and while data is written
  const auto begin = [&] {
    const double begun = start_.now();
    if (before) {
      before();
      comm_.barrier();
    }
    outside += start_.now() - begun;
  };
  const auto made = [&](Side side) {
    const double begun = start_.now();
    call(side);
    const double took = start_.now() - begun;
    outside += took;
    comm_.barrier();
    return took;
  };
  // First calls make connections and touch memory; and they say how many there is time for.
  const double begun = clock_now();
  for (const Side side : {Side::native, Side::ours}) begin(), made(side);
  const double now = clock_now();
  BlockPlan plan = plan_of(budget_.left(now) / ((now - begun) / 2));
  comm_.broadcast(plan, 0);
  Comparison comparison(plan, Side::native, Trust::none, meets);
  for (bool ended = false; !ended;) {
    begin();
    comparison.arrive(start_.now() - outside);
    if (!comparison.due()) {
      comparison.ran(made(comparison.turn()));
      continue;
    }
    const std::vector<double> mine = comparison.numbers();
    std::vector<double> most(mine.size());
    comm_.allreduce(std::span<const double>(mine), std::span<double>(most), Maximum{});
    ended = comparison.agreed(most);
  }
  int next = budget_.next(clock_now());
  comm_.broadcast(next, 0);
  next_ = next;
  least_ += now - begun;
  cut_ = cut_ || budget_.cut();
  return std::clamp(comparison.result().ratio, 1 / kMostRatio, kMostRatio);
}

Median Sampler::every() {
  return [this](double share, const std::function<double()>& sample) {
    const auto value = median(share, sample);
    CHASQUI_CHECK(value.has_value(), "a part of share {} took no sample: open() did not ask for one of each", share);
    return *value;
  };
}

}  // namespace chasqui::measure
