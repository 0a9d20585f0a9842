// SPDX-License-Identifier: MIT
// Blocks: what lies inside, which are written again, and how a receiver sees several.
#include <gtest/gtest.h>

#include <array>

#include "chasqui/bsp/detail/spare_blocks.hpp"
#include "chasqui/bsp/message.hpp"

namespace chasqui::bsp::detail {
namespace {

TEST(Buffer, WhatLiesInsideABlockIsCopiedWhenItMoves) {
  Buffer moved;
  {
    Block block;
    std::memset(block.payload.extend(24), 7, 24);
    EXPECT_EQ(block.payload.data(), block.small);
    EXPECT_FALSE(block.payload.borrowed());
    moved = std::move(block.payload);
    EXPECT_EQ(block.payload.size(), 0U);
    std::memset(block.payload.extend(16), 8, 16);
    std::memset(block.payload.extend(100), 9, 100);  // no longer inside
    EXPECT_NE(block.payload.data(), block.small);
    EXPECT_EQ(block.payload.data()[15], std::byte{8});
    EXPECT_EQ(block.payload.data()[115], std::byte{9});
  }
  ASSERT_EQ(moved.size(), 24U);
  for (const std::byte one : moved.view()) EXPECT_EQ(one, std::byte{7});
}

BlockPtr block_of(std::size_t bytes) {
  auto block = std::make_unique<Block>();
  block->payload.extend(bytes);
  block->messages = block->information = 3;
  block->kinds = 1;
  return block;
}

TEST(SpareBlocks, WhatWasReadLastIsWrittenFirstAndEmpty) {
  SpareBlocks spares(2, 1000);
  Blocks read;
  read.push_back(block_of(8));
  read.push_back(block_of(16));
  const Block* const last = read.back().get();
  spares.keep(read);
  EXPECT_TRUE(read.empty());
  const BlockPtr again = spares.take();
  EXPECT_EQ(again.get(), last);
  EXPECT_TRUE(again->payload.empty());
  EXPECT_EQ(again->messages + again->information + again->kinds, 0U);
}

TEST(SpareBlocks, KeepsNoMoreThanItMay) {
  SpareBlocks spares(2, 4096);
  Blocks read;
  for (int i = 0; i < 3; ++i) read.push_back(block_of(8));
  const std::array<const Block*, 2> kept{read[0].get(), read[1].get()};
  spares.keep(read);
  const std::array<BlockPtr, 2> taken{spares.take(), spares.take()};
  EXPECT_EQ(taken[0].get(), kept[1]);
  EXPECT_EQ(taken[1].get(), kept[0]);
  read.push_back(block_of(5000));  // too long
  const std::byte* const memory = read.back()->payload.data();
  spares.keep(read);
  EXPECT_NE(spares.take()->payload.data(), memory);
  SpareBlocks none(0, 0);
  read.push_back(block_of(8));
  none.keep(read);
  EXPECT_TRUE(read.empty());
}

/// Messages of one length and channel.
template <typename T>
void add_run(Block& block, std::uint32_t channel, std::initializer_list<T> values) {
  const Run head{make_tag(EntryKind::message, channel), sizeof(T), values.size()};
  const std::size_t bytes = sizeof(T) * values.size();
  std::byte* const place = block.payload.extend(sizeof head + padded(bytes));
  std::memcpy(place, &head, sizeof head);
  std::memcpy(place + sizeof head, std::data(values), bytes);
}

TEST(Messages, OneKindIsSeenThroughAllBlocks) {
  Blocks blocks;
  for (int from = 0; from < 4; ++from) {
    blocks.push_back(std::make_unique<Block>());
    blocks.back()->from = from;
  }
  add_run<std::int32_t>(*blocks[0], 7, {1, 2, 3});
  add_run<std::int64_t>(*blocks[0], 8, {-1});
  add_run<std::int32_t>(*blocks[0], 7, {4});
  add_run<std::int64_t>(*blocks[1], 8, {-2, -3});  // block 2 is empty
  for (int i = 0; i < 2000; ++i) add_run<std::int32_t>(*blocks[3], 7, {5, 6});
  std::vector<std::pair<int, int>> seen;
  for (const auto& message : bsp::Messages<std::int32_t>(blocks, 7)) seen.emplace_back(message.from, message.value());
  ASSERT_EQ(seen.size(), 4004U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], std::pair(0, i + 1));
  for (std::size_t i = 4; i < seen.size(); ++i) EXPECT_EQ(seen[i], std::pair(3, i % 2 == 0 ? 5 : 6));
  EXPECT_EQ(bsp::Messages<std::int32_t>(blocks, 7).size(), 4004U);
  EXPECT_EQ(bsp::Messages<std::int64_t>(blocks, 8).values(), (std::vector<std::int64_t>{-1, -2, -3}));
  EXPECT_TRUE(bsp::Messages<std::int64_t>(blocks, 9).empty());
}

}  // namespace
}  // namespace chasqui::bsp::detail
