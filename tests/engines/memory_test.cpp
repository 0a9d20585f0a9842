// SPDX-License-Identifier: MIT
// What collectives allocate: only blocks that a rank passes on, and no plans that were made before.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "chasqui/plan/sum.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/run/sum.hpp"
#include "chasqui/threads/team.hpp"
#include "run/board/board.hpp"
#include "run/comm/fabric.hpp"
#include "threads/channels.hpp"

namespace {

std::atomic<std::size_t> bytes_allocated = 0;
std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> bytes_held = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  bytes_allocated += bytes;
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  bytes_held += malloc_usable_size(memory);
  return memory;
}

void give_back(void* memory) {
  bytes_held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace chasqui::engines {
namespace {

using Comms = std::vector<std::unique_ptr<run::Comm>>;

void finish(std::vector<run::Request>& requests) {
  for (bool active = true; active;) {
    active = false;
    for (auto& request : requests) active = !request.test() || active;
  }
}

run::Choice forced(run::Method method) { return {method, 0, 1, ""}; }

TEST(Memory, GatherAndScatterTakeRoomForWhatTheyPassOn) {
  constexpr std::size_t kRanks = 32, kBytes = 65'536;
  for (const Kind kind : {Kind::gather, Kind::scatter}) {
    for (const int root : {0, 13}) {
      for (const auto method : {run::Method::messages, run::Method::tree}) {
        auto comms = threads::make_comms(kRanks, nullptr, false);
        std::vector<std::vector<char>> blocks(kRanks, std::vector<char>(kBytes));
        std::vector<char> whole(kRanks * kBytes, 'x');
        const bool gathers = kind == Kind::gather;
        for (std::size_t r = 0; r < kRanks; ++r) {
          std::memset(gathers ? blocks[r].data() : whole.data() + r * kBytes, static_cast<int>('A' + r), kBytes);
        }
        bytes_allocated = 0;
        std::vector<run::Request> requests;
        for (std::size_t r = 0; r < kRanks; ++r) {
          const bool at_root = static_cast<int>(r) == root;
          const void* in = gathers ? blocks[r].data() : at_root ? whole.data() : nullptr;
          void* out = !gathers ? blocks[r].data() : at_root ? whole.data() : nullptr;
          comms[r]->force(forced(method));
          requests.push_back(comms[r]->start({.kind = kind, .in = in, .out = out, .count = kBytes, .root = root}));
        }
        finish(requests);
        // Each block is passed on at most log P times; straight to its reader, never.
        const std::size_t passed = method == run::Method::messages ? 0 : 5;
        EXPECT_LT(bytes_allocated, (passed + 1) * kRanks * kBytes) << to_string(kind) << " by " << to_string(method);
        for (std::size_t r = 0; r < kRanks; ++r) {
          const std::vector<char> expected(kBytes, static_cast<char>('A' + r));
          EXPECT_EQ(std::memcmp(gathers ? whole.data() + r * kBytes : blocks[r].data(), expected.data(), kBytes), 0)
              << to_string(kind) << " by " << to_string(method) << ": block " << r;
        }
      }
    }
  }
}

/// Two ranks a node, a board each, messages between all.
Comms two_a_node(int ranks) {
  const auto channels = std::make_shared<threads::ChannelMemory>(ranks);
  Comms comms;
  std::shared_ptr<std::byte> memory;
  const auto shape = run::BoardShape::for_ranks(2);
  for (int rank = 0; rank < ranks; ++rank) {
    constexpr std::align_val_t kPage{4096};
    if (rank % 2 == 0) {
      memory = {static_cast<std::byte*>(::operator new(shape.bytes(), kPage)),
                [](std::byte* m) { ::operator delete(m, kPage); }};
      std::memset(memory.get(), 0, shape.bytes());
    }
    run::Fabric fabric;
    fabric.rank = rank;
    fabric.size = ranks;
    for (int r = 0; r < ranks; ++r) fabric.node_of.push_back(r / 2);
    fabric.board = {new run::Board(memory.get(), shape, rank % 2, ranks),
                    [memory](run::Board* board) { delete board; }};
    fabric.messages = std::make_shared<threads::ChannelTransport>(channels, rank);
    comms.push_back(run::make_comm(std::move(fabric)));
  }
  return comms;
}

/// Short ones by leaders only; of a long one in items the others of a node must know the order in which they come.
TEST(Memory, ATwoLevelCallIsPlannedOnce) {
  for (const std::int64_t bytes : {512, 65'536}) {
    auto comms = two_a_node(16);
    std::vector<std::vector<char>> data(comms.size(), std::vector<char>(static_cast<std::size_t>(bytes), 'a'));
    for (int time = 0; time < 3; ++time) {
      std::vector<run::Request> requests;
      for (std::size_t r = 0; r < comms.size(); ++r) {
        comms[r]->force(forced(run::Method::two_level));
        const std::size_t before = allocations;
        requests.push_back(comms[r]->start({.kind = Kind::broadcast, .out = data[r].data(), .count = bytes}));
        const std::size_t made = allocations - before;
        const bool plans = r % 2 == 0 || bytes > 512;
        if (!plans || time > 0) {
          EXPECT_LT(made, 100u) << bytes << " bytes, rank " << r << ", time " << time;
        }
      }
      finish(requests);
    }
  }
}

/// What a sum needs for the partial sums of others stays for the next one, unless it is large.
TEST(Memory, ASumOfLongOperandsKeepsNoneOfTheirs) {
  struct Long {
    long values[16'384];
  };
  const auto plan = plan::sum_operands(LogP{4, Time{1}, Time{0}, Time{1}}, 40);
  threads::Team team(4);
  team.run([&](run::Comm& comm) {
    const std::vector<Long> mine(static_cast<std::size_t>(plan->local({comm.rank()}).operands), Long{{1}});
    const auto add = [](const Long& a, const Long& b) { return Long{{a.values[0] + b.values[0]}}; };
    comm.barrier();
    const std::size_t before = bytes_held;
    comm.barrier();
    for (int time = 0; time < 3; ++time) {
      const Long sum = run::sum(comm, *plan, std::span<const Long>(mine), add);
      EXPECT_EQ(sum.values[0], comm.rank() == 0 ? 40 : sum.values[0]);
    }
    comm.barrier();
    EXPECT_LT(bytes_held, before + sizeof(Long));
    comm.barrier();
  });
}

struct alignas(64) Line {
  double values[8];
};

TEST(Memory, ThreadsFoldWhereElementsAreAligned) {
  threads::Team team(3);
  team.run([](run::Comm& comm) {
    bool off = false;
    const auto add = [&](const Line& a, const Line& b) {
      off = off || (reinterpret_cast<std::uintptr_t>(&a) | reinterpret_cast<std::uintptr_t>(&b)) % 64 != 0;
      Line c = a;
      for (int i = 0; i < 8; ++i) c.values[i] += b.values[i];
      return c;
    };
    for (const std::size_t count : {1, 2, 5, 30, 500, 10'000}) {
      std::vector<Line> in(count, Line{{1}}), out(count);
      for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::scan}) {
        const run::Call call{.kind = kind,
                             .in = in.data(),
                             .out = out.data(),
                             .count = static_cast<std::int64_t>(count),
                             .element = sizeof(Line),
                             .op = run::operator_of<Line>(add, true)};
        for (const auto& choice : comm.choices_for(call)) {
          comm.force(choice);
          comm.run(call);
          if (off) throw std::runtime_error(std::string("not aligned by ") + std::string(to_string(choice.method)));
        }
        comm.unforce();
      }
    }
  });
}

}  // namespace
}  // namespace chasqui::engines
