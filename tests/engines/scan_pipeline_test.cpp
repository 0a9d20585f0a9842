// SPDX-License-Identifier: MIT
// Scans back to back: whoever scans again at once waits for the result of the rank before alone, a while.
#include <gtest/gtest.h>

#include <cstdint>
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
  /// What the next scan finds, however long the test takes between the two.
  void ended_just_now() {
    for (auto& board : boards_) board->looks().scans.ended(board->current(), false, std::int64_t{1} << 62);
  }
  /// Everybody has contributed, and rank 2, who comes before the last, has not handed on its result.
  void contribute() {
    for (const std::size_t rank : {3, 2, 1}) EXPECT_FALSE(poll(rank));
    EXPECT_TRUE(poll(0));
  }
  void finish_but(std::size_t last) {
    EXPECT_TRUE(poll(1));
    while (!poll(2)) {
    }
    for (std::size_t rank = 0; rank < last; ++rank) expect_result(rank);
  }
  void finish() { finish_but(kRanks); }

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

TEST(BackToBack, WhoScansAgainAtOnceWaits) {
  BackToBack scans;
  EXPECT_EQ(scans.patience(1, 5, 0), 0) << "the first scan";
  scans.ended(1, false, 10'000);
  EXPECT_GT(scans.patience(2, 5, 10'500), 0);
  EXPECT_GT(scans.patience(2, 15, 10'500), scans.patience(2, 5, 10'500)) << "more ranks hand on before it";
  EXPECT_EQ(scans.patience(2, 5, 20'000), 0) << "later";
  EXPECT_EQ(scans.patience(3, 5, 10'500), 0) << "another call lies between them";
}

TEST(BackToBack, WhoWaitedInVainDoesNotSoonWaitAgain) {
  BackToBack scans;
  std::uint64_t call = 1;
  const auto calls_without = [&] {
    int calls = 0;
    for (scans.ended(call, false, 0); scans.patience(++call, 5, 0) == 0; scans.ended(call, false, 0)) ++calls;
    return calls;
  };
  EXPECT_EQ(calls_without(), 0);
  for (const int calls : {8, 16, 32}) {
    scans.missed();
    EXPECT_EQ(calls_without(), calls);
  }
  scans.ended(call, true, 0);
  scans.missed();
  EXPECT_EQ(calls_without(), 8) << "it had been worth it meanwhile";
}

/// Looks of the last rank until its scan ends, where everybody has contributed and the rank before has not handed on.
int looks_of_the_last(Scans& scans) {
  scans.begin();
  scans.contribute();
  int looks = 1;
  while (!scans.poll(3)) ++looks;
  scans.finish();
  return looks;
}

TEST(ScanPipeline, WhoScansAgainAtOnceLooksForTheRankBeforeAWhile) {
  Scans scans;
  EXPECT_EQ(looks_of_the_last(scans), 1);
  scans.ended_just_now();
  EXPECT_GT(looks_of_the_last(scans), 30);
  scans.ended_just_now();
  EXPECT_EQ(looks_of_the_last(scans), 1) << "it was in vain";
}

TEST(ScanPipeline, TheResultOfTheRankBeforeEndsTheWaiting) {
  Scans scans;
  looks_of_the_last(scans);
  scans.ended_just_now();
  scans.begin();
  scans.contribute();
  EXPECT_FALSE(scans.poll(3));
  scans.finish_but(3);
  EXPECT_TRUE(scans.poll(3));
  scans.expect_result(3);
}

}  // namespace
}  // namespace chasqui::run
