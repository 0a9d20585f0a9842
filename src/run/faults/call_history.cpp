// SPDX-License-Identifier: MIT
#include "run/faults/call_history.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::run {

std::string disagreement(int one, const Signature& ones, int other, const Signature& others, const std::string& which) {
  return fmt::format(
      "rank {} calls {} where rank {} calls {} ({}): all ranks must make the same calls with the same sizes, "
      "in the same order",
      one, to_text(ones), other, to_text(others), which);
}

void CallHistory::note(std::uint64_t number, const Signature& call) {
  const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
  const Run& last = run(newest);
  if (call == Signature{last.count.load(std::memory_order_relaxed), last.element.load(std::memory_order_relaxed),
                        last.what.load(std::memory_order_relaxed)}) {
    return;
  }
  Run& next = runs_[(newest + 1) % kRuns];
  next.first.store(0, std::memory_order_relaxed);  // who sees one of the new words sees this or what comes later
  next.count.store(call.count, std::memory_order_release);
  next.element.store(call.element, std::memory_order_release);
  next.what.store(call.what, std::memory_order_release);
  next.first.store(number, std::memory_order_release);
  newest_.store(newest + 1, std::memory_order_release);
}

Signature CallHistory::find(std::uint64_t number) const {
  const std::uint64_t newest = newest_.load(std::memory_order_acquire);
  for (std::uint64_t i = newest; i != 0 && i + kRuns > newest; --i) {
    const std::uint64_t first = run(i).first.load(std::memory_order_acquire);
    if (first > number) continue;
    const Signature found{run(i).count.load(std::memory_order_acquire), run(i).element.load(std::memory_order_acquire),
                          run(i).what.load(std::memory_order_acquire)};
    return first != 0 && run(i).first.load(std::memory_order_relaxed) == first ? found : Signature{};
  }
  return {};
}

std::vector<std::uint64_t> CallHistory::changes() const {
  std::vector<std::uint64_t> numbers;
  const std::uint64_t newest = newest_.load(std::memory_order_acquire);
  for (std::uint64_t i = newest < kRuns ? 1 : newest - kRuns + 1; i <= newest; ++i) {
    numbers.push_back(run(i).first.load(std::memory_order_acquire));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::uint64_t CallHistory::latest_change() const {
  return run(newest_.load(std::memory_order_acquire)).first.load(std::memory_order_acquire);
}

}  // namespace chasqui::run
