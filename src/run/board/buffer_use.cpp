// SPDX-License-Identifier: MIT
#include "run/board/buffer_use.hpp"

#include "run/wait/backoff.hpp"

namespace chasqui::run {

void BufferUse::withdraw() {
  if (exposed_ == 0) return;
  std::uint64_t since = withdrawn_->load();
  while ((since == 0 || since > exposed_) && !withdrawn_->compare_exchange_weak(since, exposed_)) {
  }
  for (int r = 0; r < ranks_; ++r) {
    Backoff backoff(crowded_);
    while (&counters_[r] != own_ && counters_[r].inside.load() == exposed_) {
      if (backoff.pause() && look_) look_();
    }
  }
  exposed_ = 0;
}

}  // namespace chasqui::run
