// SPDX-License-Identifier: MIT
// Ranks that wait in vain compare their calls: whoever differs is found, wherever it is, with few messages; who is only
// late is not.
#include "run/faults/gossip.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <set>

#include "chasqui/base/error.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::run {
namespace {

/// Only words travel.
class Words final : public FaultChannel {
 public:
  using Boxes = std::vector<std::deque<Told>>;
  Words(Boxes& boxes, int rank) : boxes_(boxes), rank_(rank) {}
  void tell(int to, std::uint64_t number, const Signature& call) override {
    ++told;
    boxes_[static_cast<std::size_t>(to)].push_back({rank_, number, call});
  }
  std::optional<Told> hear() override {
    auto& mine = boxes_[static_cast<std::size_t>(rank_)];
    if (mine.empty()) return std::nullopt;
    const Told first = mine.front();
    mine.pop_front();
    return first;
  }
  int told = 0;

 private:
  Boxes& boxes_;
  int rank_;
};

Call full_call(Kind kind, std::int64_t count, std::int64_t root = 0) {
  Call call;
  call.kind = kind;
  call.count = count;
  call.element = 8;
  call.root = root;
  return call;
}

Signature call_of(Kind kind, std::int64_t count, std::int64_t root = 0) {
  return signature_of(full_call(kind, count, root));
}

struct Rank {
  Rank(Words::Boxes& boxes, int rank, int size) : words(boxes, rank), gossip(rank, size, {1, 0}) {}
  void begin(const Signature& call) { calls.note(++last, call); }
  std::optional<Disagreement> look() { return gossip.look(words, calls, last, {last}); }
  Words words;
  Gossip gossip;
  CallHistory calls;
  std::uint64_t last = 0;
};

struct World {
  explicit World(int size) : boxes(static_cast<std::size_t>(size)) {
    for (int r = 0; r < size; ++r) ranks.push_back(std::make_unique<Rank>(boxes, r, size));
  }
  Rank& operator[](int rank) { return *ranks[static_cast<std::size_t>(rank)]; }
  /// Everybody looks so many times.
  std::optional<Disagreement> look(int times) {
    for (; times > 0; --times) {
      for (const auto& rank : ranks) {
        if (auto found = rank->look()) return found;
      }
    }
    return std::nullopt;
  }
  Words::Boxes boxes;
  std::vector<std::unique_ptr<Rank>> ranks;
};

int log2_up(int size) {
  int steps = 0;
  while ((std::int64_t{1} << steps) < size) ++steps;
  return steps;
}

/// Ranks are in different calls, as those who send and leave are; one called something else once.
RC_GTEST_PROP(Gossip, WhoeverCalledSomethingElseIsFound, ()) {
  const int size = *rc::gen::inRange(2, 70);
  const int culprit = *rc::gen::inRange(0, size);
  const int call = *rc::gen::inRange(1, 20);
  World world(size);
  for (int r = 0; r < size; ++r) {
    const int further = r == culprit ? 0 : *rc::gen::inRange(0, 4);  // the culprit is stuck, or everybody is
    for (int i = 1; i <= call + further; ++i) {
      const bool wrong = r == culprit && i == call;
      world[r].begin(call_of(i % 3 == 0 ? Kind::allreduce : Kind::broadcast, wrong ? 99 : 14 + i % 2));
    }
  }
  const auto found = world.look(log2_up(size) + 1);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->number == static_cast<std::uint64_t>(call));
  RC_ASSERT(found->what.find(fmt::format("rank {} calls", culprit)) != std::string::npos);
  RC_ASSERT(found->what.find(" of 99 x 8 bytes") != std::string::npos);
}

