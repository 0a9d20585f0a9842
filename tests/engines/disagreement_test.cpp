// SPDX-License-Identifier: MIT
// Ranks that call different things on one board: each must hear of it, and of what the other called, and nobody may wait
// for ever or use memory that is not there.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"
#include "run/comm/fabric.hpp"
#include "run/faults/call_history.hpp"
#include "run/messages/transport.hpp"
#include "run/wait/task.hpp"

namespace chasqui::engines {
namespace {

/// What every rank heard.
std::vector<std::string> errors_of(int ranks, const std::function<void(run::Comm&)>& body) {
  threads::Team team(ranks);
  std::vector<std::string> errors(static_cast<std::size_t>(ranks), "none");
  team.run([&](run::Comm& comm) {
    try {
      body(comm);
      for (int i = 0; i < 3; ++i) comm.barrier();
    } catch (const std::exception& error) {
      errors[static_cast<std::size_t>(comm.rank())] = error.what();
    }
  });
  return errors;
}

void expect_words(const std::vector<std::string>& errors, const std::vector<std::string>& words) {
  for (const auto& error : errors) {
    for (const auto& word : words) EXPECT_NE(error.find(word), std::string::npos) << '"' << word << "\" in: " << error;
  }
}

run::Call call_of(Kind kind, std::vector<long>& in, std::vector<long>& out, std::size_t count, int root) {
  static const run::Sum sum;
  run::Call call;
  call.kind = kind;
  call.in = in.data();
  call.out = out.data();
  call.count = static_cast<std::int64_t>(count);
  call.element = sizeof(long);
  call.op = run::operator_of<long>(sum, true);
  call.root = root;
  return call;
}

constexpr Kind kCalled[] = {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::gather,        Kind::allgather,
                            Kind::scatter,   Kind::scan,   Kind::alltoall,  Kind::reduce_scatter};

TEST(Disagreement, SizesThatDifferByMebibytes) {
  constexpr std::size_t kMiB = 1 << 20;
  for (const Kind kind : kCalled) {
    for (const std::size_t apart : {kMiB, 4 * kMiB}) {
      SCOPED_TRACE(std::string(to_string(kind)));
      const auto errors = errors_of(2, [&](run::Comm& comm) {
        const std::size_t count = (comm.rank() == 0 ? kMiB : kMiB + apart) / sizeof(long);
        std::vector<long> in(2 * count), out(2 * count);
        comm.run(call_of(kind, in, out, count, 0));
      });
      expect_words(errors, {fmt::format("of {} x 8 bytes", kMiB / 8),
                            fmt::format("of {} x 8 bytes", (kMiB + apart) / 8), "same size"});
    }
  }
}

/// Who takes more or less than it is given finds out; short blocks and long ones.
TEST(Disagreement, ABlockOfTwoLengths) {
  for (const std::int64_t count : {1, 1000, 100'000}) {
    SCOPED_TRACE(count);
    std::vector<std::string> errors = errors_of(2, [&](run::Comm& comm) {
      const std::vector<std::int64_t> gives = {count, comm.rank() == 0 ? count + 1 : count}, takes = {count, count};
      std::vector<long> in(static_cast<std::size_t>(2 * count + 1)), out(static_cast<std::size_t>(2 * count));
      comm.alltoallv(in, gives, out, takes);
    });
    for (const std::string& error : errors)
      EXPECT_NE(error.find(fmt::format("rank 0 gives {} bytes to rank 1, which takes {}", 8 * count + 8, 8 * count)),
                std::string::npos)
          << error;
  }
}

TEST(Disagreement, AnotherRoot) {
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::gather, Kind::scatter}) {
    for (const std::size_t count : {1, 100, 100'000}) {
      for (const int swapped : {0, 1}) {  // each takes itself for the root, or the other
        SCOPED_TRACE(fmt::format("{} of {}, {}", to_string(kind), count, swapped));
        const char* to = kind == Kind::broadcast || kind == Kind::scatter ? "from" : "to";
        expect_words(errors_of(2,
                               [&](run::Comm& comm) {
                                 std::vector<long> in(2 * count), out(2 * count);
                                 comm.run(call_of(kind, in, out, count, comm.rank() ^ swapped));
                               }),
                     {fmt::format("bytes {} rank 0", to), fmt::format("bytes {} rank 1", to), "same calls"});
      }
    }
  }
}

TEST(Disagreement, AnotherKind) {
  for (const Kind first : kCalled) {
    for (const Kind second : kCalled) {
      if (first == second) continue;
      for (const std::size_t count : {1, 100'000}) {
        SCOPED_TRACE(fmt::format("{} and {} of {}", to_string(first), to_string(second), count));
        expect_words(errors_of(3,
                               [&](run::Comm& comm) {
                                 std::vector<long> in(3 * count), out(3 * count);
                                 comm.run(call_of(comm.rank() == 1 ? second : first, in, out, count, 0));
                               }),
                     {std::string(to_string(first)), std::string(to_string(second)), "same calls"});
      }
    }
  }
}

run::Task word_from_rank_0(run::Group group) {
  long word = 0;
  const auto ticket = group.transport->receive(0, group.tag, &word, sizeof word);
  co_await run::until([&] { return group.transport->done(ticket); });
}

/// What goes past the board is compared with what goes over it, whether that waits or has been left.
TEST(Disagreement, AnOperationOfOnesOwn) {
  for (const bool leaves : {false, true}) {
    SCOPED_TRACE(leaves);
    expect_words(errors_of(2,
                           [&](run::Comm& comm) {
                             long value = 0;
                             comm.barrier();
                             if (comm.rank() == 1) run::launch(comm, word_from_rank_0).wait();
                             else if (leaves) comm.broadcast(value, 0);
                             else comm.allreduce(value);
                           }),
                 {leaves ? "broadcast of 1 x 8 bytes from rank 0" : "allreduce of 1 x 8 bytes",
                  "an operation of its own", "call 2 of this communicator", "same calls"});
  }
}

/// A rank refuses many calls, and catches that, before another comes to the first of them: that one must hear of it.
TEST(Disagreement, ManyRefusalsBeforeTheOthersCome) {
  for (const int refusals : {1, 9, 100}) {
    for (const bool between : {false, true}) {  // broadcasts that the root need not wait for, as many as fit
      SCOPED_TRACE(fmt::format("{} refusals, {}", refusals, between));
      std::atomic<bool> refused{false};
      threads::Team team(2);
      std::string heard = "nothing";
      team.run([&](run::Comm& comm) {
        int x = 0;
        if (comm.rank() == 0) {
          for (int i = 0; i < refusals; ++i) {
            EXPECT_THROW(comm.broadcast(x, 7), Error);
            if (between && i < 7) comm.broadcast(x, 0);
          }
          refused = true;
        } else {
          while (!refused) std::this_thread::yield();
          try {
            comm.broadcast(x, 0);
            comm.broadcast(x, 0);
          } catch (const Error& error) {
            heard = error.what();
          }
        }
      });
      EXPECT_NE(heard.find("refused"), std::string::npos) << heard;
    }
  }
}

/// All refuse the same calls, one long before the other: nothing has happened.
TEST(Disagreement, RefusedByAll) {
  threads::Team team(2);
  std::atomic<bool> refused{false};
  team.run([&](run::Comm& comm) {
    int x = comm.rank();
    while (comm.rank() == 1 && !refused) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) EXPECT_THROW(comm.broadcast(x, 7), Error);
    refused = true;
    comm.broadcast(x, 1);
    EXPECT_EQ(x, 1);
  });
}

struct ThrowsANumber {
  bool throws;
  long operator()(long a, long b) const {
    if (throws) throw 5;
    return a + b;
  }
};

TEST(Disagreement, AnOperatorThatThrowsNoException) {
  for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::scan}) {
    for (const std::size_t count : {1, 100'000}) {
      SCOPED_TRACE(fmt::format("{} of {}", to_string(kind), count));
      threads::Team team(3);
      std::vector<std::string> heard(3, "nothing");
      team.run([&](run::Comm& comm) {
        std::vector<long> in(count), out(count);
        const ThrowsANumber throws{comm.rank() == 1};
        auto call = call_of(kind, in, out, count, 1);
        call.op = run::operator_of<long>(throws, true);
        auto& own = heard[static_cast<std::size_t>(comm.rank())];
        try {
          comm.run(call);
          comm.barrier();
        } catch (int number) {
          own = fmt::format("an operator threw {}", number);
        } catch (const Error& error) {
          own = error.what();
        }
      });
      expect_words(heard, {"an operator threw"});
    }
  }
}

/// Calls that differ by so little are never taken for each other.
TEST(Disagreement, SumsTellCallsApart) {
  const auto sign = [](std::uint64_t count, std::uint64_t what) {
    return run::Signature::sum(12345, run::Signature{count, 8, what}.word()) >> 44;
  };
  for (std::uint64_t apart = 1; apart < 514'229; ++apart) {
    ASSERT_NE(sign(1'000'000, 3), sign(1'000'000 + apart, 3)) << apart;
    ASSERT_NE(sign(8, 7), sign(8, 7 + apart)) << apart;
  }
}

}  // namespace
}  // namespace chasqui::engines
