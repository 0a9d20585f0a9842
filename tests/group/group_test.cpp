// SPDX-License-Identifier: MIT
// Groups of processes without MPI: the suite of every engine, and what is theirs alone: how they meet, who may, and what
// happens when one does not come, or dies.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <limits>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/group/join.hpp"
#include "engines/suite.hpp"
#include "group/socket.hpp"
#include "processes.hpp"

namespace chasqui::group {
namespace {

void expect_right(const std::vector<End>& ends) {
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    EXPECT_EQ(ends[rank].signal, 0) << "rank " << rank;
    EXPECT_EQ(ends[rank].status, 0) << "rank " << rank << ": " << ends[rank].text;
  }
}

Options at(int rank, int size, const std::string& where) {
  Options options;
  options.rank = rank;
  options.size = size;
  options.rendezvous = where;
  options.timeout = 60;
  return options;
}

class Groups : public testing::TestWithParam<int> {};

TEST_P(Groups, EveryCollective) {
  const Folder folder;
  const int n = GetParam();
  expect_right(run_ranks(n, [&](int rank) {
    const auto comm = join(at(rank, n, folder / "meeting"));
    engines::run_everything(*comm, false);
    return std::string();
  }));
  EXPECT_TRUE(folder.empty());
}
INSTANTIATE_TEST_SUITE_P(Sizes, Groups, testing::Values(1, 2, 3, 5));

TEST(Groups, WithoutTheMemoryOfOthers) {
  const Folder folder;
  expect_right(run_ranks(4, [&](int rank) {
    Options options = at(rank, 4, folder / "meeting");
    options.cross_memory = false;
    const auto comm = join(options);
    engines::run_everything(*comm, false);
    engines::soak(*comm, 500, 20261116);
    return std::string();
  }));
}

TEST(Groups, SoakOnPartsThatComeAndGo) {
  const Folder folder;
  expect_right(run_ranks(3, [&](int rank) {
    const auto comm = join(at(rank, 3, folder / "meeting"));
    engines::soak(*comm, 1000, 7);
    return std::string();
  }));
}

/// A port that is free at the moment.
int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  bind(file, reinterpret_cast<sockaddr*>(&address), length);
  getsockname(file, reinterpret_cast<sockaddr*>(&address), &length);
  close(file);
  return ntohs(address.sin_port);
}

std::string sum_of_ones(const Options& options) {
  const auto comm = join(options);
  return std::to_string(comm->allreduce(1));
}

TEST(Rendezvous, ByPortNameAndDescriptor) {
  const int inherited = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un any{};
  any.sun_family = AF_UNIX;
  ASSERT_EQ(bind(inherited, reinterpret_cast<sockaddr*>(&any), sizeof any.sun_family), 0);
  ASSERT_EQ(listen(inherited, 16), 0);
  for (const std::string& where : {fmt::format("tcp://127.0.0.1:{}", free_port()),
                                   fmt::format("unix:@test-{}", getpid()), fmt::format("fd:{}", inherited)}) {
    const auto ends = run_ranks(3, [&](int rank) {
      Options options = at(rank, 3, where);
      options.secret = "open sesame";
      return sum_of_ones(options) + sum_of_ones(options);  // again at the same place
    });
    expect_right(ends);
    for (const End& end : ends) EXPECT_EQ(end.text, "33") << where;
  }
  close(inherited);
}

TEST(Rendezvous, ListensNowhereElse) {
  const int port = free_port();
  const auto ends = run_ranks(2, [&](int rank) {
    Options options = at(rank, 2, fmt::format("tcp://127.0.0.3:{}", port));
    options.secret = "x";
    if (rank == 1) {  // nobody is at another address of this host
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      const int file = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
        throw Error("somebody listens there");
      close(file);
    }
    return sum_of_ones(options);
  });
  expect_right(ends);
}

TEST(Rendezvous, AWrongSecretIsTurnedAwayAndHarmsNobody) {
  const std::string where = fmt::format("tcp://127.0.0.1:{}", free_port());
  const auto ends = run_ranks(4, [&](int who) {
    Options options = at(who == 3 ? 1 : who, 3, where);
    options.secret = who == 3 ? "wrong" : "right";
    if (who == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return sum_of_ones(options);
  });
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ends[static_cast<std::size_t>(rank)].text, "3");
  EXPECT_EQ(ends[3].status, 1);
  EXPECT_NE(ends[3].text.find("secret"), std::string::npos) << ends[3].text;
}

