// SPDX-License-Identifier: MIT
// Numbers of calls, rounds and tags that are about to wrap, in whatever width somebody keeps them; and very many requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/board.hpp"
#include "run/comm/fabric.hpp"
#include "suite.hpp"
#include "threads/channels.hpp"

namespace chasqui::run {
namespace {

/// The communicators of `ranks` ranks that have made so many calls before.
class Old {
 public:
  Old(int ranks, std::uint64_t calls, bool with_board, bool stages) {
    BoardShape shape = stages ? BoardShape::for_ranks(ranks, 64 * 1024) : BoardShape::for_threads(ranks);
    memory_ = ::operator new(shape.bytes(), kPage);
    std::memset(memory_, 0, shape.zeroed());
    const auto channels = std::make_shared<threads::ChannelMemory>(ranks);
    for (int r = 0; r < ranks; ++r) {
      Fabric fabric;
      fabric.rank = r;
      fabric.size = ranks;
      if (with_board) fabric.board = std::make_shared<Board>(memory_, shape, r, 1);
      fabric.messages = std::make_shared<threads::ChannelTransport>(channels, r);
      fabric.shares_memory = !stages;
      fabric.crowded = true;
      fabric.calls_before = calls;
      comms_.push_back(make_comm(std::move(fabric)));
    }
  }
  ~Old() {
    comms_.clear();
    ::operator delete(memory_, kPage);
  }
  Old(const Old&) = delete;
  Old& operator=(const Old&) = delete;

  /// A rank's own communicator. REQUIRES it ends before this object.
  std::unique_ptr<Comm> take(int rank) { return std::move(comms_[static_cast<std::size_t>(rank)]); }
  /// Runs `body` on every rank; what each threw.
  template <typename Body>
  std::vector<std::string> run(Body body) {
    std::vector<std::string> heard(comms_.size());
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < comms_.size(); ++r) {
      threads.emplace_back([&, r] {
        try {
          body(*comms_[r]);
        } catch (const std::exception& error) {
          heard[r] = error.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return heard;
  }

 private:
  static constexpr std::align_val_t kPage{4096};
  void* memory_;
  std::vector<std::unique_ptr<Comm>> comms_;
};

/// The header of a line has 44 bits for the number; tags go around after 2000 calls.
constexpr std::uint64_t kWraps[] = {1'999,
                                    (1u << 15) - 2,
                                    (1u << 16) - 2,
                                    (1u << 20) - 2,
                                    (std::uint64_t{1} << 31) - 2,
                                    (std::uint64_t{1} << 32) - 2,
                                    (std::uint64_t{1} << 44) - 2,
                                    (std::uint64_t{1} << 60) - 2};

TEST(Wrap, EveryCollectiveByEveryWay) {
  for (const std::uint64_t wrap : kWraps) {
    for (const int ranks : {2, 3}) {
      for (const int way : {0, 1, 2}) {
        Old comms(ranks, wrap - 5, way != 0, way == 1);
        const auto heard = comms.run([&](Comm& comm) {
          engines::run_blocking(comm, engines::recipes(ranks, {0, ranks - 1}, {1, 30, 3000}));
          engines::run_in_flight(comm, engines::recipes(ranks, {0}, {1, 300}), 4);
        });
        for (const auto& each : heard) EXPECT_EQ(each, "") << wrap << " way " << way;
      }
    }
  }
}

TEST(Wrap, RanksThatCallDifferentThingsAreTold) {
  for (const std::uint64_t wrap : kWraps) {
    Old comms(2, wrap - 3, true, false);
    const auto heard = comms.run([&](Comm& comm) {
      for (int i = 0; i < 10; ++i) comm.barrier();
      std::vector<long> data(comm.rank() == 0 ? 3 : 4, 1);
      comm.allreduce(data, data);
    });
    for (const auto& each : heard) EXPECT_NE(each.find("rank"), std::string::npos) << wrap << ": " << each;
  }
}

/// On dozens of communicators, started and waited for in another order on every rank.
TEST(ManyRequests, OnManyCommunicatorsInAnyOrder) {
  threads::Team(3).run([](Comm& comm) {
    std::vector<std::unique_ptr<Comm>> comms;
    for (int i = 0; i < 36; ++i)
      comms.push_back(comm.split(i % 3 == 0 ? comm.rank() % 2 : 0, i % 2 == 0 ? 0 : -comm.rank()));
    engines::stress(comms, 4000, comm.rank(), 15);
  });
}

/// By boards with stages and without, and by messages, while the numbers of calls wrap.
TEST(ManyRequests, OnCommunicatorsWhoseNumbersWrap) {
  constexpr int kRanks = 3;
  std::vector<std::unique_ptr<Old>> olds;
  for (int way = 0; way < 3; ++way) {
    for (const std::uint64_t wrap : kWraps)
      olds.push_back(std::make_unique<Old>(kRanks, wrap - 20, way != 0, way == 1));
  }
  std::vector<std::string> heard(kRanks);
  std::vector<std::thread> threads;
  for (int r = 0; r < kRanks; ++r) {
    threads.emplace_back([&, r] {
      std::vector<std::unique_ptr<Comm>> comms;
      for (const auto& old : olds) comms.push_back(old->take(r));
      try {
        engines::stress(comms, 3000, r, 16);
      } catch (const std::exception& error) {
        heard[static_cast<std::size_t>(r)] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& each : heard) EXPECT_EQ(each, "");
}

}  // namespace
}  // namespace chasqui::run
