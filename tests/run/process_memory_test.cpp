// SPDX-License-Identifier: MIT
#include "run/board/process_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "chasqui/base/error.hpp"
#include "run/board/node_ranks.hpp"

namespace chasqui::run {
namespace {

constexpr int kRanks = 3;
using Told =
    std::array<std::uint64_t, 4>;  ///< of itself, by a rank: process, where a word lies, its value, where marks may lie

/// One rank of the node, played alone: what the others say was written down before.
class Alone final : public NodeRanks {
 public:
  Alone(int rank, bool fails, std::vector<Told>& told) : NodeRanks(rank, kRanks), fails_(fails), told_(told) {}
  int most(int mine) override { return mine; }
  int open_memory(std::size_t) override { return -1; }
  std::size_t free_memory() const override { return 0; }

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override {
    ASSERT_EQ(bytes, sizeof(Told));
    std::memcpy(&told_[static_cast<std::size_t>(rank())], mine, bytes);
    if (fails_) throw Error("what all have said is lost here");
    std::memcpy(all, told_.data(), bytes * kRanks);
  }

  bool fails_;
  std::vector<Told>& told_;
};

/// Rank 0 fails when it has told the others where they may write, and goes on with its program; then the others write.
TEST(ProcessMemory, MarksOfOthersComeToNothingOfARankThatHasFailed) {
  std::vector<Told> told(kRanks);
  Alone first(0, true, told);
  EXPECT_THROW(open_process_memory(first, true), Error);
  std::vector<std::vector<std::uint64_t>> taken;  // memory about as long as marks, old and new
  for (std::size_t i = 0; i < 100; ++i) taken.emplace_back(1 + i % (2 * kRanks));

  const std::uint64_t word = told[0][2];  // its stack is still as it was in a process of its own
  told[0][1] = reinterpret_cast<std::uint64_t>(&word);
  told[2] = told[0];
  Alone second(1, false, told);
  open_process_memory(second, true);  // rank 2 marks nothing: there is none

  const auto* mark = reinterpret_cast<const std::uint64_t*>(told[0][3]) + 1;
  EXPECT_EQ(*mark, word + 1) << "nothing was marked: this test shows nothing";
  for (const auto& one : taken) EXPECT_TRUE(std::all_of(one.begin(), one.end(), [](auto w) { return w == 0; }));
}

TEST(ProcessMemory, IsLeftAloneWhereTheEnvironmentSaysAnythingButYes) {
  for (const char* said : {"0", "no", "off"}) {
    std::vector<Told> told(kRanks);
    Alone first(0, true, told);
    setenv("CHASQUI_REACH", said, 1);
    EXPECT_EQ(open_process_memory(first, true), nullptr) << said;
    setenv("CHASQUI_REACH", "1", 1);
    EXPECT_THROW(open_process_memory(first, true), Error) << "nobody was asked: this test shows nothing";
  }
  unsetenv("CHASQUI_REACH");
}

}  // namespace
}  // namespace chasqui::run
