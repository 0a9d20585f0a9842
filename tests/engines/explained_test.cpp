// SPDX-License-Identifier: MIT
// What runs is what was explained: for every collective, many sizes and machines, started and blocking, the method that ran is
// the first that choices() lists, which is what `chasqui explain` prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "chasqui/base/error.hpp"
#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/choose/board_methods.hpp"
#include "run/comm/engine.hpp"
#include "run/wait/cores.hpp"
#include "sweep.hpp"
#include "threads/channels.hpp"

namespace chasqui::engines {
namespace {

using Comms = std::vector<std::unique_ptr<run::Comm>>;
constexpr Kind kExplained[] = {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::gather,
                               Kind::scatter,   Kind::scan,   Kind::barrier,   Kind::alltoall,  Kind::reduce_scatter};

struct Machine {
  std::string name;
  int ranks = 1;
  Profile profile = default_profile();
  bool threads = false;
  bool cross_memory = false;
  bool native = false;
  bool messages = false;
  bool crowded = false;
  int node = 0;  ///< ranks of each; 0: all on one, negative: each on its own
  std::vector<Seat> seats{};
};

/// Reading is dear: groups fold.
Profile grouped() {
  Profile profile = default_profile();
  profile.levels[0].publish = Estimate::exactly(1);
  profile.levels[0].publish_per_rank = Estimate::exactly(1000);
  return profile;
}

/// The same, and what is near is cheap.
Profile near() {
  Profile profile = grouped();
  profile.levels[0].near.fill(Estimate::exactly(0.1));
  return profile;
}

/// The memory of other processes pays from about 40 KB on, the library's own around 512 KiB and from 4 MiB on.
Profile measured(int ranks, bool threads) {
  Profile profile = default_profile();
  for (Level& level : profile.levels) level.ranks = ranks;
  profile.levels[0].threads = threads;
  for (const Kind kind : kExplained) {
    const std::string name(to_string(kind));
    for (const std::int64_t bytes : {8, 64, 1024, 65'536, 262'144, 524'288, 1 << 20, 4 << 20, 8 << 20}) {
      const double ours = 1000 + static_cast<double>(bytes);
      profile.measured[name].emplace_back(bytes, ours);
      const bool fast = bytes == 262'144 || bytes == 524'288 || bytes >= 4 << 20;
      profile.native[name].emplace_back(bytes, fast ? 0.3 * ours : 2 * ours);
      if (run::crosses_memory(kind) && !threads)
        profile.cross_memory[name].emplace_back(bytes, 20'000 + 0.5 * static_cast<double>(bytes));
    }
  }
  return profile;
}

class PlainMemory final : public run::ProcessMemory {
 public:
  void read(int, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void write(int, void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
};

Comms make(const Machine& machine) {
  const int node = machine.node == 0 ? machine.ranks : std::max(machine.node, 1);
  const auto channels = std::make_shared<threads::ChannelMemory>(machine.ranks);
  const auto profile = std::make_shared<const Profile>(machine.profile);
  Comms comms;
  std::shared_ptr<std::byte> memory;
  for (int rank = 0; rank < machine.ranks; ++rank) {
    const int members = std::min(node, machine.ranks - rank / node * node);
    run::BoardShape shape =
        machine.threads ? run::BoardShape::for_threads(members) : run::BoardShape::for_ranks(members, 64 * 1024);
    shape.near = nearness_of(machine.seats);
    if (rank % node == 0) {
      constexpr std::align_val_t kPage{4096};
      memory = {static_cast<std::byte*>(::operator new(shape.bytes(), kPage)),
                [](std::byte* m) { ::operator delete(m, kPage); }};
      std::memset(memory.get(), 0, shape.bytes());
    }
    run::Fabric fabric;
    fabric.rank = rank;
    fabric.size = machine.ranks;
    for (int r = 0; r < machine.ranks; ++r) fabric.node_of.push_back(r / node);
    if (machine.node >= 0) {
      fabric.board = {new run::Board(memory.get(), shape, rank % node, machine.crowded ? 1 : run::available_cores()),
                      [memory](run::Board* board) { delete board; }};
    }
    fabric.shares_memory = machine.threads;
    if (machine.messages || machine.node != 0)
      fabric.messages = std::make_shared<threads::ChannelTransport>(channels, rank);
    if (machine.cross_memory) fabric.process_memory = std::make_shared<PlainMemory>();
    if (machine.native) fabric.native = [](const run::Call&) {};
    fabric.profile = profile;
    comms.push_back(run::make_comm(std::move(fabric)));
  }
  return comms;
}

/// Exclusive or of elements of any size.
struct Xor {
  std::size_t element;
  static void combine(void* self, const void* left, const void* right, void* out, std::size_t count) {
    const auto* a = static_cast<const unsigned char*>(left);
    const auto* b = static_cast<const unsigned char*>(right);
    for (std::size_t i = 0; i < count * static_cast<Xor*>(self)->element; ++i)
      static_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(a[i] ^ b[i]);
  }
};

struct Size {
  std::size_t count, element;
};
constexpr std::size_t kMost = std::size_t{8} << 20;  ///< bytes that all ranks move together

/// Up to a little more than a slot holds, then around every power of two and what a share can hold.
std::vector<Size> sizes(const Machine& machine, bool dense) {
  std::vector<std::size_t> bytes = {0, 1, 4, 55, 56, 57, 111, 112, 113, 120, 127, 128, 129};
  for (std::size_t b = 64; b <= 4200; b += dense ? 64 : 448) bytes.insert(bytes.end(), {b, b + 8});
  const std::size_t shares = 4096 * static_cast<std::size_t>(machine.ranks);
  for (const std::size_t b : {shares, shares / 2}) bytes.insert(bytes.end(), {b - 8, b, b + 8});
  for (std::size_t power = 8192; power <= (dense ? std::size_t{8} << 20 : std::size_t{1} << 19); power *= 2) {
    bytes.insert(bytes.end(), {power - 8, power, power + 8});
    for (std::size_t i = 1; dense && power <= 65'536 && i < 16; ++i) bytes.push_back(power + i * power / 16 / 8 * 8);
  }
  std::vector<Size> all;
  for (const std::size_t b : bytes) {
    all.push_back(b % 8 == 0 && b != 0 ? Size{b / 8, 8} : Size{b, 1});
    for (const std::size_t element : {std::size_t{16}, std::size_t{24}, std::size_t{56}})
      if (b % element == 0 && b != 0 && (b < 256 || b == shares)) all.push_back({b / element, element});
  }
  return all;
}

std::vector<unsigned char>& scratch(std::size_t rank, bool out, std::size_t bytes) {
  static std::vector<unsigned char> buffers[2][64];
  auto& buffer = buffers[out ? 1 : 0][rank];
  if (buffer.size() < bytes) buffer.resize(bytes, 1);
  return buffer;
}

bool too_much(const Machine& machine, Kind kind, const Size& size) {
  const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter ||
                      kind == Kind::alltoall || kind == Kind::reduce_scatter;
  const auto ranks = static_cast<std::size_t>(machine.ranks);
  const std::size_t all = size.count * size.element * ranks * (blocks ? ranks : 1);
  return all > kMost || (kind == Kind::barrier && size.count != 0);
}

run::Call call_of(const Machine& machine, Kind kind, const Size& size, std::size_t rank, Xor& op) {
  const std::size_t room =
      std::max<std::size_t>(1, size.count * size.element * static_cast<std::size_t>(machine.ranks));
  return {.kind = kind,
          .in = scratch(rank, false, room).data(),
          .out = scratch(rank, true, room).data(),
          .count = static_cast<std::int64_t>(size.count),
          .element = size.element,
          .op = {Xor::combine, &op, true, false, nullptr},
          .root = machine.ranks / 2};
}

/// What explain() prints first, from a table of its own; `started`: of what can be started.
class Explained {
 public:
  explicit Explained(const run::Comm& comm) : comm_(comm) {
    if (comm.topology().board && comm.topology().nodes == 1)
      table_ = run::BoardMethods(comm.topology(), comm.profile());
  }
  run::Method method(const run::Call& call, bool started) {
    const run::Query query{call.kind, call.kind == Kind::barrier ? 0 : call.bytes(), call.element, true};
    const auto list = run::choices(query, comm_.topology(), comm_.profile(), table_);
    if (++asked_ % 256 == 0) {
      EXPECT_EQ(run::choices(query, comm_.topology(), comm_.profile()).front().method, list.front().method);
      EXPECT_EQ(comm_.choices_for(call).front().method, list.front().method);
    }
    const auto found = std::find_if(list.begin(), list.end(), [started](const run::Choice& choice) {
      return !started || choice.method != run::Method::native;
    });
    return found->method;
  }

 private:
  const run::Comm& comm_;
  run::BoardMethods table_;
  int asked_ = 0;
};

std::string names(std::uint32_t methods) {
  std::string text;
  for (unsigned m = 0; m <= static_cast<unsigned>(run::Method::native); ++m) {
    if ((methods >> m & 1) != 0)
      text += std::string(text.empty() ? "" : ", ") + std::string(to_string(static_cast<run::Method>(m)));
  }
  return text.empty() ? "nothing" : text;
}

/// Nothing but the method that was explained; inside the nodes of two levels also methods of their boards.
void expect_ran(std::uint32_t ran, run::Method method, const std::string& what) {
  const std::uint32_t wanted = 1u << static_cast<unsigned>(method);
  const bool nodes = method == run::Method::two_level;
  const std::uint32_t counted = nodes ? ran & ~((2u << static_cast<unsigned>(run::Method::cross_memory)) - 1) : ran;
  EXPECT_EQ(counted, wanted) << what << ": explained " << to_string(method) << ", ran " << names(ran);
}

std::string words(const Machine& machine, const run::Call& call) {
  return fmt::format("{}, {} ranks: {} of {} x {} bytes", machine.name, machine.ranks, to_string(call.kind), call.count,
                     call.element);
}

/// Started on all ranks, polled in turn. Returns the methods that were seen.
std::uint32_t start_all(const Machine& machine) {
  Comms comms = make(machine);
  Explained explained(*comms[0]);
  std::uint32_t seen = 0;
  static Sweep sweep;
  for (const Kind kind : kExplained) {
    for (const Size& size : sizes(machine, !machine.messages && machine.node == 0)) {
      if (too_much(machine, kind, size) || !sweep.takes_next()) continue;
      Xor op{size.element};
      std::vector<run::Request> requests;
      for (std::size_t r = 0; r < comms.size(); ++r) {
        run::Engine::of(*comms[r]).forget_methods();
        requests.push_back(comms[r]->start(call_of(machine, kind, size, r, op)));
      }
      for (bool active = true; active;) {
        active = false;
        for (auto& request : requests) active = !request.test() || active;
      }
      const auto call = call_of(machine, kind, size, 0, op);
      const run::Method method = explained.method(call, true);
      for (std::size_t r = 0; r < comms.size() && machine.ranks > 1; ++r)
        expect_ran(run::Engine::of(*comms[r]).methods_run(), method, words(machine, call));
      seen |= 1u << static_cast<unsigned>(method);
      if (testing::Test::HasFailure()) return seen;
    }
  }
  return seen;
}

/// A thread for each rank; every call blocks.
std::uint32_t run_all(const Machine& machine) {
  Comms comms = make(machine);
  std::vector<std::pair<Kind, Size>> calls;
  for (const Kind kind : kExplained) {
    for (const Size& size : sizes(machine, false)) {
      if (!too_much(machine, kind, size)) calls.push_back({kind, size});
    }
  }
  std::vector<std::vector<std::uint32_t>> ran(comms.size(), std::vector<std::uint32_t>(calls.size()));
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < comms.size(); ++r) {
    for (const bool out : {false, true}) scratch(r, out, kMost);
    threads.emplace_back([&, r] {
      for (std::size_t i = 0; i < calls.size(); ++i) {
        Xor op{calls[i].second.element};
        run::Engine::of(*comms[r]).forget_methods();
        comms[r]->run(call_of(machine, calls[i].first, calls[i].second, r, op));
        ran[r][i] = run::Engine::of(*comms[r]).methods_run();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  Explained explained(*comms[0]);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Xor op{calls[i].second.element};
    const auto call = call_of(machine, calls[i].first, calls[i].second, 0, op);
    const run::Method method = explained.method(call, false);
    for (std::size_t r = 0; r < comms.size(); ++r) expect_ran(ran[r][i], method, words(machine, call));
    seen |= 1u << static_cast<unsigned>(method);
    if (testing::Test::HasFailure()) return seen;
  }
  return seen;
}

/// On two sockets.
std::vector<Seat> by_turns(int ranks) {
  std::vector<Seat> seats;
  for (int r = 0; r < ranks; ++r) seats.push_back({-1, -1, -1, -1, r % 2});
  return seats;
}

std::vector<Machine> one_node(int ranks) {
  return {
      {.name = "processes", .ranks = ranks},
      {.name = "processes, groups", .ranks = ranks, .profile = grouped()},
      {.name = "processes, crowded", .ranks = ranks, .crowded = true},
      {.name = "processes, cross-memory", .ranks = ranks, .cross_memory = true},
      {.name = "processes, measured",
       .ranks = ranks,
       .profile = measured(ranks, false),
       .cross_memory = true,
       .native = true},
      {.name = "processes, measured without a library",
       .ranks = ranks,
       .profile = measured(ranks, false),
       .cross_memory = true},
      {.name = "two sockets", .ranks = ranks, .profile = near(), .seats = by_turns(ranks < 8 ? 0 : ranks)},
      {.name = "sockets of caches", .ranks = ranks, .seats = *made_up_seats("socket:2 l3:2", ranks)},
      {.name = "threads, sockets of caches, near is cheap",
       .ranks = ranks,
       .profile = near(),
       .threads = true,
       .seats = *made_up_seats("socket:2 l3:2", ranks)},
      {.name = "threads", .ranks = ranks, .threads = true},
      {.name = "threads, groups, crowded", .ranks = ranks, .profile = grouped(), .threads = true, .crowded = true},
      {.name = "threads, measured", .ranks = ranks, .profile = measured(ranks, true), .threads = true, .native = true},
  };
}

bool all_of(std::uint32_t seen, std::initializer_list<run::Method> methods) {
  return std::all_of(methods.begin(), methods.end(),
                     [seen](run::Method m) { return (seen >> static_cast<unsigned>(m) & 1) != 0; });
}

TEST(Explained, WhatIsStartedOnOneNode) {
  std::uint32_t seen = 0;
  for (const int ranks : {1, 2, 3, 8, 16}) {
    for (const Machine& machine : one_node(ranks)) {
      seen |= start_all(machine);
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(all_of(seen, {run::Method::slots, run::Method::relay, run::Method::grouped_fold, run::Method::level_fold,
                            run::Method::shared_fold, run::Method::exposed_fold, run::Method::staged,
                            run::Method::direct, run::Method::cross_memory}))
      << names(seen);
}

TEST(Explained, WhatBlocksOnOneNode) {
  std::uint32_t seen = 0;
  for (const int ranks : {2, 3, 8}) {
    for (const Machine& machine : one_node(ranks)) {
      seen |= run_all(machine);
      if (HasFailure()) return;
    }
  }
  EXPECT_TRUE(all_of(seen, {run::Method::slots, run::Method::relay, run::Method::grouped_fold, run::Method::level_fold,
                            run::Method::shared_fold, run::Method::exposed_fold, run::Method::staged,
                            run::Method::direct, run::Method::cross_memory, run::Method::native}))
      << names(seen);
}

TEST(Explained, ByMessagesAndByTwoLevels) {
  std::uint32_t seen = 0;
  for (const int node : {-1, 2, 3}) {
    const Machine machine{.name = node < 0 ? "messages" : "nodes", .ranks = 6, .messages = true, .node = node};
    seen |= start_all(machine);
    seen |= run_all(machine);
    if (HasFailure()) return;
  }
  EXPECT_TRUE(all_of(seen, {run::Method::tree, run::Method::two_level})) << names(seen);
}

/// The table is what explain() prints, also where the elements of a fold do not fit the board.
TEST(Explained, ElementsThatTheBoardCannotHold) {
  const Machine machine{.name = "large elements", .ranks = 3, .messages = true};
  Comms comms = make(machine);
  Xor op{40'000};
  std::vector<run::Request> requests;
  for (std::size_t r = 0; r < comms.size(); ++r) {
    run::Engine::of(*comms[r]).forget_methods();
    requests.push_back(comms[r]->start(call_of(machine, Kind::allreduce, {2, 40'000}, r, op)));
  }
  for (bool active = true; active;) {
    active = false;
    for (auto& request : requests) active = !request.test() || active;
  }
  const auto call = call_of(machine, Kind::allreduce, {2, 40'000}, 0, op);
  const run::Method method = Explained(*comms[0]).method(call, true);
  EXPECT_FALSE(run::on_board(method));
  expect_ran(run::Engine::of(*comms[0]).methods_run(), method, words(machine, call));
}

}  // namespace
}  // namespace chasqui::engines
