// SPDX-License-Identifier: MIT
// Each rank stopped at each step of each collective, and killed at some: a step is an instruction (ptrace). Stopped, the results
// are right; killed, every other rank gets an Error. CHASQUI_STEPS_KILLED=n: n kills in each call of each rank instead of one.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/group/join.hpp"
#include "chasqui/threads/team.hpp"
#include "engines/stepping.hpp"
#include "engines/suite.hpp"
#include "patience.hpp"
#include "processes.hpp"

namespace chasqui::group {
namespace {

constexpr int kRanks = 3;
constexpr long kMostSteps = 6000;  ///< in one call; then it runs

/// The thread that is traced, as it says itself.
class Victim {
 public:
  Victim()
      : thread_(static_cast<std::atomic<pid_t>*>(
            mmap(nullptr, sizeof(std::atomic<pid_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Victim() { munmap(thread_, sizeof *thread_); }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  /// Called by the victim: it stops here and at every signal from now on.
  void offer() {
    if (!engines::be_traced()) _exit(77);
    thread_->store(gettid());
    std::raise(SIGSTOP);
  }
  /// 0: that is not permitted here.
  pid_t take(pid_t process) {
    while (thread_->load() == 0) {
      int status = 0;
      if (waitpid(process, &status, WNOHANG | WNOWAIT) == process && WIFEXITED(status)) return 0;
      usleep(1000);
    }
    int status = 0;
    return waitpid(thread_->load(), &status, __WALL) == thread_->load() ? thread_->load() : 0;
  }

 private:
  std::atomic<pid_t>* thread_;
};

/// A group of processes, one of them traced.
class Group {
 public:
  /// node_size: 0, or ranks of a pretended host, between which UCX carries messages.
  Group(int victim, int node_size) {
    setenv("UCX_TLS", "tcp", 1);
    for (int rank = 0; rank < kRanks; ++rank) {
      processes_.start([&, rank] {
        alarm(60 * chasqui::kPatience);  // a hang is a failure
        Options options;
        options.rank = rank;
        options.size = kRanks;
        options.rendezvous = folder_ / "meeting";
        options.pretend_node_size = node_size;
        const auto comm = join(options);
        if (rank == victim) offered_.offer();
        engines::run_marked(*comm);
        comm->barrier();
        return std::string("right");
      });
    }
    thread_ = offered_.take(processes_.process(static_cast<std::size_t>(victim)));
  }
  pid_t thread() const { return thread_; }
  void kill_it() const { kill(thread_, SIGKILL); }
  End end(int rank) { return processes_.end(static_cast<std::size_t>(rank)); }

 private:
  Folder folder_;
  Victim offered_;
  Processes processes_;
  pid_t thread_ = 0;
};

/// Steps through every marked call; how many steps each had.
std::vector<long> steps_of(pid_t thread) {
  std::vector<long> steps;
  engines::Traced traced(thread);
  while (traced.to_mark()) {
    steps.push_back(traced.step(kMostSteps));
    if (steps.back() == kMostSteps && !traced.to_mark()) break;
  }
  return steps;
}

/// How many steps the calls of a rank had when it was stopped at each: found once for both tests.
std::map<std::pair<int, int>, std::vector<long>>& steps_found() {
  static std::map<std::pair<int, int>, std::vector<long>> found;
  return found;
}

constexpr std::size_t kCalls = 22;  ///< marked, at least: two lengths, and blocks of different lengths in two kinds

class Steps : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() != 0 && CHASQUI_HAVE_UCX == 0) GTEST_SKIP() << "no UCX";
  }
};
INSTANTIATE_TEST_SUITE_P(Nodes, Steps, testing::Values(0, 2));

TEST_P(Steps, AProcessIsStoppedAtEach) {
  for (int victim = 0; victim < kRanks; ++victim) {
    Group group(victim, GetParam());
    if (group.thread() == 0) GTEST_SKIP() << "ptrace is forbidden here";
    const auto steps = steps_of(group.thread());
    EXPECT_GE(steps.size(), kCalls);
    steps_found()[{GetParam(), victim}] = steps;
    for (const long each : steps) EXPECT_GT(each, 50);
    for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(group.end(rank).text, "right") << rank << " of " << victim;
  }
}

TEST(StepsOfThreads, OneIsStoppedAtEach) {
  for (int victim = 0; victim < kRanks; ++victim) {
    Victim offered;
    Processes processes;
    processes.start([&] {
      alarm(60 * chasqui::kPatience);
      threads::Team(kRanks).run([&](run::Comm& comm) {
        if (comm.rank() == victim) offered.offer();
        engines::run_marked(comm);
      });
      return std::string("right");
    });
    const pid_t thread = offered.take(processes.process(0));
    if (thread == 0) GTEST_SKIP() << "ptrace is forbidden here";
    EXPECT_GE(steps_of(thread).size(), kCalls);
    EXPECT_EQ(processes.end(0).text, "right") << victim;
  }
}

/// The others get an error that names who was killed.
void expect_named(Group& group, int victim, const std::string& where) {
  const std::string name = fmt::format("rank {}: its process has ended, or was killed", victim);
  for (int rank = 0; rank < kRanks; ++rank) {
    const End end = group.end(rank);
    EXPECT_EQ(end.signal, rank == victim ? SIGKILL : 0) << where << ", rank " << rank;
    EXPECT_EQ(end.status, rank == victim ? 0 : 1) << where << ", rank " << rank;
    if (rank == victim) continue;
    EXPECT_NE(end.text.find(name), std::string::npos) << where << ", rank " << rank << ": " << end.text;
  }
}

TEST_P(Steps, AProcessIsKilledAtSome) {
  const char* many = std::getenv("CHASQUI_STEPS_KILLED");
  const int kills = many != nullptr ? std::atoi(many) : 1;
  const std::size_t every = GetParam() == 0 ? 1 : 7;  // between hosts it takes a second to be sure
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 chance(seed);
  for (int victim = 0; victim < kRanks; ++victim) {
    auto& steps = steps_found()[{GetParam(), victim}];
    if (steps.empty()) {  // this test alone
      Group whole(victim, GetParam());
      if (whole.thread() == 0) GTEST_SKIP() << "ptrace is forbidden here";
      steps = steps_of(whole.thread());
    }
    for (std::size_t call = chance() % every; call < steps.size(); call += every) {
      for (int i = 0; i < kills; ++i) {
        const long at = std::uniform_int_distribution<long>(0, steps[call])(chance);
        Group group(victim, GetParam());
        engines::Traced traced(group.thread());
        for (std::size_t before = 0; before < 2 * call + 1; ++before) ASSERT_TRUE(traced.to_mark());
        traced.step(at);
        group.kill_it();
        expect_named(group, victim, fmt::format("killed: {} in call {} at {}", victim, call, at));
      }
    }
  }
}

}  // namespace
}  // namespace chasqui::group
