// SPDX-License-Identifier: MIT
#include "run/board/lent_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "run/board/node_ranks.hpp"

namespace chasqui::run {
namespace {

/// Ranks of a node that are threads of this process. lie: rank 0 says that its pipes are those of another process.
struct Node {
  explicit Node(int ranks_) : ranks(ranks_), meet(ranks_), said(static_cast<std::size_t>(ranks_)) {}
  int ranks;
  std::barrier<> meet;
  std::vector<int> said;
  std::vector<std::byte> told;
  bool lie = false;
};

class Threads final : public NodeRanks {
 public:
  Threads(Node& node, int rank) : NodeRanks(rank, node.ranks), node_(node) {}
  int most(int mine) override {
    node_.said[static_cast<std::size_t>(rank())] = mine;
    node_.meet.arrive_and_wait();
    const int most = *std::max_element(node_.said.begin(), node_.said.end());
    node_.meet.arrive_and_wait();
    return most;
  }
  int open_memory(std::size_t) override { return -1; }
  std::size_t free_memory() const override { return 0; }

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override {
    if (rank() == 0) node_.told.resize(bytes * static_cast<std::size_t>(node_.ranks));
    node_.meet.arrive_and_wait();
    std::memcpy(&node_.told[bytes * static_cast<std::size_t>(rank())], mine, bytes);
    node_.meet.arrive_and_wait();
    const int other = 1;
    constexpr std::size_t kProcess = 8;  // where its number stands, in what is told of each pipe
    for (std::size_t at = kProcess; rank() == 0 && node_.lie && at < bytes; at += 16)
      std::memcpy(&node_.told[at], &other, sizeof other);
    node_.meet.arrive_and_wait();
    std::memcpy(all, node_.told.data(), node_.told.size());
    node_.meet.arrive_and_wait();
  }

  Node& node_;
};

std::vector<std::shared_ptr<LentPages>> opened(int ranks, bool lie = false) {
  Node node(ranks);
  node.lie = lie;
  std::vector<std::shared_ptr<LentPages>> all(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      Threads mine(node, r);
      all[static_cast<std::size_t>(r)] = open_lent_pages(mine, true);
    });
  }
  threads.clear();
  return all;
}

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

TEST(LentPages, GoFromEveryRankToEveryOther) {
  const auto all = opened(3);
  for (const auto& pages : all) ASSERT_NE(pages, nullptr);
  const auto given = some_bytes(50'001);
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (from == to) continue;
      const auto& lender = all[static_cast<std::size_t>(from)];
      const auto& reader = all[static_cast<std::size_t>(to)];
      std::vector<std::byte> got(given.size());
      EXPECT_EQ(reader->take(from, got.data(), got.size()), 0u) << "nothing was lent yet";
      EXPECT_EQ(lender->lend(to, given.data(), given.size()), given.size());
      EXPECT_EQ(reader->take(from, got.data(), got.size()), given.size());
      EXPECT_EQ(got, given);
    }
  }
}

TEST(LentPages, AFullPipeTakesTheRestLater) {
  const auto all = opened(2);
  ASSERT_NE(all[0], nullptr);
  const auto given = some_bytes(3'000'000);
  std::vector<std::byte> got(given.size());
  std::size_t lent = 0, taken = 0;
  bool was_full = false;
  while (taken < given.size()) {
    const std::size_t more = all[0]->lend(1, given.data() + lent, given.size() - lent);
    was_full = was_full || (more == 0 && lent < given.size()) || more < given.size() - lent;
    lent += more;
    taken += all[1]->take(0, got.data() + taken, std::min<std::size_t>(40'000, got.size() - taken));
  }
  EXPECT_TRUE(was_full);
  EXPECT_EQ(got, given);
}

TEST(LentPages, NobodyTakesWhatWasTakenBack) {
  const auto all = opened(2);
  ASSERT_NE(all[0], nullptr);
  const auto given = some_bytes(60'000);
  std::vector<std::byte> got(given.size());
  {
    Loan loan;
    loan.begin(all[0].get());
    EXPECT_GT(all[0]->lend(1, given.data(), given.size()), 0u);
  }
  EXPECT_EQ(all[1]->take(0, got.data(), got.size()), 0u);
  {
    Loan loan;
    loan.begin(all[0].get());
    EXPECT_GT(all[0]->lend(1, given.data(), given.size()), 0u);
    loan.all_have_taken();
  }
  EXPECT_GT(all[1]->take(0, got.data(), got.size()), 0u) << "taken back for nothing";
}

TEST(LentPages, ALenderThatIsGoneIsAnError) {
  auto all = opened(2);
  ASSERT_NE(all[0], nullptr);
  all[0].reset();
  std::byte got{};
  try {
    all[1]->take(0, &got, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "1 bytes that rank 0 lends cannot be taken: its process has ended, or was killed");
  }
}

TEST(LentPages, MemoryThatIsNotThereIsAnError) {
  const auto all = opened(2);
  ASSERT_NE(all[0], nullptr);
  void* const nothing = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  try {
    all[0]->lend(1, static_cast<std::byte*>(nothing), 100);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "100 bytes of memory cannot be lent to rank 1: Bad address; CHASQUI_LEND=0 does without");
  }
  munmap(nothing, 4096);
}

TEST(LentPages, AreLeftAloneWhereTheyCannotBeHad) {
  setenv("CHASQUI_LEND", "0", 1);
  EXPECT_EQ(opened(2)[0], nullptr);
  unsetenv("CHASQUI_LEND");
  EXPECT_EQ(opened(2, true)[1], nullptr) << "another process lends";
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 40;
  setrlimit(RLIMIT_NOFILE, &few);
  EXPECT_EQ(opened(8)[0], nullptr) << "a quarter of 40 descriptors is too little";
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_NE(opened(8)[0], nullptr) << "what came to nothing was not given back";
}

}  // namespace
}  // namespace chasqui::run