TEST(Rendezvous, WhoSaysNothingDelaysNobody) {
  const int port = free_port();
  const auto ends = run_ranks(3, [&](int who) -> std::string {
    if (who == 2) {  // connects and is silent
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      for (int i = 0; i < 200; ++i) {
        const int file = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
          std::this_thread::sleep_for(std::chrono::seconds(2));
          return "2";
        }
        close(file);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      throw Error("nobody listened");
    }
    if (who == 1) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    Options options = at(who, 2, fmt::format("tcp://127.0.0.1:{}", port));
    options.secret = "s";
    return sum_of_ones(options);
  });
  for (const End& end : ends) EXPECT_EQ(end.text, "2");
}

TEST(Rendezvous, SaysWhatIsWrong) {
  const Folder folder;
  struct Case {
    std::function<void(Options&)> change;
    std::string words;
  };
  for (const Case& one : std::vector<Case>{
           {[](Options& o) { o.rank = 4; }, "rank 4 of 2"},
           {[](Options& o) { o.size = -1; }, "given together"},
           {[](Options& o) { o.rendezvous = "ftp://x"; }, "expected /a/path"},
           {[](Options& o) { o.rendezvous = "tcp://127.0.0.1:9"; }, "set a secret"},
           {[](Options& o) { o.rendezvous = "tcp://0.0.0.0:9"; }, "name the address"},
           {[](Options& o) { o.rendezvous = "fd:77"; }, "inherited"},
           {[](Options& o) { o.rendezvous = "/no/such/folder/x"; }, "cannot listen"},
           {[](Options& o) { o.rendezvous = std::string(200, 'x'); }, "longer"},
           {[](Options& o) { o.timeout = 0; }, "timeout"},
           {[](Options& o) { o.secret = std::string(300, 'x'); }, "at most 256"},
       }) {
    Options options = at(0, 2, folder / "meeting");
    one.change(options);
    try {
      join(options);
      ADD_FAILURE() << one.words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(one.words), std::string::npos) << error.what();
    }
  }
  EXPECT_TRUE(folder.empty());
}

TEST(Rendezvous, WhoIsMissingIsNamedByAllWhoCame) {
  const Folder folder;
  const auto ends = run_ranks(3, [&](int rank) {
    if (rank == 1) return std::string("stays away");
    Options options = at(rank, 3, folder / "meeting");
    options.timeout = rank == 0 ? 0.5 : 60;
    return sum_of_ones(options);
  });
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(ends[rank].status, 1);
    EXPECT_NE(ends[rank].text.find("rank 1 of 3 did not come"), std::string::npos) << ends[rank].text;
  }
  EXPECT_TRUE(folder.empty());
}

TEST(Rendezvous, WhereRankZeroHasNoDescriptorLeft) {
  const Folder folder;
  const auto ends = run_ranks(4, [&](int rank) {
    Options options = at(rank, 4, folder / "meeting");
    if (rank == 0) {
      const int first_free = dup(0);
      const auto most = static_cast<rlim_t>(first_free + 2);  // a listener and one who has come
      close(first_free);
      const rlimit few{most, most};
      setrlimit(RLIMIT_NOFILE, &few);
    }
    options.timeout = rank == 0 ? 0.5 : 1;
    return sum_of_ones(options);
  });
  EXPECT_NE(ends[0].text.find("no descriptor left to let others in: raise their number there (ulimit -n)"),
            std::string::npos)
      << ends[0].text;
}

// Groups that follow each other at one path: the end of the one before may come between any two looks at it.
TEST(Rendezvous, APathThatOthersLeaveMeanwhile) {
  const Folder folder;
  const Address there = parse_address(folder / "meeting");
  std::atomic<bool> ended{false};
  std::thread others([&] {
    while (!ended) {
      try {
        const Socket listener = listen_at(there);
        unlink(there.where.c_str());
      } catch (const Error&) {
      }
    }
  });
  int listened = 0;
  for (int i = 0; i < 20'000; ++i) {
    try {
      const Socket listener = listen_at(there);
      unlink(there.where.c_str());
      ++listened;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("is in use: another group meets there"), std::string::npos)
          << error.what();
    }
  }
  ended = true;
  others.join();
  EXPECT_GT(listened, 0);
}

