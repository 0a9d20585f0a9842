// SPDX-License-Identifier: MIT
// What ranks of a node send each other goes through its memory, and by messages where there is none. The linker brings the calls of
// the system and of MPI here (--wrap).
//   test_bsp_memory_… silent: after their first supersteps a machine, its parts and subsets send no message of MPI
//   test_bsp_memory_… fails: each open, posix_fallocate and mmap fails once in turn, on each rank: the results are right
//   test_bsp_memory_… allocations: each allocation of a program does: the results are right, or every rank throws
//   test_bsp_memory_… small: more data than the memory holds
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../failing_memory.hpp"
#include "../failing_new.hpp"
#include "../fails_once.hpp"
#include "../patience.hpp"
#include "chasqui/bsp/mpi.hpp"
#include "chasqui/bsp/variable.hpp"

static int sent = 0;  ///< messages of MPI

extern "C" {
int __real_open(const char* name, int flags, ...);
int __wrap_open(const char* name, int flags, mode_t mode);
int __wrap_open(const char* name, int flags, mode_t mode) {
  if (!fails(Class::open)) return __real_open(name, flags, mode);
  errno = EMFILE;
  return -1;
}
int __real_MPI_Isend(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g);
int __wrap_MPI_Isend(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g);
int __wrap_MPI_Isend(const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g) {
  ++sent;
  return __real_MPI_Isend(a, b, c, d, e, f, g);
}
}

