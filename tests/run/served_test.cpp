// SPDX-License-Identifier: MIT
// Long scatters of processes: some ranks take their blocks out of the root's memory, the root serves the others over the board.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "chasqui/run/call.hpp"
#include "run/board/board.hpp"
#include "run/board/collectives.hpp"
#include "run/same_process.hpp"

namespace chasqui::run {
namespace {

/// Scatters of ranks that are polled one at a time.
class Scatters {
 public:
  explicit Scatters(int ranks) {
    shape_.ranks = ranks;
    shape_.stage = 4096;
    memory_.reset(static_cast<std::byte*>(::operator new(shape_.bytes(), kPage)));
    std::fill_n(memory_.get(), shape_.zeroed(), std::byte{0});
    for (int r = 0; r < ranks; ++r) boards_.emplace_back(memory_.get(), shape_, r, ranks);
  }

  void begin(int root, std::int64_t count) {
    const auto ranks = static_cast<std::size_t>(shape_.ranks);
    count_ = static_cast<std::size_t>(count);
    ++number_;
    in_.resize(ranks * count_);
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = 1'000'000 * number_ + i;
    out_.assign(ranks * count_, 0);
    running_.clear();
    for (int r = 0; r < shape_.ranks; ++r) {
      Call call;
      call.kind = Kind::scatter;
      call.in = r == root ? in_.data() : nullptr;
      call.out = out_.data() + static_cast<std::size_t>(r) * count_;
      call.count = count;
      call.element = sizeof(std::uint64_t);
      call.root = root;
      running_.push_back(
          std::make_unique<Activity>(cross_memory(boards_[static_cast<std::size_t>(r)], process_, call)));
    }
  }
  /// True when it has its block and has left.
  bool poll(int rank) {
    auto& activity = running_[static_cast<std::size_t>(rank)];
    if (activity != nullptr && activity->poll()) activity.reset();
    return activity == nullptr;
  }
  bool has_its_block(int rank) const {
    const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank) * count_);
    return std::equal(in_.begin() + first, in_.begin() + first + static_cast<std::ptrdiff_t>(count_),
                      out_.begin() + first);
  }

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete(memory, kPage); }
  };
  BoardShape shape_;
  std::unique_ptr<std::byte, Delete> memory_;
  std::deque<Board> boards_;
  SameProcess process_;
  std::size_t count_ = 0, number_ = 0;
  std::vector<std::uint64_t> in_, out_;
  std::vector<std::unique_ptr<Activity>> running_;
};

// In any order of polling, one call after another, with any root.
RC_GTEST_PROP(Served, EveryRankHasItsBlock, ()) {
  const int ranks = *rc::gen::inRange(2, 10);
  Scatters scatters(ranks);
  const int calls = *rc::gen::inRange(1, 6);
  for (int call = 0; call < calls; ++call) {
    scatters.begin(*rc::gen::inRange(0, ranks), *rc::gen::inRange(1, 600));
    for (const int rank : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, ranks))) scatters.poll(rank);
    bool all = false;
    for (int round = 0; round < 1000 && !all; ++round) {
      all = true;
      for (int r = 0; r < ranks; ++r) all = scatters.poll(r) && all;
    }
    RC_ASSERT(all);
    for (int r = 0; r < ranks; ++r) RC_ASSERT(scatters.has_its_block(r));
  }
}

// Of a stage that holds one block, the root brings the first and waits until all have gone past it. Once others have taken theirs, those whose
// turn is not the next one take their own.
TEST(Served, WhoseTurnHasNotComeTakesItsOwn) {
  constexpr int kRanks = 9, kRoot = 3;
  const auto at = [](int distance) { return (kRoot + distance) % kRanks; };
  Scatters scatters(kRanks);
  scatters.begin(kRoot, 400);
  for (const int served : {2, 4, 6, 8}) EXPECT_FALSE(scatters.poll(at(served)));
  EXPECT_FALSE(scatters.poll(kRoot));
  for (const int served : {4, 6, 8}) EXPECT_FALSE(scatters.poll(at(served))) << "nobody has taken its own yet";
  for (const int taker : {1, 3, 5, 7}) EXPECT_TRUE(scatters.poll(at(taker)));
  for (const int served : {6, 8}) EXPECT_TRUE(scatters.poll(at(served)) && scatters.has_its_block(at(served)));
  EXPECT_FALSE(scatters.poll(at(4))) << "its turn is the next";
  EXPECT_TRUE(scatters.poll(at(2)));
  EXPECT_FALSE(scatters.poll(kRoot)) << "the rank at distance 4 has not taken what was just brought";
  EXPECT_TRUE(scatters.poll(at(4)));
  for (int r = 0; r < kRanks; ++r) {
    EXPECT_TRUE(scatters.poll(r)) << r;
    EXPECT_TRUE(scatters.has_its_block(r)) << r;
  }
}

}  // namespace
}  // namespace chasqui::run
