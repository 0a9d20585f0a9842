// SPDX-License-Identifier: MIT
#include "run/board/notice.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace chasqui::run {

void Notice::report(std::uint64_t first, std::uint64_t last, const std::string& why, std::uint64_t elsewhere) {
  std::uint32_t none = 0;
  if (!words_->state.compare_exchange_strong(none, 1)) {
    // A wider failure: the text of the first stays, the range grows.
    for (int i = 0; words_->state.load(std::memory_order_acquire) != 2 && i < 10'000; ++i) sched_yield();
    std::uint64_t begin = words_->first.load();
    while (first < begin && !words_->first.compare_exchange_weak(begin, first)) {
    }
    std::uint64_t end = words_->last.load();
    while (last > end && !words_->last.compare_exchange_weak(end, last)) {
    }
    return;
  }
  words_->first.store(first);
  words_->last.store(last);
  words_->elsewhere.store(elsewhere);
  const std::size_t length = std::min(why.size(), sizeof(words_->why) - 1);
  std::memcpy(words_->why, why.data(), length);
  words_->why[length] = '\0';
  words_->state.store(2, std::memory_order_release);
}

void Notice::refuse(std::uint64_t number) {
  auto& ranges = own_->refused;
  if (refusals_ != 0) {
    CallRange& latest = ranges[(refusals_ - 1) % kRefusals];
    if (latest.last.load() + 1 == number) return latest.last.store(number, std::memory_order_release);
  }
  CallRange& next = ranges[refusals_++ % kRefusals];
  next.first.store(0);  // nobody takes the old beginning with the new end
  next.last.store(number);
  next.first.store(number, std::memory_order_release);
}

bool Notice::failed(std::uint64_t number, const std::vector<std::uint64_t>& own) const {
  if (broken() && number >= words_->first.load() && number <= words_->last.load()) {
    return true;
  }
  for (int r = 0; r < ranks_; ++r) {
    for (const CallRange& range : counters_[r].refused) {
      const std::uint64_t first = range.first.load(std::memory_order_acquire);
      if (first == 0) break;
      const std::uint64_t last = std::min(number, range.last.load(std::memory_order_acquire));
      if (first > last || range.first.load() != first) continue;
      const auto low = std::lower_bound(own.begin(), own.end(), first);
      const auto shared = static_cast<std::uint64_t>(std::upper_bound(low, own.end(), last) - low);
      if (shared < last - first + 1) return true;
    }
  }
  return false;
}

std::string Notice::why() const {
  if (broken()) return words_->why;
  return "another rank refused the arguments of a collective that this rank took part in";
}

}  // namespace chasqui::run
