// SPDX-License-Identifier: MIT
// Groups on several hosts: pretended ones, and network namespaces that the test makes where it may.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/group/join.hpp"
#include "engines/suite.hpp"
#include "processes.hpp"

namespace chasqui::group {
namespace {

/// Two networks with a wire between them; the processes of the test enter them.
class Networks {
 public:
  Networks() {
    made_ = geteuid() == 0 && ip("netns add {0}-0") && ip("netns add {0}-1") &&
            ip("link add wire netns {0}-0 type veth peer name wire netns {0}-1");
    for (const int i : {0, 1}) {
      if (!made_) return;
      made_ = ip(fmt::format("-n {{0}}-{} address add 10.99.9.{}/24 dev wire", i, i + 1)) &&
              ip(fmt::format("-n {{0}}-{} link set wire up", i)) && ip(fmt::format("-n {{0}}-{} link set lo up", i));
    }
  }
  ~Networks() {
    for (const int i : {0, 1}) ip(fmt::format("netns del {{0}}-{}", i));
  }
  Networks(const Networks&) = delete;
  Networks& operator=(const Networks&) = delete;

  bool made() const { return made_; }
  void enter(int which) const {
    const int file = open(fmt::format("/run/netns/{}-{}", name_, which).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET) != 0) throw Error("the namespace cannot be entered");
    close(file);
    // UCX finds its networks in /sys, which shows those of whoever mounted it.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", "/sys", "sysfs", 0, nullptr) != 0)
      throw Error("/sys of the namespace cannot be mounted");
    // The kernel takes its time to say that the wire is in use.
    for (std::string state; state != "up"; std::this_thread::sleep_for(std::chrono::milliseconds(10)))
      std::ifstream("/sys/class/net/wire/operstate") >> state;
  }

 private:
  bool ip(const std::string& words) const {
    return std::system(("ip " + fmt::format(fmt::runtime(words), name_) + " 2>/dev/null").c_str()) == 0;
  }
  std::string name_ = fmt::format("chasqui-test-{}", getpid());
  bool made_ = false;
};

enum class Where { pretended, namespaces };

class Hosts : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    setenv("UCX_TLS", "tcp", 1);
    if (GetParam() != Where::namespaces) return;
    networks_ = std::make_unique<Networks>();
    if (!networks_->made()) GTEST_SKIP() << "no permission for network namespaces here (root, iproute2)";
  }

  /// Where n ranks in nodes of `each` meet.
  Options options(int rank, int n, int each) const {
    Options options;
    options.rank = rank;
    options.size = n;
    options.timeout = 60;
    options.secret = "open sesame";
    if (networks_ != nullptr) {
      networks_->enter(rank / each);
      options.rendezvous = "tcp://10.99.9.1:4712";
    } else {
      options.rendezvous = folder_ / "meeting";
      options.pretend_node_size = each;
    }
    return options;
  }
  std::vector<End> run(int n, int each, const std::function<std::string(run::Comm&)>& body) const {
    return run_ranks(n, [&](int rank) {
      const auto comm = join(options(rank, n, each));
      if (comm->topology().nodes != (n + each - 1) / each) throw Error("{} nodes", comm->topology().nodes);
      return body(*comm);
    });
  }
  /// Rank `culprit` does something at its end; the others wait in calls that it does not come to.
  void expect_end(int culprit, int each, const std::string& words, const std::function<void(run::Comm&)>& how) const {
    const auto ends = run(4, each, [&](run::Comm& comm) {
      for (int i = 0; i < 3; ++i) comm.allreduce(1);
      if (comm.rank() == culprit) {
        how(comm);
        return std::string();
      }
      for (int i = 0; i < 3; ++i) comm.allreduce(1);
      return std::string("no error");
    });
    for (int rank = 0; rank < 4; ++rank) {
      const std::string& text = ends[static_cast<std::size_t>(rank)].text;
      if (rank == culprit) continue;
      EXPECT_NE(text.find(words), std::string::npos)
          << culprit << " of nodes of " << each << ", rank " << rank << ": " << text;
      EXPECT_NE(text.find(fmt::format("rank {}", culprit)), std::string::npos)
          << culprit << " is not named to rank " << rank << ": " << text;
    }
  }

  const Folder folder_;
  std::unique_ptr<Networks> networks_;
};
INSTANTIATE_TEST_SUITE_P(, Hosts, testing::Values(Where::pretended, Where::namespaces), [](const auto& each) {
  return std::string(each.param == Where::pretended ? "Pretended" : "Namespaces");
});

void expect_right(const std::vector<End>& ends) {
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    EXPECT_EQ(ends[rank].signal, 0) << "rank " << rank;
    EXPECT_EQ(ends[rank].status, 0) << "rank " << rank << ": " << ends[rank].text;
  }
}

TEST_P(Hosts, EveryCollective) {
  const int n = GetParam() == Where::pretended ? 3 : 4;  // nodes of different sizes, and of the same
  expect_right(run(n, 2, [&](run::Comm& comm) {
    engines::run_everything(comm, false);
    return std::string();
  }));
}

