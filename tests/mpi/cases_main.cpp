// SPDX-License-Identifier: MIT
// What a communicator over MPI owes to the program around it: mpirun -np P mpi_cases name. A case throws what is wrong.
#include <mpi.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../patience.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#include "run/messages/transport.hpp"

static constexpr int kEnoughFound = 100;  ///< rank 1 hears of it then
/// Looks of a waiting collective into the MPI library; every tenth finds something to do, while they are counted.
static struct {
  bool counted = false, after_work = false;
  int looks = 0, found = 0, followed = 0;  ///< followed: by the next look without giving the core away
} progress_made;

extern "C" {
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  auto& it = progress_made;
  it.followed += it.counted && it.after_work ? 1 : 0;
  const int code = PMPI_Iprobe(from, tag, comm, flag, status);
  it.after_work = it.counted && ++it.looks % 10 == 0;
  if (!it.after_work) return code;
  if (++it.found == kEnoughFound) PMPI_Send(nullptr, 0, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
  const double begin = PMPI_Wtime();
  while (PMPI_Wtime() - begin < 30e-6) {
  }
  return code;
}
int nanosleep(const timespec* time, timespec* left) {
  progress_made.after_work = false;
  return clock_nanosleep(CLOCK_REALTIME, 0, time, left) == 0 ? 0 : -1;
}
int sched_yield() {
  progress_made.after_work = false;
  return static_cast<int>(syscall(SYS_sched_yield));
}
}

