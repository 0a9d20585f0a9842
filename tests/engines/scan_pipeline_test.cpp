// SPDX-License-Identifier: MIT
// Scans back to back: whoever found the result of the rank before at its first look waits for that in the next scan, a while.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "run/board/collectives.hpp"
#include "run/board/slots.hpp"

namespace chasqui::run {
namespace {

constexpr int kRanks = 4;
constexpr std::size_t kCount = 64;  // 512 bytes

/// The ranks of a board in one thread: each goes on only when it is polled.
class Scans {
 public:
  Scans() : shape_(BoardShape::for_ranks(kRanks)), memory_(new (std::align_val_t{4096}) std::byte[shape_.bytes()]) {
    std::memset(memory_.get(), 0, shape_.zeroed());
    for (int r = 0; r < kRanks; ++r) boards_.push_back(std::make_unique<Board>(memory_.get(), shape_, r, 64));
  }
  /// All ranks call a scan.
  void begin() {
    ++number_;
    running_.clear();
    calls_.assign(kRanks, Call{});
    for (std::size_t r = 0; r < kRanks; ++r) {
      in_[r].assign(kCount, number_ + static_cast<double>(r));
      out_[r].assign(kCount, 0);
      calls_[r].kind = Kind::scan;
      calls_[r].in = in_[r].data();
      calls_[r].out = out_[r].data();
      calls_[r].count = kCount;
      calls_[r].element = sizeof(double);
      calls_[r].op = operator_of<double>(sum_, true);
      running_.push_back(std::make_unique<SlotCall>(*boards_[r], calls_[r]));
    }
  }
  bool poll(std::size_t rank) { return running_[rank]->poll(); }
  void expect_result(std::size_t rank) const {
    const auto n = static_cast<double>(rank + 1);
    EXPECT_EQ(out_[rank], std::vector<double>(kCount, n * number_ + n * (n - 1) / 2));
  }
  /// Everybody has contributed, and rank 2, who comes before the last, has not handed on its result.
  void contribute() {
    for (const std::size_t rank : {3, 2, 1}) EXPECT_FALSE(poll(rank));
    EXPECT_TRUE(poll(0));
  }
  void finish() {
    EXPECT_TRUE(poll(1));
    while (!poll(2)) {
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) expect_result(rank);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{4096}); }
  };
  BoardShape shape_;
  std::unique_ptr<std::byte[], Free> memory_;
  std::vector<std::unique_ptr<Board>> boards_;
  std::vector<double> in_[kRanks], out_[kRanks];
  std::vector<Call> calls_;
  std::vector<std::unique_ptr<SlotCall>> running_;
  Sum sum_;
  double number_ = 0;
};

TEST(ScanPipeline, WhoFoundTheResultBeforeWaitsForItAWhile) {
  Scans scans;
  scans.begin();
  for (std::size_t rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(scans.poll(rank));  // one after the other
  scans.begin();
  scans.contribute();
  int polls = 1;
  while (!scans.poll(3)) ++polls;
  EXPECT_GT(polls, 1);
  scans.finish();
}

TEST(ScanPipeline, WhoWaitedInVainTakesAllContributionsAtOnceNextTime) {
  Scans scans;
  scans.begin();
  for (std::size_t rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(scans.poll(rank));
  for (int call = 0; call < 2; ++call) {
    scans.begin();
    scans.contribute();
    if (call == 1) {
      EXPECT_TRUE(scans.poll(3));
    } else {
      while (!scans.poll(3)) {
      }
    }
    scans.finish();
  }
}

TEST(ScanPipeline, RanksThatBeginTogetherNeverWait) {
  Scans scans;
  for (int call = 0; call < 3; ++call) {
    scans.begin();
    scans.contribute();
    EXPECT_TRUE(scans.poll(3));
    scans.finish();
  }
}

}  // namespace
}  // namespace chasqui::run