TEST_P(Hosts, SoakOnPartsThatComeAndGo) {
  expect_right(run(4, 2, [](run::Comm& comm) {
    engines::soak(comm, 1000, 11);
    return std::string();
  }));
}

TEST_P(Hosts, EndOfAKilledProcess) {
  for (const int culprit : {0, 1, 3}) {
    expect_end(culprit, 2, fmt::format("rank {}: its process has ended, or was killed", culprit),
               [](run::Comm&) { raise(SIGKILL); });
  }
}

TEST_P(Hosts, EndOfOneThatLeaves) {
  // Its host's news, or the end of its connection: whichever is there first.
  expect_end(1, 2, "given its communicator back", [](run::Comm&) {});
  expect_end(3, 2, "tired", [](run::Comm& comm) { comm.leave("tired"); });
}

/// Nobody else of its host can tell.
TEST_P(Hosts, EndOfTheOnlyProcessOfItsHost) {
  if (GetParam() == Where::namespaces) GTEST_SKIP() << "there are two";
  expect_end(3, 1, "rank 3: its process has ended, or was killed", [](run::Comm&) { raise(SIGKILL); });
  expect_end(0, 1, "or it has given its communicator back", [](run::Comm&) {});
}

TEST_P(Hosts, EndOfAChildThatIsNoRank) {
  const auto ends = run_ranks(4, [&](int rank) { return with_a_child_that_ends(join(options(rank, 4, 2))); });
  for (const End& end : ends) EXPECT_EQ(end.text, "10 10");
}

/// What a rank has sent before its end arrives, and it is not missed by those who wait for somebody else.
TEST_P(Hosts, WhatARankHasDoneCounts) {
  const auto ends = run(4, 2, [](run::Comm& comm) {
    comm.barrier();
    if (comm.rank() >= 2) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    long value = comm.rank() == 0 ? 42 : 0;
    comm.broadcast(value, 0);
    return std::to_string(value);
  });
  for (const End& end : ends) EXPECT_EQ(end.text, "42");
}

/// Internet sockets of this process over which the kernel asks after 7 s without a word.
int kept_sockets() {
  int found = 0;
  for (int file = 3; file < 1024; ++file) {
    int idle = 0, asks = 0;
    socklen_t length = sizeof idle;
    if (getsockopt(file, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &length) != 0 || idle != 7) continue;
    found += getsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &asks, &length) == 0 && asks != 0 ? 1 : 0;
  }
  return found;
}

/// Two processes keep one socket, and none where they share a host.
TEST_P(Hosts, PartsShareTheSocketsThatAreKept) {
  setenv("CHASQUI_SILENCE", "21", 1);
  const auto ends = run(4, 2, [](run::Comm& comm) {
    std::vector<std::unique_ptr<run::Comm>> parts;
    std::string kept = fmt::format("{}", kept_sockets());
    const auto make = [&](int key) {
      for (int i = 0; i < 3; ++i) parts.push_back(comm.split(0, key));
      comm.barrier();
      kept += fmt::format(" {}", kept_sockets());
      comm.barrier();
    };
    make(comm.rank());   // around rank 0, as the whole
    make(-comm.rank());  // around rank 3
    return kept;
  });
  unsetenv("CHASQUI_SILENCE");
  // The whole of pretended hosts meets at local sockets.
  const std::vector<std::string> expected = GetParam() == Where::pretended
                                                ? std::vector<std::string>{"0 0 0", "0 0 1", "0 0 0", "0 0 1"}
                                                : std::vector<std::string>{"2 2 2", "0 0 1", "1 1 1", "1 1 2"};
  for (std::size_t rank = 0; rank < ends.size(); ++rank) EXPECT_EQ(ends[rank].text, expected[rank]) << "rank " << rank;
}

TEST_P(Hosts, WhoNeverComesIsNamed) {
  const auto ends = run_ranks(3, [&](int rank) {
    Options there = options(rank, 4, 2);
    there.timeout = 5;
    join(there);
    return std::string("no error");
  });
  for (const End& end : ends) EXPECT_NE(end.text.find("rank 3 of 4 did not come"), std::string::npos) << end.text;
}

TEST_P(Hosts, ThreadsWithACommunicatorEach) {
  const auto ends = run(4, 2, [](run::Comm& whole) {
    std::vector<std::unique_ptr<run::Comm>> comms;
    for (int t = 0; t < 2; ++t) comms.push_back(whole.split(0, whole.rank()));
    std::vector<std::thread> threads;
    std::vector<std::string> wrong(2);
    for (std::size_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        try {
          engines::soak(*comms[t], 100, t);
        } catch (const std::exception& error) {
          wrong[t] = error.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return wrong[0] + wrong[1];
  });
  expect_right(ends);
  for (const End& end : ends) EXPECT_EQ(end.text, "");
}

}  // namespace
}  // namespace chasqui::group
