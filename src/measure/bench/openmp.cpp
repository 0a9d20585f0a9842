// SPDX-License-Identifier: MIT
#include "measure/bench/rivals.hpp"

#ifdef _OPENMP

#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "chasqui/base/clock.hpp"

namespace chasqui::measure {
namespace {

constexpr std::size_t kMost = 256 * 1024;  ///< every thread keeps a copy on its stack

/// This thread on the index-th core it may use, until the end of the scope.
class Bound {
 public:
  Bound(int index, int n) {
    CPU_ZERO(&before_);
    if (sched_getaffinity(0, sizeof before_, &before_) != 0 || n > CPU_COUNT(&before_)) return;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &before_) || index-- > 0) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      bound_ = pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
      return;
    }
  }
  ~Bound() {
    if (bound_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

double* total = nullptr;  // a reduction's variable is one that all threads of the team share

/// One reduction of the team. A function of its own, because the private copies are taken from the stack of whoever
/// opens the loop and come back only when it returns: many rounds in one function would use it up.
[[gnu::noinline]] void reduce_once(const std::vector<double>& in, int n) {
  const std::size_t count = in.size();
#pragma omp for schedule(static) reduction(+ : total[:count])
  for (int i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < count; ++k) total[k] += in[k];
  }
}

}  // namespace

bool has_openmp() { return true; }

std::optional<Quartiles> time_openmp(const std::string& name, std::size_t bytes, int n, double seconds) {
  const bool barrier = name == "barrier";
  if (!barrier && (name != "allreduce" || bytes > kMost || bytes < sizeof(double))) return {};
  const std::size_t count = barrier ? 1 : bytes / sizeof(double);
  const std::vector<double> in(count, 1.0);
  std::vector<double> sums(count);
  total = sums.data();
  std::vector<double> spans;
  std::atomic<double> start{0};
  std::atomic<bool> more{true};
  int threads = 0;
  struct alignas(128) End {
    double time = 0;
  };
  std::vector<End> ends(static_cast<std::size_t>(n));
  const double until = clock_now() + seconds * 1e9;
  omp_set_dynamic(0);
#pragma omp parallel num_threads(n)
  {
    const int me = omp_get_thread_num();
    const Bound bound(me, n);
#pragma omp single
    {
      threads = omp_get_num_threads();
      more.store(threads == n);
    }
    while (more.load()) {
      if (me == 0) {
        std::fill(sums.begin(), sums.end(), 0.0);
        start.store(clock_now() + 20'000);
      }
#pragma omp barrier
      const double begin = start.load();
      while (clock_now() < begin) {
      }
      if (barrier) {
#pragma omp barrier
      } else {
        reduce_once(in, n);
      }
      ends[static_cast<std::size_t>(me)].time = clock_now();
#pragma omp barrier
      if (me == 0) {
        double last = 0;
        for (const End& end : ends) last = std::max(last, end.time);
        spans.push_back(last - begin);
        more.store(clock_now() < until || spans.size() < 5);
      }
#pragma omp barrier
    }
  }
  if (spans.empty()) return {};  // not as many threads as asked for
  return Quartiles::of(std::move(spans));
}

}  // namespace chasqui::measure

#else

namespace chasqui::measure {

bool has_openmp() { return false; }

std::optional<Quartiles> time_openmp(const std::string&, std::size_t, int, double) { return {}; }

}  // namespace chasqui::measure

#endif
