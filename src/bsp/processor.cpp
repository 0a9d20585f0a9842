// SPDX-License-Identifier: MIT
#include "chasqui/bsp/detail/processor.hpp"

#include <algorithm>

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kMostSpareBytes = std::size_t{8} << 20;
constexpr std::size_t kMostSpare = 64, kMostSpareOfMany = 2;
constexpr std::int32_t kMany = 1024;  ///< processors, each of which has little

}  // namespace

Processor::Processor(Endpoint& door)
    : door_(door), most_spare_(!door.options().spill.empty() ? 0
                               : door.size() > kMany         ? kMostSpareOfMany
                                                             : kMostSpare),
      has_rooms_(door.has_rooms()), ends_(door.ends()), spills_(!door.options().spill.empty()) {}

void Processor::claim(const Channel& channel, Pile arrived, Blocks& to) {
  if (any_early()) {
    if (const auto found = early_->find(channel); found != early_->end()) {
      std::move(found->second.begin(), found->second.end(), std::back_inserter(to));
      early_->erase(found);
    }
  }
  while (BlockPtr one = arrived.pop()) {
    if (one->channel == channel) {
      to.push_back(std::move(one));
      continue;
    }
    if (early_ == nullptr) early_ = std::make_unique<Early>();
    (*early_)[one->channel].push_back(std::move(one));
  }
}

const Block* Processor::late(std::uint64_t group, std::uint64_t step) const {
  if (!any_early()) return nullptr;
  for (auto it = early_->lower_bound({group, 0, Lane::superstep});
       it != early_->end() && it->first.group == group && it->first.step < step; ++it) {
    if (it->first.lane == Lane::superstep) return it->second.front().get();
  }
  return nullptr;
}

void Processor::await(const Waiting& why) {
  const std::int64_t begin = clock_nanoseconds();
  door_.await(why);
  waited_ += clock_nanoseconds() - begin;
}

void Processor::recycle(Blocks& blocks) {
  for (BlockPtr& block : blocks) {
    if (block->payload.borrowed()) continue;  // its memory goes back to the sender
    if (spare_.size() >= most_spare_ || spare_bytes_ + block->payload.capacity() > kMostSpareBytes) break;
    block->payload.resize(0);
    block->messages = block->information = 0;
    block->kinds = 0;
    spare_bytes_ += block->payload.capacity();
    spare_.push_back(std::move(block));
  }
  blocks.clear();
}

}  // namespace chasqui::bsp::detail
