// SPDX-License-Identifier: MIT
// Things that fail in a group: each memfd_create, posix_fallocate, mmap and many allocations of ours fail once in turn, on each rank, on one
// host and on two pretended ones. Results are right, or every rank gets an Error; nobody waits for ever. The linker brings those calls
// here (--wrap).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/group/join.hpp"
#include "failing_memory.hpp"
#include "failing_new.hpp"
#include "fails_once.hpp"
#include "patience.hpp"
#include "processes.hpp"

extern "C" {
int __real_memfd_create(const char* name, unsigned flags);
int __wrap_memfd_create(const char* name, unsigned flags);

int __wrap_memfd_create(const char* name, unsigned flags) {
  if (!fails(Class::open)) return __real_memfd_create(name, flags);
  errno = EMFILE;
  return -1;
}
}

namespace chasqui::group {
namespace {

constexpr int kRanks = 3;

std::string live(const Options& options) {
  const std::vector<long> few(3, 1), ones(12'000, 1);
  std::vector<long> short_sums(few.size()), sums(ones.size()), prefix(few.size()), of_part(few.size());
  const auto comm = join(options);
  comm->allreduce(few, short_sums);
  auto request = comm->iallreduce(ones, sums);
  comm->scan(few, prefix);
  request.wait();
  const auto part = comm->split(0, -options.rank);
  part->allreduce(few, of_part);
  fault.countdown = 0;
  comm->barrier();  // whoever failed does not come here
  const bool right = short_sums.back() == kRanks && sums.front() == kRanks && sums.back() == kRanks &&
                     prefix.back() == options.rank + 1 && of_part.back() == kRanks;
  return right ? "right" : "a result is wrong";
}

/// The life of a group while the n-th call of a class fails on a rank. Who fails before it comes is waited for `timeout` seconds.
std::vector<End> lives(Class which, int n, int where, int node_size, double timeout) {
  const Folder folder;
  return run_ranks(kRanks, [&](int rank) {
    alarm(60 * chasqui::kPatience);  // a hang is a failure
    Options options;
    options.rank = rank;
    options.size = kRanks;
    options.rendezvous = folder / "meeting";
    options.pretend_node_size = node_size;
    options.timeout = timeout;
    fault = {which, rank == where ? n : 0, 0, ""};
    std::string text;
    try {
      text = live(options);
    } catch (const std::exception& error) {
      text = fmt::format("error: {}", error.what());
    }
    return text + (fault.failed != 0 ? "!" : "");
  });
}

bool told(const End& end) { return end.text.starts_with("error: "); }
bool happened(const End& end) { return end.text.ends_with("!"); }

/// False: there is no such call.
bool survived(Class which, int n, int where, int node_size) {
  auto ends = lives(which, n, where, node_size, 5 * chasqui::kSlowdown);
  // A machine that is busy with other things is given the time that it needs.
  if (std::none_of(ends.begin(), ends.end(), happened) && std::any_of(ends.begin(), ends.end(), told))
    ends = lives(which, n, where, node_size, 50 * chasqui::kSlowdown);
  const bool failed = std::any_of(ends.begin(), ends.end(), happened);
  const std::string what =
      fmt::format("number {} of class {} on rank {}, nodes of {}", n, static_cast<int>(which), where, node_size);
  const auto errors = std::count_if(ends.begin(), ends.end(), told);
  EXPECT_TRUE(errors == 0 || failed) << what;
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto& [signal, status, text] = ends[static_cast<std::size_t>(rank)];
    EXPECT_EQ(signal, 0) << what;
    if (errors == 0) EXPECT_EQ(text.substr(0, 5), "right") << what << ": " << text;
    else EXPECT_TRUE(errors == kRanks) << what << ": rank " << rank << ": " << text;
  }
  return failed;
}

class Failing : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    setenv("UCX_TLS", "tcp", 1);
    if (GetParam() != 0 && CHASQUI_HAVE_UCX == 0) GTEST_SKIP() << "no UCX";
  }
};
INSTANTIATE_TEST_SUITE_P(Nodes, Failing, testing::Values(0, 2));

TEST_P(Failing, EachPieceOfMemoryOnce) {
  int failures = 0;
  for (const Class which : {Class::open, Class::reserve, Class::map}) {
    for (int where = 0; where < kRanks; ++where) {
      for (int n = 1; survived(which, n, where, GetParam()); ++n) ++failures;
    }
  }
  EXPECT_GE(failures, 2 + 2 + kRanks) << "hardly anything failed";
}

TEST_P(Failing, ManyAllocationsOnce) {
  const int step = GetParam() == 0 ? 61 : 131;
  int failures = 0;
  for (int where = 0; where < kRanks; ++where) {
    for (int n = 3 * (1 + where); survived(Class::allocate, n, where, GetParam()); n += step) ++failures;
  }
  EXPECT_GE(failures, 6) << "hardly anything failed";
}

}  // namespace
}  // namespace chasqui::group
