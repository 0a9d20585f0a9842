// SPDX-License-Identifier: MIT
#include "bsp/virtual/spilled_memory.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kSmallest = 4096;  ///< below this, memory is cheaper than a page of disk

}  // namespace

void SpilledMemory::stow(Block& block) {
  if (block.payload.size() < kSmallest) return;
  block.on_disk = {file_.allocate(block.payload.size()), block.payload.size()};
  file_.write(block.on_disk.at, block.payload.view());
  file_.write_behind(block.on_disk.at, block.on_disk.bytes);
  block.payload.release();
  block.spilled = true;
}

void SpilledMemory::unstow(Block& block) {
  const auto bytes = static_cast<std::size_t>(block.on_disk.bytes);
  file_.read(block.on_disk.at, {block.payload.extend(bytes), bytes});
  file_.release(block.on_disk.at, bytes);
  block.spilled = false;
}

bool SpilledMemory::allocate(Segment& segment, SpilledSegments& all) {
  if (segment.bytes < kSmallest) return false;
  if (all == nullptr) all = std::make_unique<std::vector<Segment*>>();
  const std::uint64_t at = file_.allocate(segment.bytes);
  all->push_back(&segment);
  try {
    segment.data = file_.map(at, segment.bytes, nullptr);
  } catch (...) {
    all->pop_back();
    file_.release(at, segment.bytes);
    throw;
  }
  segment.spilled_at = at + 1;  // 0 means "in memory"
  return true;
}

void SpilledMemory::release(Segment& segment, SpilledSegments& all) noexcept {
  if (segment.data != nullptr) file_.unmap(segment.data, segment.bytes);
  file_.release(segment.spilled_at - 1, segment.bytes);
  std::erase(*all, &segment);
}

void SpilledMemory::bring_in(std::span<Segment* const> segments) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment& one = *segments[i];
    try {
      one.data = file_.map(one.spilled_at - 1, one.bytes, one.data);
    } catch (...) {
      leave_out(segments.subspan(i));
      throw;
    }
  }
}

void SpilledMemory::leave_out(std::span<Segment* const> segments) {
  for (Segment* const segment : segments) segment->data = nullptr;
}

void SpilledMemory::put_out(std::span<Segment* const> segments) {
  for (Segment* const segment : segments) {
    if (segment->data == nullptr) continue;
    file_.unmap(segment->data, segment->bytes);
    file_.write_behind(segment->spilled_at - 1, segment->bytes);
  }
}

void SpilledMemory::forget(std::span<Segment* const> segments) {
  for (const Segment* const segment : segments) file_.forget(segment->spilled_at - 1, segment->bytes);
}

void SpilledMemory::read_ahead(std::span<Segment* const> segments) {
  for (const Segment* const segment : segments) file_.read_ahead(segment->spilled_at - 1, segment->bytes);
}

void SpilledMemory::read_ahead(const Block* first) {
  for (const Block* block = first; block != nullptr; block = block->next) {
    if (block->spilled) file_.read_ahead(block->on_disk.at, block->on_disk.bytes);
  }
}

}  // namespace chasqui::bsp::detail