TEST(Rendezvous, WithoutRankZero) {
  const Folder folder;
  const auto ends = run_ranks(3, [&](int rank) {
    if (rank == 0) return std::string("stays away");
    Options options = at(rank, 3, folder / "meeting");
    options.timeout = 0.4;
    return sum_of_ones(options);
  });
  EXPECT_NE(ends[1].text.find("rank 0 did not come"), std::string::npos) << ends[1].text;
  EXPECT_NE(ends[2].text.find("rank 0 did not come"), std::string::npos) << ends[2].text;
}

TEST(Rendezvous, SizesThatDifferAndRanksThatComeTwice) {
  const Folder folder;
  auto ends = run_ranks(2, [&](int rank) { return sum_of_ones(at(rank, rank == 0 ? 2 : 3, folder / "meeting")); });
  for (const End& end : ends) EXPECT_NE(end.text.find("3 ranks"), std::string::npos) << end.text;
  ends = run_ranks(3, [&](int who) { return sum_of_ones(at(who == 2 ? 1 : who, 3, folder / "meeting")); });
  EXPECT_NE(ends[0].text.find("two processes say that they are rank 1"), std::string::npos) << ends[0].text;
}

TEST(Rendezvous, ASocketThatAKilledRankLeftIsNotInTheWay) {
  const Folder folder;
  Processes first;
  first.start([&] { return sum_of_ones(at(0, 2, folder / "meeting")); });
  while (folder.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(first.process(0), SIGKILL);
  EXPECT_EQ(first.end(0).signal, SIGKILL);
  EXPECT_FALSE(folder.empty());
  expect_right(run_ranks(2, [&](int rank) { return sum_of_ones(at(rank, 2, folder / "meeting")); }));
  EXPECT_TRUE(folder.empty());
}

/// By what each launcher sets, at a place that belongs to the process that started them: this one.
TEST(Rendezvous, OfLaunchersThatNameNone) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  const std::vector<std::function<Variables(std::string)>> launchers = {
      [](std::string rank) {
        return Variables{{"RANK", rank},
                         {"WORLD_SIZE", "2"},
                         {"LOCAL_RANK", rank},
                         {"LOCAL_WORLD_SIZE", "2"},
                         {"MASTER_PORT", "29500"}};
      },
      [](std::string rank) {
        return Variables{{"OMPI_COMM_WORLD_RANK", rank},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", rank},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
      },
      [](std::string rank) {
        return Variables{{"PMI_RANK", rank}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", rank}, {"MPI_LOCALNRANKS", "2"}};
      },
      [](std::string rank) {
        return Variables{{"SLURM_PROCID", rank}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "7"}};
      },
  };
  for (const auto& launcher : launchers) {
    const auto ends = run_ranks(2, [&](int rank) {
      for (const auto& [name, value] : launcher(std::to_string(rank))) setenv(name.c_str(), value.c_str(), 1);
      const auto comm = join();
      return fmt::format("{} of {}", comm->rank(), comm->allreduce(1));
    });
    EXPECT_EQ(ends[0].text, "0 of 2");
    EXPECT_EQ(ends[1].text, "1 of 2");
  }
  const auto ends = run_ranks(1, [](int) {
    for (const char* name : {"RANK", "LOCAL_RANK"}) setenv(name, "0", 1);
    setenv("WORLD_SIZE", "8", 1);
    setenv("LOCAL_WORLD_SIZE", "4", 1);
    join();
    return std::string();
  });
  EXPECT_NE(ends[0].text.find("4 of 8 processes on this node: where do those of all nodes meet?"), std::string::npos)
      << ends[0].text;
}

/// Profilers and interpreters have such timers. The rank that comes late is waited for in many system calls that end at a signal.
TEST(Rendezvous, BesideATimerThatInterruptsEverything) {
  const Folder folder;
  const auto ends = run_ranks(3, [&](int rank) {
    std::signal(SIGALRM, [](int) {});
    const itimerval often{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return sum_of_ones(at(rank, 3, folder / "meeting"));
  });
  for (const End& end : ends) EXPECT_EQ(end.text, "3");
}

TEST(Rendezvous, WithoutALauncher) { EXPECT_THROW(join(), Error); }

TEST(Rendezvous, PatienceIsNotNegative) {
  Options options;
  options.rank = 0, options.size = 1;
  const auto comm = join(options);
  for (const double seconds : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(set_timeout(*comm, seconds), Error);
    options.patience = seconds;
    EXPECT_THROW(join(options), Error);
  }
}

TEST(Rendezvous, VariablesThatMakeNoSenseAreNamed) {
  struct Case {
    std::vector<std::pair<const char*, const char*>> variables;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{{"CHASQUI_RANK", "two"}, {"CHASQUI_SIZE", "4"}}, "CHASQUI_RANK=two and CHASQUI_SIZE=4"},
      {{{"CHASQUI_RANK", "4"}, {"CHASQUI_SIZE", "4"}}, "CHASQUI_RANK=4 and CHASQUI_SIZE=4"},
      {{{"CHASQUI_RANK", "-1"}, {"CHASQUI_SIZE", "1"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, "CHASQUI_RANK=-1"},
      {{{"CHASQUI_RANK", "0"}}, "CHASQUI_SIZE="},
      {{{"CHASQUI_RANK", "0"}, {"CHASQUI_SIZE", "1"}, {"CHASQUI_PROFILE", "/there/is/none"}},
       "CHASQUI_PROFILE: /there/is/none"},
  };
  for (const Case& one : cases) {
    const auto ends = run_ranks(1, [&](int) {
      for (const auto& [name, value] : one.variables) setenv(name, value, 1);
      return std::to_string(join()->size());
    });
    EXPECT_NE(ends[0].text.find(one.says), std::string::npos) << ends[0].text;
  }
}

/// Rank 1 does something at its end; the others wait in a call that it does not come to.
std::vector<End> end_of_rank_one(const std::function<void(run::Comm&)>& how) {
  const Folder folder;
  return run_ranks(3, [&](int rank) {
    const auto comm = join(at(rank, 3, folder / "meeting"));
    comm->barrier();
    if (rank == 1) {
      how(*comm);
      return std::string();
    }
    for (int i = 0; i < 3; ++i) comm->barrier();
    return std::string("no error");
  });
}

TEST(Ends, OfAKilledProcess) {
  const auto ends = end_of_rank_one([](run::Comm&) { raise(SIGKILL); });
  for (const std::size_t rank : {0u, 2u})
    EXPECT_NE(ends[rank].text.find("rank 1: its process has ended, or was killed"), std::string::npos)
        << ends[rank].text;
}

/// Rank 0 waits for rank 1 alone, which waits for rank 2 in a part of its own.
TEST(Ends, OfAKilledProcessIsKnownInOtherParts) {
  const Folder folder;
  const auto ends = run_ranks(3, [&](int rank) {
    const auto whole = join(at(rank, 3, folder / "meeting"));
    const auto first = whole->split(rank < 2 ? 0 : -1, rank), last = whole->split(rank > 0 ? 0 : -1, rank);
    whole->barrier();
    if (rank == 2) raise(SIGKILL);
    (rank == 0 ? first : last)->barrier();
    return std::string("no error");
  });
  for (const std::size_t rank : {0u, 1u})
    EXPECT_NE(ends[rank].text.find("rank 1 of this part, rank 2 of the whole: its process has ended, or was killed"),
              std::string::npos)
        << ends[rank].text;
  EXPECT_EQ(ends[0].text.find("rank 1 left: an exception; the last error there: "), 0u) << ends[0].text;
}

TEST(Ends, OfOneThatGivesItsCommunicatorBack) {
  const auto ends = end_of_rank_one([](run::Comm&) {});
  for (const std::size_t rank : {0u, 2u})
    EXPECT_NE(ends[rank].text.find("rank 1 has ended, or given its communicator back, after 1 collective"),
              std::string::npos)
        << ends[rank].text;
}

TEST(Ends, OfOneThatThrows) {
  const auto ends = end_of_rank_one([](run::Comm& comm) { comm.leave("tired"); });
  for (const std::size_t rank : {0u, 2u})
    EXPECT_NE(ends[rank].text.find("tired"), std::string::npos) << ends[rank].text;
}

TEST(Ends, OfOneWhoseChildLivesOn) {
  const auto ends = end_of_rank_one([](run::Comm&) {
    if (fork() == 0) {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      _exit(0);
    }
    raise(SIGKILL);
  });
  EXPECT_NE(ends[0].text.find("rank 1: its process"), std::string::npos) << ends[0].text;
}

// A worker of a Python program, a command that is run: it ends with all that it was given.
TEST(Ends, OfAChildThatIsNoRank) {
  const Folder folder;
  const auto ends =
      run_ranks(3, [&](int rank) { return with_a_child_that_ends(join(at(rank, 3, folder / "meeting"))); });
  for (const End& end : ends) EXPECT_EQ(end.text, "6 6");
}

/// Ranks 0 and 1 are threads of one process. Rank 2 waits for rank 1, whose process lives on, and must not take it for dead.
TEST(Ends, OfOneWhoseProcessIsAnotherRankToo) {
  const Folder folder;
  const auto part_of = [&](int rank) {
    const auto whole = join(at(rank, 3, folder / "meeting"));
    auto part = whole->split(rank == 0 ? -1 : 0, rank);
    whole->barrier();
    return part;
  };
  const auto ends = run_ranks(2, [&](int process) -> std::string {
    if (process == 1) {
      const auto part = part_of(2);
      return std::to_string(part->allreduce(2));
    }
    std::thread first([&] { part_of(0); });
    const auto part = part_of(1);
    first.join();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return std::to_string(part->allreduce(1));
  });
  for (const End& end : ends) EXPECT_EQ(end.text, "3");
}

// Each container numbers its processes anew.
TEST(Ends, OfOneWithTheSameProcessNumber) {
  const Folder folder;
  const auto own =
      join(at(0, 1, folder / "own"));  // what forks them has been a rank itself, and they know what it knew
  const auto ends = run_ranks(2, [&](int rank) -> std::string {
    if (unshare(CLONE_NEWPID) != 0) return "skipped";
    Processes first;
    first.start([&]() -> std::string {
      const auto comm = join(at(rank, 2, folder / "meeting"));
      set_timeout(*comm, 5);
      comm->barrier();
      if (rank == 1 || getpid() != 1) _exit(0);
      comm->barrier();
      return "no error";
    });
    return first.end(0).text;
  });
  if (ends[0].text == "skipped") GTEST_SKIP() << "no right to make a namespace of processes";
  EXPECT_NE(ends[0].text.find("rank 1: its process"), std::string::npos) << ends[0].text;
}

TEST(Ends, OfPatience) {
  const Folder folder;
  const auto ends = run_ranks(2, [&](int rank) -> std::string {
    const auto comm = join(at(rank, 2, folder / "meeting"));
    set_timeout(*comm, 0.3);
    comm->barrier();
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      return "slept";
    }
    comm->barrier();
    return "no error";
  });
  EXPECT_NE(ends[0].text.find("nothing moved"), std::string::npos) << ends[0].text;
}

TEST(Ends, WhatADeadRankHasDoneCounts) {
  const Folder folder;
  const auto ends = run_ranks(3, [&](int rank) -> std::string {
    const auto comm = join(at(rank, 3, folder / "meeting"));
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    long value = rank == 1 ? 42 : 0;
    comm->broadcast(value, 1);
    if (rank == 1) _exit(0);  // without giving the communicator back: it has completed its calls
    return std::to_string(value);
  });
  EXPECT_EQ(ends[0].text, "42");
  EXPECT_EQ(ends[2].text, "42");
}

TEST(Threads, WithACommunicatorEach) {
  const Folder folder;
  expect_right(run_ranks(2, [&](int rank) {
    const auto whole = join(at(rank, 2, folder / "meeting"));
    std::vector<std::unique_ptr<run::Comm>> comms;
    for (int t = 0; t < 3; ++t) comms.push_back(whole->split(0, rank));
    std::vector<std::thread> threads;
    std::vector<std::string> wrong(3);
    for (std::size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        try {
          engines::soak(*comms[t], 200, t);
        } catch (const std::exception& error) {
          wrong[t] = error.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    for (const std::string& text : wrong) {
      if (!text.empty()) throw Error("{}", text);
    }
    return std::string();
  }));
}

}  // namespace
}  // namespace chasqui::group