namespace chasqui::bsp {
namespace {

void expect(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// A superstep of messages of `count` words from each to each.
void exchange(World& w, std::size_t count, const std::function<void()>& sync) {
  for (int to = 0; to < w.size(); ++to) w.send(to, std::vector<std::int64_t>(count, 1000 * w.rank() + to));
  sync();
  int from = 0;
  for (const auto& message : w.received<std::int64_t>()) {
    expect(message.from == from && message.values.size() == count, "a message is missing");
    expect(message.values.front() == 1000 * from + w.rank() && message.values.back() == 1000 * from + w.rank(),
           "a message is wrong");
    ++from;
  }
  expect(from == w.size(), "messages are missing");
}
void exchange(World& w, std::size_t count) {
  exchange(w, count, [&] { w.sync(); });
}

/// Messages of all sizes, puts and gets, a part of the machine that lives long, a subset, supersteps without a barrier.
void program(World& w) {
  for (const std::size_t count : {1, 100, 3000, 40000, 1}) exchange(w, count);
  for (int step = 0; step < 20; ++step) exchange(w, 50, [&] { w.sync(static_cast<std::int64_t>(w.size())); });
  Array<int> data(w, 1000, w.rank());
  const int next = (w.rank() + 1) % w.size();
  data.put(next, 7, -1);
  auto seen = data.get(next, 0, 900);
  w.sync();
  expect(data[7] == -1 && seen.values()[899] == next, "a put or a get is wrong");
  {
    World part = w.split(2);
    for (std::size_t step = 1; step < 12; ++step) exchange(part, 10 * step);
  }
  std::vector<int> ranks(static_cast<std::size_t>(w.size() - 1));
  std::iota(ranks.begin(), ranks.end(), 1);
  for (int step = 0; step < 12 && w.rank() > 0; ++step) {
    w.send(1, w.rank());
    w.sync(ranks);
    expect(w.rank() != 1 || w.received<int>().size() == ranks.size(), "messages of a subset are missing");
  }
  w.sync();
  expect(w.allreduce(w.rank(), std::plus<>{}) == w.size() * (w.size() - 1) / 2, "a sum is wrong");
}

constexpr int kSteps = 70;

/// How many messages of MPI the supersteps take, after the first few.
int messages_of(const std::function<void()>& superstep) {
  for (int step = 0; step < 6; ++step) superstep();
  const int before = sent;
  for (int step = 0; step < kSteps; ++step) superstep();
  return sent - before;
}

int silent(int rank) {
  int failures = 0;
  const auto see = [&](const char* what, int messages, bool none) {
    if ((messages < kSteps) == none) return;  // a few may be of rank 0, who asks around where it waits long
    ++failures;
    std::fprintf(stderr, "FAILED on rank %d: %d messages of MPI in supersteps of %s\n", rank, messages, what);
  };
  const auto run_it = [&](const Options& options, bool none) {
    run_mpi(
        [&](World& w) {
          see("the machine", messages_of([&] { exchange(w, 1); }), none);
          see("the machine, long ones", messages_of([&] { exchange(w, 5000); }), none);
          World part = w.split(std::max(1, w.size() / 2));
          see("a part", messages_of([&] { exchange(part, 3); }), none);
        },
        options);
    run_mpi(
        [&](World& w) {
          std::vector<int> ranks(static_cast<std::size_t>(w.size() - 1));
          std::iota(ranks.begin(), ranks.end(), 0);
          if (w.rank() == w.size() - 1) return;
          see("a subset", messages_of([&] {
                w.send((w.rank() + 1) % (w.size() - 1), w.rank());
                w.sync(ranks);
                expect(w.received<int>().size() == 1, "a message of a subset is missing");
              }),
              none);
        },
        options);
  };
  run_it({}, true);
  run_it({.pretend_node_size = 1}, false);  // here they are counted
  run_it({}, true);
  return failures;
}

/// What is tried now: said where it does not end.
char doing[100] = "";
extern "C" void say_and_end(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  _exit(1);
}

/// A program on a communicator of its own while the n-th call of a class fails on one rank. False: there is no such call there.
bool survived(Class which, int n, int where, int& failures) {
  alarm(60 * kPatience);  // a hang is a failure
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  const int rank = mpi_rank();
  bool threw = false;
  std::snprintf(doing, sizeof doing, "FAILED: hangs with call %d of class %d on rank %d\n", n, static_cast<int>(which),
                where);
  std::signal(SIGALRM, say_and_end);
  for (int run = 0; run < 2; ++run) {  // the second on what the first has left
    if (run == 0) fault = {which, rank == where ? n : 0, 0, ""};
    try {
      run_mpi(MPI_Comm_c2f(own),
              [](World& w) {
                program(w);
                if (fault.which == Class::allocate) fault.countdown = 0;
              },
              {});
    } catch (const std::logic_error& wrong) {
      ++failures;
      std::fprintf(stderr, "FAILED on rank %d: %s, call %d of class %d on rank %d\n", rank, wrong.what(), n,
                   static_cast<int>(which), where);
    } catch (const std::exception& error) {
      threw = true;
      if (which == Class::allocate && run == 0) continue;
      ++failures;
      std::fprintf(stderr, "FAILED on rank %d: %s, call %d of class %d on rank %d\n", rank, error.what(), n,
                   static_cast<int>(which), where);
    }
    fault.countdown = 0;
  }
  MPI_Comm_free(&own);
  int outcome[] = {fault.failed, threw ? 1 : 0}, most[2], least[2];
  MPI_Allreduce(outcome, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(outcome, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (most[1] != least[1]) {
    ++failures;
    std::fprintf(stderr, "FAILED: only some ranks threw, call %d of class %d on rank %d\n", n, static_cast<int>(which),
                 where);
  }
  return most[0] != 0;
}

int each_fails(std::vector<Class> classes, int every) {
  int failures = 0;
  for (const Class which : classes) {
    int calls = 0;
    for (int where = 0; where < mpi_size(); ++where) {
      for (int n = 1; survived(which, n, where, failures); n += every) ++calls;
    }
    if (calls == 0) ++failures;
    if (mpi_rank() == 0) std::printf("class %d: %d calls failed\n", static_cast<int>(which), calls);
  }
  return failures;
}

}  // namespace
}  // namespace chasqui::bsp

int main(int argc, char** argv) {
  using namespace chasqui::bsp;
  const std::string what = argc > 1 ? argv[1] : "silent";
  const int rank = mpi_rank();
  int failures = 0;
  if (what == "silent") failures = silent(rank);
  if (what == "fails") failures = each_fails({Class::open, Class::reserve, Class::map}, 1);
  if (what == "allocations") failures = each_fails({Class::allocate}, 61);
  if (what == "small") {
    run_mpi([](World& w) {
      for (int step = 0; step < 3; ++step) {
        for (const std::size_t count : {1000, 300000, 1000}) exchange(w, count);
      }
    });
  }
  if (rank == 0 && failures == 0) std::printf("%s: as it should be\n", what.c_str());
  return failures == 0 ? 0 : 1;
}
