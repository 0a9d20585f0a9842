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

Median Sampler::every() {
  return [this](double share, const std::function<double()>& sample) {
    const auto value = median(share, sample);
    CHASQUI_CHECK(value.has_value(), "a part of share {} took no sample: open() did not ask for one of each", share);
    return *value;
  };
}

}  // namespace chasqui::measure
