// SPDX-License-Identifier: MIT
// Ranks that call different things on one board: each must hear of it, and of what the other called, and nobody may wait
// for ever or use memory that is not there.
#include <gtest/gtest.h>


#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"

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
  call.layout.element = sizeof(long);
  call.op = run::operator_of<long>(sum, true);
  call.root = root;
  return call;
}

constexpr Kind kKinds[] = {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::gather, Kind::allgather, Kind::scatter, Kind::scan};

TEST(Disagreement, SizesThatDifferByMebibytes) {
  constexpr std::size_t kMiB = 1 << 20;
  for (const Kind kind : kKinds) {
    for (const std::size_t apart : {kMiB, 4 * kMiB}) {
      SCOPED_TRACE(std::string(to_string(kind)));
      const auto errors = errors_of(2, [&](run::Comm& comm) {
        const std::size_t count = (comm.rank() == 0 ? kMiB : kMiB + apart) / sizeof(long);
        std::vector<long> in(2 * count), out(2 * count);
        comm.run(call_of(kind, in, out, count, 0));
      });
      expect_words(errors, {"1048576", std::to_string(kMiB + apart), "same size"});
    }
  }
}

TEST(Disagreement, AnotherRoot) {
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::gather, Kind::scatter}) {
    for (const std::size_t count : {1, 100, 100'000}) {
      for (const int swapped : {0, 1}) {  // each takes itself for the root, or the other
        SCOPED_TRACE(fmt::format("{} of {}, {}", to_string(kind), count, swapped));
        expect_words(errors_of(2, [&](run::Comm& comm) {
                       std::vector<long> in(2 * count), out(2 * count);
                       comm.run(call_of(kind, in, out, count, comm.rank() ^ swapped));
                     }), {"root 0", "root 1", "same calls"});
      }
    }
  }
}

TEST(Disagreement, AnotherKind) {
  for (const Kind first : kKinds) {
    for (const Kind second : kKinds) {
      if (first == second) continue;
      for (const std::size_t count : {1, 100'000}) {
        SCOPED_TRACE(fmt::format("{} and {} of {}", to_string(first), to_string(second), count));
        expect_words(errors_of(3, [&](run::Comm& comm) {
                       std::vector<long> in(3 * count), out(3 * count);
                       comm.run(call_of(comm.rank() == 1 ? second : first, in, out, count, 0));
                     }), {std::string(to_string(first)), std::string(to_string(second)), "same calls"});
      }
    }
  }
}

/// Calls that differ by so little are never taken for each other.
TEST(Disagreement, SignaturesTellCallsApart) {
  const auto sign = [](std::uint64_t bytes, std::uint32_t what) { return run::Called{bytes, what}.after(12345) >> 44; };
  for (std::uint64_t apart = 1; apart < 514'229; ++apart) {
    ASSERT_NE(sign(1'000'000, 3), sign(1'000'000 + apart, 3)) << apart;
    ASSERT_NE(sign(8, 7), sign(8, 7 + static_cast<std::uint32_t>(apart))) << apart;
  }
}

}  // namespace
}  // namespace chasqui::engines
