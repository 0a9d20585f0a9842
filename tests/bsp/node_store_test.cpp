// SPDX-License-Identifier: MIT
// The store of a node: two ranks of it on one memory, which is a process's own here.
#include "bsp/processes/node_store.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace chasqui::bsp::detail {
namespace {

constexpr std::size_t kArea = std::size_t{1} << 20;

class Store : public testing::Test {
 protected:
  BlockPtr packed(NodeStore& store, std::size_t bytes, std::byte value) {
    auto block = std::make_unique<Block>();
    block->payload = Buffer(store);
    std::memset(block->payload.extend(bytes), static_cast<int>(value), bytes);
    return block;
  }
  NodeStore::Reserve granted(std::size_t most) {
    return [this, most](std::size_t, std::size_t bytes) {
      if (granted_ + bytes > most) return false;
      granted_ += bytes;
      return true;
    };
  }

  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> memory_{static_cast<std::byte*>(::operator new(2 * kArea, std::align_val_t(64)))};
  std::size_t granted_ = 0;
  NodeStore one_{memory_.get(), kArea, 0, granted(kArea)}, other_{memory_.get(), kArea, 1, granted(2 * kArea)};
};

TEST_F(Store, ABlockIsReadWhereItWasPacked) {
  BlockPtr block = packed(one_, 1000, std::byte{7});
  block->from = 3, block->index = 5, block->messages = 9, block->information = 72, block->kinds = 2;
  block->channel = {11, 12, Lane::reply};
  const std::byte* const lies = block->payload.data();
  std::uint64_t offset = one_.send(std::move(block), 0);
  const BlockPtr read = other_.receive(offset);
  EXPECT_EQ(offset, 0U) << "no block follows";
  EXPECT_EQ(read->payload.data(), lies);
  ASSERT_EQ(read->payload.size(), 1000U);
  EXPECT_EQ(read->payload.data()[999], std::byte{7});
  EXPECT_EQ(read->from, 3);
  EXPECT_EQ(read->index, 5U);
  EXPECT_EQ(read->messages, 9U);
  EXPECT_EQ(read->information, 72U);
  EXPECT_EQ(read->kinds, 2U);
  EXPECT_EQ(read->channel, (Channel{11, 12, Lane::reply}));
}

TEST_F(Store, BlocksForOneRankFollowEachOther) {
  const std::uint64_t first = one_.send(packed(one_, 10, std::byte{1}), 0);
  const std::uint64_t second = one_.send(packed(one_, 5000, std::byte{2}), first);
  std::uint64_t at = first;
  const BlockPtr a = other_.receive(at);
  EXPECT_EQ(at, second);
  const BlockPtr b = other_.receive(at);
  EXPECT_EQ(at, 0U);
  EXPECT_EQ(a->payload.data()[9], std::byte{1});
  EXPECT_EQ(b->payload.data()[4999], std::byte{2});
}

TEST_F(Store, WhatIsStillReadIsNotWrittenAgain) {
  std::vector<BlockPtr> held;
  for (int i = 0; i < 40; ++i) {
    std::uint64_t offset = one_.send(packed(one_, 4000, static_cast<std::byte>(i)), 0);
    held.push_back(other_.receive(offset));
  }
  std::set<const std::byte*> places;
  for (int i = 0; i < 40; ++i) {
    const Buffer& payload = held[static_cast<std::size_t>(i)]->payload;
    places.insert(payload.data());
    EXPECT_EQ(payload.data()[0], static_cast<std::byte>(i));
    EXPECT_EQ(payload.data()[3999], static_cast<std::byte>(i));
  }
  EXPECT_EQ(places.size(), 40U);
}

TEST_F(Store, WhatWasReadIsUsedAgainAndTheAreaStaysSmall) {
  for (int step = 0; step < 1000; ++step) {
    std::uint64_t offset = one_.send(packed(one_, 30000, std::byte{1}), 0);
    const BlockPtr read = other_.receive(offset);
    ASSERT_TRUE(read->payload.borrowed());
  }
  EXPECT_LE(one_.reserved(), std::size_t{512} << 10);
  EXPECT_EQ(other_.reserved(), 0U) << "nothing is taken where nothing is sent";
}

TEST_F(Store, OneThatIsReadForLongDoesNotKeepTheOthers) {
  std::uint64_t offset = one_.send(packed(one_, 4000, std::byte{1}), 0);
  const BlockPtr held = other_.receive(offset);
  for (int step = 0; step < 1000; ++step) {
    offset = one_.send(packed(one_, 4000, std::byte{2}), 0);
    static_cast<void>(other_.receive(offset));
  }
  EXPECT_LE(one_.reserved(), std::size_t{256} << 10);
  EXPECT_EQ(held->payload.data()[3999], std::byte{1});
}

TEST_F(Store, WithoutMemoryABlockGoesOnInTheProcess) {
  granted_ = 0;
  NodeStore none(memory_.get(), kArea, 0, [](std::size_t, std::size_t) { return false; });
  const BlockPtr block = packed(none, 1000, std::byte{3});
  EXPECT_FALSE(block->payload.borrowed());
  EXPECT_EQ(block->payload.data()[999], std::byte{3});
  // Where the area ends while the block grows, what was packed goes along.
  BlockPtr grown = packed(one_, 100, std::byte{4});
  EXPECT_TRUE(grown->payload.borrowed());
  while (grown->payload.borrowed()) std::memset(grown->payload.extend(5000), 4, 5000);
  for (std::size_t i = 0; i < grown->payload.size(); ++i) ASSERT_EQ(grown->payload.data()[i], std::byte{4}) << i;
  EXPECT_TRUE(packed(one_, 100, std::byte{5})->payload.borrowed()) << "the memory came back";
}

TEST_F(Store, NobodyGetsMoreThanItsArea) {
  std::vector<BlockPtr> held;
  for (;;) {
    held.push_back(packed(one_, 50000, std::byte{6}));
    if (!held.back()->payload.borrowed()) break;
    ASSERT_LE(held.size() * 50000, kArea);
  }
  EXPECT_GE(held.size() * 50000, kArea / 2);
  EXPECT_LE(one_.reserved(), kArea);
}

TEST_F(Store, SharedMemoryComesBackWhenTheLastHasLeft) {
  const std::uint64_t shared = one_.share(100000, 2);
  ASSERT_NE(shared, 0U);
  one_.leave(shared);
  EXPECT_NE(one_.share(100000, 2), shared) << "the other one still uses it";
  other_.leave(shared);
  EXPECT_EQ(one_.share(100000, 2), shared);
}

}  // namespace
}  // namespace chasqui::bsp::detail