RC_GTEST_PROP(Gossip, WhoAgreesIsLeftAlone, ()) {
  const int size = *rc::gen::inRange(2, 70);
  World world(size);
  const int calls = *rc::gen::inRange(1, 60);
  const auto kind = [](int i) { return i % 5 == 0 ? Kind::barrier : Kind::allgather; };
  for (int i = 1; i <= calls; ++i) {
    for (int r = 0; r < size; ++r) {
      if (i + r % 3 <= calls) world[r].begin(call_of(kind(i), i % 7, r));  // some are late; no root is used
    }
    if (i % 4 == 0) RC_ASSERT(!world.look(2));
  }
  for (int r = 0; r < size; ++r) {
    while (world[r].last < static_cast<std::uint64_t>(calls)) {
      const int next = static_cast<int>(world[r].last) + 1;
      world[r].begin(call_of(kind(next), next % 7));
    }
  }
  RC_ASSERT(!world.look(20));
  int before = 0;
  for (const auto& rank : world.ranks) {
    RC_ASSERT(rank->words.told <= 2 * log2_up(size) * calls);
    before += rank->words.told;
  }
  RC_ASSERT(!world.look(20));  // and then there is silence
  for (const auto& rank : world.ranks) before -= rank->words.told;
  RC_ASSERT(before == 0);
}

TEST(Gossip, WhoComesLateComparesThen) {
  World world(2);
  world[0].begin(call_of(Kind::allgather, 14));
  EXPECT_FALSE(world.look(5));
  world[1].begin(call_of(Kind::allgather, 15));
  const auto found = world.look(1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->number, 1u);
  EXPECT_NE(found->what.find("rank 0 calls allgather of 14 x 8 bytes where rank 1 calls allgather of 15 x 8 bytes"),
            std::string::npos)
      << found->what;
}

TEST(Gossip, WhoLeavesIsWaitedForInVain) {
  World world(2);
  for (int r = 0; r < 2; ++r) world[r].begin(call_of(Kind::barrier, 0));
  world[0].begin(call_of(Kind::allgather, 14));
  EXPECT_FALSE(world.look(5));  // rank 1 may still come
  EXPECT_FALSE(world[0].look());
  const auto found = world[1].gossip.look(world[1].words, world[1].calls, 1, {}, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->number, 2u);
  EXPECT_EQ(found->what,
            "rank 0 waits in allgather of 14 x 8 bytes (call 2 of this communicator), and rank 1 ends after call 1");
}

TEST(Gossip, WhoNeverListensIsToldAFewTimesOnly) {
  World world(2);
  for (int i = 1; i <= 1000; ++i) {
    world[0].begin(call_of(Kind::reduce, i));
    EXPECT_FALSE(world[0].look());
  }
  EXPECT_LE(world[0].words.told, 8);
  for (int i = 1; i <= 1000; ++i) world[1].begin(call_of(Kind::reduce, i == 1000 ? 7 : i));
  EXPECT_TRUE(world.look(3));  // those first ones answered, the last is told
}

TEST(Gossip, PeersTellEachOther) {
  for (int size = 2; size < 200; ++size) {
    for (int r = 0; r < size; ++r) {
      const auto peers = Gossip::peers_of(r, size);
      EXPECT_LE(peers.size(), static_cast<std::size_t>(2 * log2_up(size)));
      for (const int peer : peers) {
        EXPECT_NE(peer, r);
        const auto back = Gossip::peers_of(peer, size);
        EXPECT_NE(std::find(back.begin(), back.end(), r), back.end()) << r << " of " << size;
      }
    }
  }
}

