// SPDX-License-Identifier: MIT
#include "chasqui/simulate/monte_carlo.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "chasqui/base/error.hpp"

namespace chasqui::simulate {

double Statistics::mean() const {
  const double sum = std::accumulate(finishes.begin(), finishes.end(), 0.0, [](double total, Time finish) {
    return total + static_cast<double>(finish.ticks);
  });
  return sum / static_cast<double>(finishes.size());
}

Time Statistics::quantile(double q) const {
  const double rank = std::ceil(q * static_cast<double>(finishes.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return finishes[std::min(index, finishes.size() - 1)];
}

Statistics monte_carlo(const Schedule& schedule, const std::function<Latency(std::uint64_t)>& latency_of,
                       const MonteCarloOptions& many, const Options& options) {
  if (many.runs == 0) throw Error("runs=0 says nothing: use at least 1");
  Options plain = options;
  plain.critical_path = false;
  Statistics statistics;
  statistics.finishes.resize(many.runs);
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> done{0};
  std::mutex speaking;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::uint64_t run; (run = next.fetch_add(1)) < many.runs;) {
        const Latency latency = latency_of((many.seed + 1) * 0x9e3779b97f4a7c15 + run);  // far apart for every seed
        statistics.finishes[run] = simulate(schedule, latency, plain).finish;
        const std::uint64_t count = done.fetch_add(1) + 1;
        if (many.progress && speaking.try_lock()) {
          many.progress(static_cast<double>(count) / static_cast<double>(many.runs));
          speaking.unlock();
        }
      }
    } catch (...) {
      const std::lock_guard lock(speaking);
      failure = std::current_exception();
      next = many.runs;
    }
  };
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const auto threads =
      static_cast<unsigned>(std::min<std::uint64_t>(many.threads == 0 ? cores : many.threads, many.runs));
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  try {
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // the system has no more: fewer do as well
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  std::sort(statistics.finishes.begin(), statistics.finishes.end());
  return statistics;
}

}  // namespace chasqui::simulate
