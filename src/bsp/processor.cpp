// SPDX-License-Identifier: MIT
#include "chasqui/bsp/detail/processor.hpp"

#include <algorithm>

namespace chasqui::bsp::detail {

void Processor::drain() {
  Block* block = door_.take();
  while (block != nullptr) {
    Block* const next = block->next;
    block->next = nullptr;
    early_[block->channel].emplace_back(block);
    block = next;
  }
}

void Processor::claim(const Channel& channel, std::vector<BlockPtr>& to) {
  drain();
  const auto found = early_.find(channel);
  if (found == early_.end()) return;
  if (to.empty()) {
    to = std::move(found->second);
  } else {
    std::move(found->second.begin(), found->second.end(), std::back_inserter(to));
  }
  early_.erase(found);
}

const Block* Processor::late(std::uint64_t group, std::uint64_t step) const {
  for (auto it = early_.lower_bound({group, 0, Lane::superstep});
       it != early_.end() && it->first.group == group && it->first.step < step; ++it) {
    if (it->first.lane == Lane::superstep) return it->second.front().get();
  }
  return nullptr;
}

void Processor::await(const Waiting& why) {
  const std::int64_t begin = clock_nanoseconds();
  door_.await(why);
  waited_ += clock_nanoseconds() - begin;
}

}  // namespace chasqui::bsp::detail