namespace chasqui::mpi {
namespace {

int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// A long message of the program's own is under way while its sender waits in a barrier: it must arrive.
void progress() {
  const auto comm = make_comm(MPI_COMM_WORLD);
  const int rank = comm->rank();
  std::vector<char> data(std::size_t{8} << 20, static_cast<char>('a' + rank));
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(data.size());
  if (rank == 0) MPI_Isend(data.data(), count, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
  if (rank == 1) {
    usleep(100'000);  // the sender waits already
    MPI_Recv(data.data(), count, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(data.front() == 'a' && data.back() == 'a', "other data");
  }
  comm->barrier();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Who waits in a collective looks again into the library as soon as it had something to do there, and does not sleep first: the
/// program's messages would go at one step a sleep.
void lively() {
  const auto comm = make_comm(MPI_COMM_WORLD);
  comm->barrier();
  progress_made = {.counted = comm->rank() != 1};
  for (int r = 0; comm->rank() == 1 && r < comm->size(); ++r) {
    if (r != 1) MPI_Recv(nullptr, 0, MPI_CHAR, r, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  comm->barrier();
  const auto seen = std::exchange(progress_made, {});
  if (comm->rank() == 1) return;
  expect(seen.followed >= 3,  // without that: none
         fmt::format("after {} looks that found something, {} more", seen.found, seen.followed));
}

/// Where the library's own collectives were measured to take no time at all.
Options fast_native() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Profile profile = default_profile();
  for (auto& level : profile.levels) level.ranks = size;
  for (const char* kind : {"broadcast", "reduce", "allreduce", "scan", "gather", "allgather", "scatter", "barrier"}) {
    profile.measured[kind] = {{8, 1e6}, {1 << 20, 1e9}};
    profile.native[kind] = {{8, 1.0}, {1 << 20, 2.0}};
  }
  Options options;
  options.profile = std::make_shared<const Profile>(profile);
  return options;
}

/// The library's collective on elements that lie apart, on some ranks or on all.
void native_strided() {
  const auto comm = make_comm(MPI_COMM_WORLD, fast_native());
  const int rank = comm->rank(), size = comm->size();
  constexpr int kCount = 1000;
  expect(comm->choices_for({.kind = Kind::broadcast, .count = 4 * kCount}).front().method == run::Method::native,
         "not native");
  for (const int apart : {0, 1, 2}) {  // rank 0 alone, rank 1 alone, all
    const std::int64_t stride = apart == 2 || apart == rank ? 3 : 1;
    std::vector<int> data(static_cast<std::size_t>(kCount * stride), -1);
    for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i * stride)] = rank == 0 ? i : -2;
    comm->broadcast(run::Strided<int>{data.data(), kCount, stride}, 0);
    for (int i = 0; i < static_cast<int>(data.size()); ++i) {
      expect(data[static_cast<std::size_t>(i)] == (i % stride == 0 ? i / stride : -1),
             "broadcast: wrong at " + std::to_string(i));
    }
    run::Sum sum;
    const std::ptrdiff_t step = stride * static_cast<std::ptrdiff_t>(sizeof(int));
    std::vector<int> in(data.size(), 1), out(data.size(), -1);
    for (int i = 0; i < kCount; ++i) in[static_cast<std::size_t>(i * stride)] = i + rank;
    comm->run({.kind = Kind::allreduce,
               .in = in.data(),
               .out = out.data(),
               .count = kCount,
               .element = sizeof(int),
               .in_layout = {.stride = step},
               .out_layout = {.stride = step},
               .op = run::operator_of<int>(sum, true)});
    for (int i = 0; i < static_cast<int>(out.size()); ++i) {
      const int right = i % stride == 0 ? static_cast<int>(i / stride) * size + size * (size - 1) / 2 : -1;
      expect(out[static_cast<std::size_t>(i)] == right, "allreduce: wrong at " + std::to_string(i));
    }
  }
}

/// Some ranks have a collective in flight, for others it is over already: all must go the same way.
void native_in_flight() {
  const auto comm = make_comm(MPI_COMM_WORLD, fast_native());
  const int rank = comm->rank(), size = comm->size();
  for (const std::size_t count : {1, 14, 1000}) {  // within a slot, and beyond
    for (const int late : {0, 1}) {
      if (rank == late) usleep(50'000);
      int value = rank;
      auto request = comm->ibroadcast(std::span<int>(&value, 1), 0);
      std::vector<double> in(count, 1.0), out(count);
      comm->allreduce(std::span<const double>(in), std::span<double>(out));
      request.wait();
      expect(value == 0, "the broadcast brought " + std::to_string(value));
      for (const double each : out) expect(each == size, "the sum is " + std::to_string(each));
    }
  }
}

/// More than the library can count goes another way; asked for nevertheless, it is an error before anything is touched.
void native_too_long() {
  const auto comm = make_comm(MPI_COMM_WORLD, fast_native());
  char nothing = 7;
  const run::Call call{.kind = Kind::broadcast, .out = &nothing, .count = (std::int64_t{1} << 32) + 16};
  expect(comm->choices_for(call).front().method != run::Method::native, "native is chosen");
  comm->force(run::Choice{run::Method::native, 0, 1, ""});
  std::string heard;
  try {
    comm->run(call);
  } catch (const std::exception& error) {
    heard = error.what();
  }
  expect(heard.find("more than the MPI library can count") != std::string::npos, "heard: " + heard);
}

/// A rank's file does not concern the others: what rank 0 reads counts, or its error.
void profile() {
  const int rank = my_rank();
  const auto made = [&](int bad, const char* path = "/no/such/profile.json") {
    if (rank == bad) setenv("CHASQUI_PROFILE", path, 1);
    else unsetenv("CHASQUI_PROFILE");
    try {
      const auto comm = make_comm(MPI_COMM_WORLD);
      expect(comm->profile() == default_profile(), "another profile");
      comm->barrier();
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  expect(made(0).find("/no/such/profile.json") != std::string::npos, "rank 0 has no profile and nobody says so");
  expect(made(1).empty(), "rank 1 has no profile, which is no matter");
  const std::string pipe = "mpi_profile_" + std::to_string(getpid()) + ".pipe";
  if (rank == 0) expect(mkfifo(pipe.c_str(), 0600) == 0, "no pipe could be made");
  expect(made(0, pipe.c_str()).find("not a regular file") != std::string::npos, "a pipe is read");
  expect(made(0, "/dev/zero").find("not a regular file") != std::string::npos, "a file without an end is read");
  if (rank == 0) std::remove(pipe.c_str());

  Profile other = default_profile();
  other.host = "elsewhere";
  const std::string path = "mpi_profile_" + std::to_string(getpid()) + ".json";
  if (rank == 0) {
    std::ofstream(path) << to_json(other);
    setenv("CHASQUI_PROFILE", path.c_str(), 1);
  }
  const auto comm = make_comm(MPI_COMM_WORLD);
  if (rank == 0) std::remove(path.c_str());
  expect(comm->profile() == other, "not what rank 0 read");
}

/// A variable that one rank alone cannot read: all say so, or the others would wait for it.
void unreadable() {
  const int rank = my_rank();
  for (const int odd : {0, 2}) {
    if (rank == odd) setenv("CHASQUI_STALL_SECONDS", "soon", 1);
    std::string heard;
    try {
      make_comm(MPI_COMM_WORLD)->barrier();
    } catch (const Error& error) {
      heard = error.what();
    }
    unsetenv("CHASQUI_STALL_SECONDS");
    expect(heard.find(fmt::format("rank {}: CHASQUI_STALL_SECONDS=soon", odd)) == 0, "heard: " + heard);
  }
  if (rank == 1) setenv("CHASQUI_STALL_SECONDS", "7", 1);  // what rank 0 has counts
  make_comm(MPI_COMM_WORLD)->barrier();
}

/// An operator that throws on one rank, inside the library: every rank hears of it, in this call.
void native_throws() {
  const int rank = my_rank();
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int culprit = 0; culprit < size; ++culprit) {
    const auto comm = make_comm(MPI_COMM_WORLD, fast_native());
    int folds = 0;
    const auto picky = [&](long a, long b) {
      ++folds;
      if (rank == culprit) throw std::runtime_error("the operator is tired");
      return a + b;
    };
    std::vector<long> in(500, 1), out(500);
    std::string heard;
    try {
      comm->allreduce(std::span<const long>(in), std::span<long>(out), picky);
    } catch (const std::exception& error) {
      heard = error.what();
    }
    int folded_there = rank == culprit ? folds : 0;  // the library may leave all folding to others
    MPI_Bcast(&folded_there, 1, MPI_INT, culprit, MPI_COMM_WORLD);
    expect((heard.find("the operator is tired") != std::string::npos) == (folded_there > 0), "heard: " + heard);
    expect(rank != culprit || folds <= 1, "it was asked again");
    heard.clear();
    try {
      comm->barrier();
    } catch (const std::exception& error) {
      heard = error.what();
    }
    expect(heard.empty() == (folded_there == 0), "later: " + heard);
  }
}

/// Passes messages on and remembers the longest.
class Measured final : public run::Transport {
 public:
  Measured(std::shared_ptr<run::Transport> inner, std::size_t& longest) : inner_(std::move(inner)), longest_(longest) {}

  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override {
    longest_ = std::max(longest_, bytes);
    return inner_->send(to, tag, data, bytes);
  }
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override {
    return inner_->receive(from, tag, data, bytes);
  }
  bool done(Ticket ticket) override { return inner_->done(ticket); }
  void abandon(Ticket ticket) override { inner_->abandon(ticket); }

 private:
  std::shared_ptr<run::Transport> inner_;
  std::size_t& longest_;
};

/// Where asking the receiver costs more than further messages, long ones are cut, and arrive whole.
void long_messages() {
  Profile profile = default_profile();
  for (Level& level : profile.levels) {
    level.switches = {1024};
    level.L = Estimate::exactly(1e6);
  }
  std::size_t longest = 0;
  Options options;
  options.slots = options.native = false;
  options.profile = std::make_shared<const Profile>(profile);
  options.around = [&](auto inner) { return std::make_shared<Measured>(std::move(inner), longest); };
  const auto comm = make_comm(MPI_COMM_WORLD, options);
  comm->force({run::Method::tree, 0, 1, {}});
  for (const std::size_t count : {0, 1, 127, 128, 129, 500, 5000}) {
    std::vector<double> data(count, comm->rank() == 0 ? 1.5 : 0), sum(count);
    comm->broadcast(data, 0);
    comm->allreduce(data, sum);
    for (const double each : sum) expect(each == 1.5 * comm->size(), "other data");
  }
  expect(longest > 512 && longest <= 1024, "a message of " + std::to_string(longest) + " bytes");
}

struct Large {
  double values[100'000];
};

/// Elements that no stage of a board can hold.
void large_elements() {
  const auto comm = make_comm(MPI_COMM_WORLD);
  const int rank = comm->rank(), size = comm->size();
  const auto expect_all = [](const Large& large, double value, const char* what) {
    for (const double each : large.values) expect(each == value, std::string(what) + ": " + std::to_string(each));
  };
  std::vector<Large> one(1), sum(1), all(static_cast<std::size_t>(size));
  for (double& each : one[0].values) each = rank + 1;
  const auto add = [](const Large& a, const Large& b) {
    Large c;
    for (std::size_t i = 0; i < std::size(c.values); ++i) c.values[i] = a.values[i] + b.values[i];
    return c;
  };
  const std::span<const Large> in(one);
  comm->allreduce(in, std::span<Large>(sum), add);
  expect_all(sum[0], size * (size + 1) / 2, "allreduce");
  comm->scan(in, std::span<Large>(sum), add);
  expect_all(sum[0], (rank + 1) * (rank + 2) / 2, "scan");
  comm->allgather(in, std::span<Large>(all));
  for (int r = 0; r < size; ++r) expect_all(all[static_cast<std::size_t>(r)], r + 1, "allgather");
  comm->scatter(std::span<const Large>(all), std::span<Large>(sum), 1);
  expect_all(sum[0], rank + 1, "scatter");
  comm->broadcast(one[0], 1);
  expect_all(one[0], 2, "broadcast");
}

struct alignas(64) Line {
  double values[8];
};
struct alignas(32) Half {
  double values[4];
};

/// Folds happen in memory that is aligned as the elements want it, whatever the method.
template <typename T>
void fold_aligned(run::Comm& comm) {
  bool off = false;
  const auto add = [&](const T& a, const T& b) {
    off = off || (reinterpret_cast<std::uintptr_t>(&a) | reinterpret_cast<std::uintptr_t>(&b)) % alignof(T) != 0;
    T c = a;
    for (std::size_t i = 0; i < std::size(c.values); ++i) c.values[i] += b.values[i];
    return c;
  };
  for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::scan}) {
    for (const std::size_t count : {1, 2, 3, 30, 500, 20'000}) {
      std::vector<T> in(count, T{{1, 2}}), out(count);
      for (const bool commutes : {false, true}) {
        const run::Call call{.kind = kind,
                             .in = in.data(),
                             .out = out.data(),
                             .count = static_cast<std::int64_t>(count),
                             .element = sizeof(T),
                             .op = run::operator_of<T>(add, commutes)};
        for (const auto& choice : comm.choices_for(call)) {
          comm.force(choice);
          comm.run(call);
          const double right = 2.0 * (kind == Kind::scan ? comm.rank() + 1 : comm.size());
          const std::string what = fmt::format("{} of {} by {}", to_string(kind), count, to_string(choice.method));
          expect(!off, what + ": not aligned");
          if (kind != Kind::reduce || comm.rank() == 0) expect(out.back().values[1] == right, what + ": wrong");
        }
        comm.unforce();
      }
    }
  }
}

void alignment() {
  for (const int nodes : {0, 2}) {
    Options options = fast_native();
    options.pretend_node_size = nodes;
    const auto comm = make_comm(MPI_COMM_WORLD, options);
    fold_aligned<Line>(*comm);
    fold_aligned<Half>(*comm);
  }
}

}  // namespace
}  // namespace chasqui::mpi

int main(int argc, char** argv) {
  using namespace chasqui::mpi;
  const std::map<std::string, std::function<void()>> cases = {
      {"progress", progress},
      {"lively", lively},
      {"native_strided", native_strided},
      {"native_in_flight", native_in_flight},
      {"native_too_long", native_too_long},
      {"native_throws", native_throws},
      {"long_messages", long_messages},
      {"profile", profile},
      {"unreadable", unreadable},
      {"large_elements", large_elements},
      {"alignment", alignment},
  };
  MPI_Init(&argc, &argv);
  alarm(30 * chasqui::kPatience);  // a hang is a failure
  const auto found = argc > 1 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    for (const auto& each : cases) std::fprintf(stderr, "a case: %s\n", each.first.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  try {
    found->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", my_rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
