// SPDX-License-Identifier: MIT
#include "chasqui/bsp/detail/processor.hpp"

#include <algorithm>

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kMostSpare = 64, kMostSpareBytes = std::size_t{8} << 20;

}  // namespace

Processor::Processor(Endpoint& door)
    : door_(door), has_rooms_(door.has_rooms()), ends_(door.ends()), spills_(!door.options().spill.empty()) {
  if (door.spares() == nullptr) own_spares_ = std::make_unique<SpareBlocks>(kMostSpare, kMostSpareBytes);
}

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

void Processor::put_back() {
  if (!any_early()) return;
  for (auto& [channel, blocks] : *early_) {
    for (BlockPtr& block : blocks) door_.post(door_.rank(), std::move(block));
  }
  early_->clear();
}

void Processor::await(const Waiting& why) {
  const std::int64_t begin = clock_nanoseconds();
  door_.await(why);
  waited_ += clock_nanoseconds() - begin;
}

}  // namespace chasqui::bsp::detail