TEST(CallHistory, CallsAlikeTakeOnePlace) {
  CallHistory calls;
  std::uint64_t number = 0;
  for (int i = 0; i < 10; ++i) calls.note(++number, call_of(Kind::broadcast, 3));
  for (int i = 0; i < 100'000; ++i) calls.note(++number, call_of(Kind::barrier, 0));
  calls.note(++number, call_of(Kind::gather, 2, 1));
  EXPECT_EQ(to_text(calls.find(10)), "broadcast of 3 x 8 bytes from rank 0");
  EXPECT_EQ(to_text(calls.find(11)), "barrier");
  EXPECT_EQ(to_text(calls.find(100'010)), "barrier");
  EXPECT_EQ(to_text(calls.find(100'011)), "gather of 2 x 8 bytes to rank 1");
  for (int i = 0; i < 32; ++i) calls.note(++number, call_of(Kind::allreduce, i));
  EXPECT_FALSE(calls.find(11).known());
  EXPECT_EQ(calls.find(number - 31).count, 0u);
  EXPECT_EQ(calls.find(number).count, 31u);
}

TEST(Signature, OnlyWhatTheKindUsesIsCompared) {
  EXPECT_TRUE(agree(call_of(Kind::allreduce, 3, 0), call_of(Kind::allreduce, 3, 1)));
  EXPECT_FALSE(agree(call_of(Kind::reduce, 3, 0), call_of(Kind::reduce, 3, 1)));
  EXPECT_FALSE(agree(call_of(Kind::reduce, 3), call_of(Kind::gather, 3)));
  EXPECT_TRUE(agree(call_of(Kind::barrier, 3), call_of(Kind::barrier, 4)));
  EXPECT_TRUE(agree({}, call_of(Kind::barrier, 4)));
  EXPECT_FALSE(agree(Signature::own(), call_of(Kind::scan, 3)));
  for (const Kind kind : {Kind::scan, Kind::allreduce, Kind::gather, Kind::barrier}) {
    for (const std::int64_t count : {0, 3}) {
      const Call usual = full_call(kind, count);
      Call in_order = usual, exclusive = usual, wider = usual;
      in_order.op.commutative = false;
      exclusive.exclusive = true;
      wider.element = 16;
      const bool some = count != 0 && kind != Kind::barrier;
      EXPECT_EQ(agree(signature_of(in_order), signature_of(usual)), !some || kind == Kind::gather)
          << to_string(kind) << ' ' << count;
      EXPECT_EQ(agree(signature_of(exclusive), signature_of(usual)), kind != Kind::scan)
          << to_string(kind) << ' ' << count;
      EXPECT_EQ(agree(signature_of(wider), signature_of(usual)), !some) << to_string(kind) << ' ' << count;
    }
  }
}

/// Every message takes two looks.
class Hesitant final : public Transport {
 public:
  Ticket send(int, std::uint32_t, const void*, std::size_t) override { return ++last_; }
  Ticket receive(int, std::uint32_t, void*, std::size_t) override { return ++received, ++last_; }
  bool done(Ticket ticket) override { return !seen_.insert(ticket).second; }
  void abandon(Ticket) override {}

  int received = 0;

 private:
  Ticket last_ = 0;
  std::set<Ticket> seen_;
};

/// A call of many messages may take longer than its limit, which is for a time in which nothing moves. Here all of it is over at once,
/// and no two looks in a row find nothing.
TEST(Patience, EveryMessageThatComesIsSomethingThatMoves) {
  constexpr int kRanks = 40;
  const auto messages = std::make_shared<Hesitant>();
  Fabric fabric;
  fabric.size = kRanks;
  fabric.messages = messages;
  fabric.crowded = true;
  const auto comm = make_comm(std::move(fabric));
  set_timeout(*comm, 1e-9);
  const std::vector<char> in(kRanks * 65'536);
  std::vector<char> out(in.size());
  comm->alltoall(in, out);
  EXPECT_GE(messages->received, kRanks - 1) << "in one message, or a few";
  comm->ialltoall(in, out).wait();
  EXPECT_GE(messages->received, 2 * (kRanks - 1));
}

TEST(Patience, TheEnvironmentIsRead) {
  setenv("CHASQUI_STALL_SECONDS", "0.25", 1);
  setenv("CHASQUI_STALL_NOTICE", "30", 1);
  EXPECT_EQ(patience_from_environment().compare, 0.25);
  EXPECT_EQ(patience_from_environment().notice, 30);
  setenv("CHASQUI_STALL_SECONDS", "soon", 1);
  try {
    patience_from_environment();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "CHASQUI_STALL_SECONDS=soon: expected seconds, 0 or more (0: never)");
  }
  setenv("CHASQUI_STALL_SECONDS", "-1", 1);
  EXPECT_THROW(patience_from_environment(), Error);
  unsetenv("CHASQUI_STALL_SECONDS");
  unsetenv("CHASQUI_STALL_NOTICE");
  EXPECT_EQ(patience_from_environment().compare, 2);
}

}  // namespace
}  // namespace chasqui::run
