// SPDX-License-Identifier: MIT
// What the drop-in library and the component of Open MPI add to a call: one that is passed on because it is disabled, one that is
// passed on because the MPI library is faster, and one that is served. Starts itself on two ranks for each of them. Below the two stands
// something that does nothing (idle/), so calls that are passed on wait for nobody.
//   count_passed_calls_openmpi                              instructions of a call, all columns
//   count_passed_calls_openmpi component slower 200         one column, and status 1 where a count is larger
//   count_passed_calls_openmpi component served reported 10 two columns, and status 1 where the second one has more by so many
//   count_passed_calls_openmpi time                         nanoseconds that passing on adds, also on a busy machine
// Instructions: rank 0 runs under callgrind; the least of several calls, those of the library and of what it calls in the C and C++
// libraries; the MPI library's own are left out. Nanoseconds: short blocks of calls with and without in turn; the difference of the
// fastest block of each, and that of the lower quartiles.
//   cmake --preset release && ninja -C build/release count_passed_calls_openmpi && build/release/bin/count_passed_calls_openmpi
#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>
#include <valgrind/callgrind.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"

/// Read by idle/: do collectives do nothing, does a new communicator have nothing of ours, and does the clock nearly stand still?
extern "C" int chasqui_idle, chasqui_idle_above, chasqui_slow_clock;
int chasqui_idle = 0, chasqui_idle_above = 0, chasqui_slow_clock = 0;

namespace {

using namespace chasqui;
namespace fs = std::filesystem;

#ifdef OPEN_MPI
constexpr std::string_view kLaunch = "mpirun --oversubscribe --allow-run-as-root --mca mpi_yield_when_idle 1 -np 1";
constexpr std::string_view kFurther = ": -np 1";
#define CHASQUI_PERSISTENT(name) MPIX_##name##_init
#else
constexpr std::string_view kLaunch = "mpiexec.mpich -n 1", kFurther = ": -n 1";
#define CHASQUI_PERSISTENT(name) MPI_##name##_init
#endif

constexpr int kWarm = 60, kCounted = 12;  ///< a comparison of two sides that differ much takes some four calls
/// Of a comparison with blocks of 100 calls, or 200 where ranks need not meet, and a pair before: in these it is our turn.
constexpr int kOurTurn = 210;
std::vector<double> many_in(8192, 1.0), many_out(8192);  // 64 KiB

/// The functions by which a call goes.
struct Functions {
#define CHASQUI_OF_LISTS(X) X(Alltoallv) X(Alltoallw) X(Allgatherv) X(Gatherv) X(Scatterv) X(Reduce_scatter)
#define CHASQUI_OF_BLOCKS(X) X(Gather) X(Scatter) X(Allgather) X(Alltoall)
#define CHASQUI_FOLDS(X) X(Allreduce) X(Reduce) X(Scan) X(Exscan) X(Reduce_scatter_block)
#define CHASQUI_USED(X) \
  CHASQUI_FOLDS(X) X(Bcast) CHASQUI_OF_BLOCKS(X) CHASQUI_OF_LISTS(X) X(Barrier) X(Ibcast) X(Ireduce)
#define CHASQUI_FUNCTION(name) decltype(&MPI_##name) name = MPI_##name;
  CHASQUI_USED(CHASQUI_FUNCTION)
#undef CHASQUI_FUNCTION
};

/// Those that lie below the drop-in library; the program's own where it is not loaded.
Functions functions_below() {
  Functions all;
#define CHASQUI_FUNCTION(name)                                       \
  if (void* const idle = dlsym(RTLD_DEFAULT, "chasqui_idle_" #name)) \
    all.name = reinterpret_cast<decltype(&MPI_##name)>(idle);
  CHASQUI_USED(CHASQUI_FUNCTION)
#undef CHASQUI_FUNCTION
  return all;
}

constexpr int kOnes[] = {1, 1}, kNone[] = {0, 0}, kPlaces[] = {0, 1}, kBytePlaces[] = {0, sizeof(double)};
const MPI_Datatype kDoubles[] = {MPI_DOUBLE, MPI_DOUBLE};
MPI_Request persistent = MPI_REQUEST_NULL;

/// What programs make, after MPI_Init: two doubles with a gap between them, a list of them, an operation, a communicator of one rank.
MPI_Datatype spaced = MPI_DATATYPE_NULL, spaced_each[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
MPI_Op own_maximum = MPI_OP_NULL;
MPI_Comm alone = MPI_COMM_NULL;
const void* in_at_root = nullptr;  ///< MPI_IN_PLACE on rank 0
void* out_at_root = nullptr;       ///< likewise

void fold_maximum(void* in, void* inout, int* count, MPI_Datatype* type) {
  const int doubles = *type == spaced ? 3 * *count : *count;  // what is in the gaps does no harm
  for (int i = 0; i < doubles; ++i) {
    double& each = static_cast<double*>(inout)[i];
    each = std::max(each, static_cast<const double*>(in)[i]);
  }
}

void make_handles() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &spaced);
  MPI_Type_commit(&spaced);
  for (MPI_Datatype& each : spaced_each) each = spaced;
  MPI_Op_create(fold_maximum, 1, &own_maximum);
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  in_at_root = rank == 0 ? MPI_IN_PLACE : many_in.data();
  out_at_root = rank == 0 ? MPI_IN_PLACE : many_out.data();
}
void free_handles() {
  MPI_Type_free(&spaced);
  MPI_Op_free(&own_maximum);
  MPI_Comm_free(&alone);
}

struct Case {
  const char* name;
  bool certain;  ///< a profile can say that the MPI library is faster
  void (*call)(const Functions&, MPI_Comm, MPI_Request*);
  int calls = 1;      ///< that it makes
  bool left = false;  ///< in any case: the MPI library's progress, while it waits, comes by ours
};
#define CHASQUI_CASE(name, certain, called)                                          \
  {                                                                                  \
    name, certain, [](const Functions& f, MPI_Comm comm, MPI_Request* r) { called; } \
  }
// An operation of which two ranks may get different bits, too, so that the side is chosen once: sums of two are compared like data.
#define CHASQUI_FOLDED(count) many_in.data(), many_out.data(), count, MPI_DOUBLE, MPI_MAX
constexpr Case kCases[] = {
    CHASQUI_CASE("Allreduce 8 B", true, f.Allreduce(CHASQUI_FOLDED(1), comm); (void)r),
    CHASQUI_CASE("Allreduce 64 KiB", true, f.Allreduce(CHASQUI_FOLDED(8192), comm); (void)r),
    CHASQUI_CASE("Reduce 8 B", true, f.Reduce(CHASQUI_FOLDED(1), 0, comm); (void)r),
    CHASQUI_CASE("Reduce 64 KiB", true, f.Reduce(CHASQUI_FOLDED(8192), 0, comm); (void)r),
    CHASQUI_CASE("Bcast 8 B", false, f.Bcast(many_in.data(), 8, MPI_BYTE, 0, comm); (void)r),
    CHASQUI_CASE("Bcast 64 KiB", true, f.Bcast(many_in.data(), 65536, MPI_BYTE, 0, comm); (void)r),
    CHASQUI_CASE("Alltoall 8 B", false, f.Alltoall(many_in.data(), 1, MPI_DOUBLE, many_out.data(), 1, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE(
        "Alltoallv 8 B", false,
        f.Alltoallv(many_in.data(), kOnes, kPlaces, MPI_DOUBLE, many_out.data(), kOnes, kPlaces, MPI_DOUBLE, comm);
        (void)r),
    CHASQUI_CASE(
        "Alltoallw 8 B", false,
        f.Alltoallw(many_in.data(), kOnes, kBytePlaces, kDoubles, many_out.data(), kOnes, kBytePlaces, kDoubles, comm);
        (void)r),
    CHASQUI_CASE("Allgatherv 8 B", false,
                 f.Allgatherv(many_in.data(), 1, MPI_DOUBLE, many_out.data(), kOnes, kPlaces, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE("Gatherv 8 B", false,
                 f.Gatherv(many_in.data(), 1, MPI_DOUBLE, many_out.data(), kOnes, kPlaces, MPI_DOUBLE, 0, comm);
                 (void)r),
    CHASQUI_CASE("Scatterv 8 B", false,
                 f.Scatterv(many_in.data(), kOnes, kPlaces, MPI_DOUBLE, many_out.data(), 1, MPI_DOUBLE, 0, comm);
                 (void)r),
    CHASQUI_CASE("Reduce_scatter 16 B", false,
                 f.Reduce_scatter(many_in.data(), many_out.data(), kOnes, MPI_DOUBLE, MPI_SUM, comm);
                 (void)r),
    {"Allreduce, 8 KiB or 0", true,
     [](const Functions& f, MPI_Comm comm, MPI_Request*) {
       f.Allreduce(CHASQUI_FOLDED(1024), comm);
       f.Allreduce(CHASQUI_FOLDED(0), comm);
     },
     2},
    CHASQUI_CASE("Gather 0 B", true, f.Gather(many_in.data(), 0, MPI_DOUBLE, many_out.data(), 1, MPI_BYTE, 1, comm); (void)r),
    CHASQUI_CASE("Allgatherv 0 B", true,
                 f.Allgatherv(many_in.data(), 0, MPI_DOUBLE, many_out.data(), kNone, kPlaces, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE("Reduce_scatter 0 B", true,
                 f.Reduce_scatter(many_in.data(), many_out.data(), kNone, MPI_DOUBLE, MPI_SUM, comm);
                 (void)r),
    CHASQUI_CASE("Bcast, own type", true, f.Bcast(many_in.data(), 300, spaced, 0, comm); (void)r),
    CHASQUI_CASE("Allreduce, own type", true,
                 f.Allreduce(many_in.data(), many_out.data(), 4, spaced, own_maximum, comm);
                 (void)r),
    CHASQUI_CASE("Allreduce, own op", true,
                 f.Allreduce(many_in.data(), many_out.data(), 4, MPI_DOUBLE, own_maximum, comm);
                 (void)r),
    CHASQUI_CASE("Allreduce, pairs", true,
                 f.Allreduce(many_in.data(), many_out.data(), 4, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
                 (void)r),
    {"Allreduce, undefined", true,
     [](const Functions& f, MPI_Comm comm, MPI_Request*) {
       f.Allreduce(many_in.data(), many_out.data(), 1, MPI_AINT, MPI_LAND, comm);
     },
     1, true},
    CHASQUI_CASE("Reduce, in place", true, f.Reduce(in_at_root, many_out.data(), 5, MPI_DOUBLE, MPI_MAX, 0, comm); (void)r),
    CHASQUI_CASE("Scan, in place", true, f.Scan(MPI_IN_PLACE, many_out.data(), 1, MPI_DOUBLE, MPI_MAX, comm); (void)r),
    CHASQUI_CASE("Exscan", true, f.Exscan(CHASQUI_FOLDED(1), comm); (void)r),
    CHASQUI_CASE("Reduce_scatter_block, \"", true,
                 f.Reduce_scatter_block(MPI_IN_PLACE, many_out.data(), 1, MPI_DOUBLE, MPI_MAX, comm);
                 (void)r),
    CHASQUI_CASE("Reduce_scatter, \"", true,
                 f.Reduce_scatter(MPI_IN_PLACE, many_out.data(), kOnes, MPI_DOUBLE, MPI_MAX, comm);
                 (void)r),
    CHASQUI_CASE("Gather, in place", true,
                 f.Gather(in_at_root, 500, MPI_DOUBLE, many_out.data(), 500, MPI_DOUBLE, 0, comm);
                 (void)r),
    CHASQUI_CASE("Scatter, in place", true,
                 f.Scatter(many_in.data(), 500, MPI_DOUBLE, out_at_root, 500, MPI_DOUBLE, 0, comm);
                 (void)r),
    CHASQUI_CASE("Allgather, in place", true,
                 f.Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many_out.data(), 500, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE("Alltoall, in place", true,
                 f.Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many_out.data(), 500, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE("Alltoall, two types", true,
                 f.Alltoall(many_in.data(), 300, spaced, many_out.data(), 600, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE(
        "Alltoallv, own type", false,
        f.Alltoallv(many_in.data(), kOnes, kPlaces, spaced, many_out.data(), kOnes, kPlaces, spaced, comm);
        (void)r),
    CHASQUI_CASE("Alltoallw, own types", false,
                 f.Alltoallw(many_in.data(), kOnes, kNone, spaced_each, many_out.data(), kOnes, kNone, spaced_each, comm);
                 (void)r),
    CHASQUI_CASE("Allgatherv, own type", false,
                 f.Allgatherv(many_in.data(), 1, spaced, many_out.data(), kOnes, kPlaces, spaced, comm);
                 (void)r),
    CHASQUI_CASE("Allgatherv, in place", false,
                 f.Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many_out.data(), kOnes, kPlaces, MPI_DOUBLE, comm);
                 (void)r),
    CHASQUI_CASE("Gatherv, in place", false,
                 f.Gatherv(in_at_root, 1, MPI_DOUBLE, many_out.data(), kOnes, kPlaces, MPI_DOUBLE, 0, comm);
                 (void)r),
    CHASQUI_CASE("Allreduce, one rank", true, f.Allreduce(CHASQUI_FOLDED(1), alone); (void)comm; (void)r),
    CHASQUI_CASE("Ibcast, own type", true, f.Ibcast(many_in.data(), 300, spaced, 0, comm, r)),
    CHASQUI_CASE("Ireduce, own op", true,
                 f.Ireduce(many_in.data(), many_out.data(), 4, MPI_DOUBLE, own_maximum, 0, comm, r)),
    CHASQUI_CASE("Barrier", false, f.Barrier(comm); (void)r),
    CHASQUI_CASE("Ibcast 8 B", false, f.Ibcast(many_in.data(), 8, MPI_BYTE, 0, comm, r)),
    CHASQUI_CASE("Ibcast 64 KiB", true, f.Ibcast(many_in.data(), 65536, MPI_BYTE, 0, comm, r)),
    CHASQUI_CASE("Ireduce 8 B", true, f.Ireduce(CHASQUI_FOLDED(1), 0, comm, r)),
    CHASQUI_CASE("Ireduce 64 KiB", true, f.Ireduce(CHASQUI_FOLDED(8192), 0, comm, r)),
};

/// A name in callgrind's file: "(3) name" the first time, "(3)" afterwards.
class Names {
 public:
  const std::string& full(const std::string& text) {
    const auto end = text.find(')');
    std::string& name = names_[text.substr(0, end)];
    if (end + 2 < text.size()) name = text.substr(end + 2);
    return name;
  }

 private:
  std::map<std::string, std::string> names_;
};

bool any_of(std::string_view path, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return path.find(part) != path.npos; });
}
bool ours(std::string_view path) { return any_of(path, {"mca_coll_chasqui.so", "libchasqui-mpi-"}); }
bool helps(std::string_view path) {
  return any_of(path, {"/ld-linux", "/libc.so", "/libstdc++", "/libgcc", "/libm.so", "/libfmt", "vdso", "vgpreload"});
}

/// Of a dump: what our libraries execute, and what they call in the system's.
std::int64_t added(const std::string& file) {
  Names names;
  std::ifstream dump(file);
  if (!dump) throw Error("{}: callgrind has not written it", file);
  std::string object, called;
  std::int64_t sum = 0;
  const auto cost = [](const std::string& line) { return std::stoll(line.substr(line.find(' '))); };
  for (std::string line; std::getline(dump, line);) {
    if (line.starts_with("ob=")) {
      called = object = names.full(line.substr(3));
    } else if (line.starts_with("cob=")) {
      called = names.full(line.substr(4));
    } else if (line.starts_with("calls=")) {
      std::getline(dump, line);
      if (ours(object) && helps(called)) sum += cost(line);
      called = object;
    } else if (!line.empty() &&
               (line[0] == '+' || line[0] == '-' || line[0] == '*' || (line[0] >= '0' && line[0] <= '9'))) {
      if (ours(object)) sum += cost(line);
    }
  }
  return sum;
}

/// Of a call under callgrind.
std::int64_t counted_once(const std::string& dumps, int& dump, const Case* each, MPI_Comm comm) {
  MPI_Request request = persistent;
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  if (each != nullptr) each->call({}, comm, &request);
  else MPI_Start(&request);
  CALLGRIND_TOGGLE_COLLECT;
  std::int64_t count = 0;
  if (RUNNING_ON_VALGRIND) {
    CALLGRIND_DUMP_STATS;
    count = added(fmt::format("{}.{}", dumps, ++dump));
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return count;
}

/// The other rank makes its calls and sleeps until this one has: it is slow under callgrind.
void meet_asleep() {
  int rank = 0, come = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  while (rank != 0 && come == 0) {
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE);
    ::usleep(2000);
  }
  if (rank != 0) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// A communicator of all ranks, after the first calls of all cases; idle: what lies below does nothing from now on, so it is faster.
MPI_Comm warmed_up(bool idle, int calls = kWarm) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allgather(many_in.data(), 1, MPI_DOUBLE, many_out.data(), 1, MPI_DOUBLE, comm);  // prepares it
  chasqui_idle = idle ? 1 : 0;
  for (const Case& each : kCases) {
    for (int i = 0; i < calls; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      each.call({}, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  return comm;
}

/// What the MPI library is while calls are counted.
enum class Below { usual, idle, slow_clock };
constexpr const char* kCountWords[] = {"--count", "--count-idle", "--count-slow-clock"};

/// On both ranks; rank 0 writes its counts, one line for each case and one for the start of a persistent reduce.
void count(const std::string& dumps, const std::string& results, Below below) {
  MPI_Init(nullptr, nullptr);
  make_handles();
  int dump = 0;
  std::ofstream file(RUNNING_ON_VALGRIND ? results : "/dev/null");
  chasqui_slow_clock = below == Below::slow_clock ? 1 : 0;
  MPI_Comm comm = warmed_up(below == Below::idle, below == Below::slow_clock ? kOurTurn : kWarm);
  const auto counted = [&](const Case* each) {
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < kCounted; ++i) least = std::min(least, counted_once(dumps, dump, each, comm));
    file << least / (each != nullptr ? each->calls : 1) << '\n';
  };
  for (const Case& each : kCases) counted(&each);
  chasqui_idle = chasqui_slow_clock = 0;
  CHASQUI_PERSISTENT(Reduce)(CHASQUI_FOLDED(1), 0, comm, MPI_INFO_NULL, &persistent);
  counted(nullptr);
  MPI_Request_free(&persistent);
  MPI_Comm_free(&comm);
  free_handles();
  meet_asleep();
  MPI_Finalize();
}

struct Spread {
  double least, quartile;
};
Spread spread_of(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 4]};
}

/// On both ranks; rank 0 writes a line for each case: nanoseconds without, what is added, and that by the quartiles.
void time(const std::string& results) {
  constexpr int kBlock = 50, kBlocks = 5000;
  MPI_Init(nullptr, nullptr);
  make_handles();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ofstream file(rank == 0 ? results : "/dev/null");
  chasqui_idle_above = 1;
  MPI_Comm bare = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &bare);
  chasqui_idle_above = 0;
  MPI_Comm comm = warmed_up(true);
  const Functions through, below = functions_below();
  std::vector<double> with[std::size(kCases)], without[std::size(kCases)];
  for (int i = 0; i < kBlocks; ++i) {
    for (std::size_t c = 0; c < std::size(kCases); ++c) {
      const auto block = [&](const Functions& functions, MPI_Comm on) {
        MPI_Request request = MPI_REQUEST_NULL;
        const double begin = clock_now();
        for (int k = 0; k < kBlock; ++k) kCases[c].call(functions, on, &request);
        return (clock_now() - begin) / (kBlock * kCases[c].calls);
      };
      with[c].push_back(block(through, comm));
      without[c].push_back(block(below, bare));
    }
  }
  for (std::size_t c = 0; c < std::size(kCases); ++c) {
    const Spread ours = spread_of(with[c]), theirs = spread_of(without[c]);
    file << theirs.least << ' ' << ours.least - theirs.least << ' ' << ours.quartile - theirs.quartile << '\n';
  }
  chasqui_idle = 0;
  MPI_Comm_free(&comm);
  MPI_Comm_free(&bare);
  free_handles();
  meet_asleep();
  MPI_Finalize();
}

struct Face {
  std::string name, words;  ///< of the launcher
};
struct Way {
  std::string name, variables;
  Below below;
};

/// Runs this program on two ranks, the first one by `before`; what it wrote into `results`.
std::vector<double> made(const std::string& before, const std::string& words, const fs::path& folder, const Face& face,
                         const Way& way) {
  const std::string results = folder / "results", log = folder / "log";
  fs::remove(results);
  const int status =
      std::system(fmt::format("env {} {} {} {} {} '{}' {} {} '{}' > '{}' 2>&1", way.variables, kLaunch, face.words,
                              before, words, results, kFurther, face.words + " " + words, results, log)
                      .c_str());
  std::ifstream file(results);
  if (status != 0 || !file) {
    std::ifstream said(log);
    throw Error("{} of the {} could not be looked at (apt install valgrind):\n{}", way.name, face.name,
                std::string(std::istreambuf_iterator<char>(said), {}));
  }
  std::vector<double> numbers;
  for (double number = 0; file >> number;) numbers.push_back(number);
  return numbers;
}

/// The counts of all cases.
std::vector<double> counted(const std::string& program, const fs::path& folder, const Face& face, const Way& way) {
  const std::string dumps = folder / "counts";
  return made(fmt::format("valgrind --tool=callgrind --quiet --collect-atstart=no --callgrind-out-file='{}'", dumps),
              fmt::format("'{}' {} '{}'", program, kCountWords[static_cast<int>(way.below)], dumps), folder, face, way);
}

std::vector<Face> faces_of(const std::string& program) {
  const fs::path libraries = fs::canonical(program).parent_path().parent_path() / "lib";
#ifdef OPEN_MPI
  return {{"component", fmt::format("--mca mca_base_component_path SYSTEM_DEFAULT:{}:{}",
                                    (libraries / "chasqui/openmpi").string(), (libraries / "idle").string())},
          {"drop-in", fmt::format("-x LD_PRELOAD={}:{}", (libraries / "libchasqui-mpi-openmpi.so").string(),
                                  (libraries / "idle/libchasqui-idle-openmpi.so").string())}};
#else
  return {{"drop-in", fmt::format("-env LD_PRELOAD {}:{}", (libraries / "libchasqui-mpi-mpich.so").string(),
                                  (libraries / "idle/libchasqui-idle-mpich.so").string())}};
#endif
}

/// With a profile in `folder` by which the MPI library is always faster. It decides about reductions and long broadcasts; about the others the two
/// sides are compared, one of which does nothing.
std::vector<Way> make_ways(const fs::path& folder) {
  Profile profile = default_profile();
  std::erase_if(profile.levels, [](const Level& level) { return level.name != "node"; });
  profile.levels.at(0).ranks = 2;
  for (const char* kind :
       {"allreduce", "reduce", "broadcast", "gather", "scatter", "allgather", "alltoall", "scan", "reduce-scatter"}) {
    profile.native[kind] = {{0, 1.0}, {1 << 20, 1.0}};
    profile.measured[kind] = {{0, 1e6}, {1 << 20, 1e6}};
  }
  const std::string file = folder / "profile.json";
  write_profile(file, profile);
  const std::string served = "CHASQUI_REHEARSE=0 CHASQUI_AFTER=0 CHASQUI_TRIALS=";
  return {{"disabled", "CHASQUI_DISABLE=all", Below::idle},
          {"slower", fmt::format("{}100000 CHASQUI_PROFILE='{}'", served, file), Below::idle},
          {"served", served + "0", Below::usual},
          {"reported", fmt::format("{}0 CHASQUI_REPORT='{}'", served, (folder / "report").string()), Below::usual},
          {"compared", served + "100 CHASQUI_SAME_BITS=0", Below::slow_clock}};
}

std::string name_of(std::size_t row) { return row < std::size(kCases) ? kCases[row].name : "Start of Reduce"; }

void table(const std::string& program, const fs::path& folder) {
  const std::vector<Way> ways = make_ways(folder);
  for (const Face& face : faces_of(program)) {
    std::printf("%-22s", face.name.c_str());
    for (const Way& way : ways) std::printf("%10s", way.name.c_str());
    std::printf("   instructions a call\n");
    std::vector<std::vector<double>> columns;
    for (const Way& way : ways) columns.push_back(counted(program, folder, face, way));
    for (std::size_t i = 0; i < columns.at(0).size(); ++i) {
      std::printf("%-22s", name_of(i).c_str());
      for (const auto& column : columns) std::printf("%10.0f", column.at(i));
      std::printf("\n");
    }
    std::fflush(stdout);
  }
}

void times(const std::string& program, const fs::path& folder) {
  for (const Face& face : faces_of(program)) {
    for (const Way& way : make_ways(folder)) {
      if (way.below != Below::idle) continue;
      const std::vector<double> numbers = made("", fmt::format("'{}' --time", program), folder, face, way);
      std::printf("%-26s   without, ns    adds  by quartiles\n", (face.name + ", " + way.name).c_str());
      for (std::size_t i = 0; i < std::size(kCases); ++i)
        std::printf("%-26s%14.1f%8.1f%14.1f\n", kCases[i].name, numbers.at(3 * i), numbers.at(3 * i + 1),
                    numbers.at(3 * i + 2));
      std::fflush(stdout);
    }
  }
}

template <typename List>
auto named(const List& list, const std::string& name) {
  const auto found =
      std::find_if(std::begin(list), std::end(list), [&](const auto& each) { return each.name == name; });
  if (found == std::end(list)) throw Error("nothing here is called {}", name);
  return *found;
}

/// One way of one face: is there a call that takes more than `most`?
bool too_many(const std::string& program, const fs::path& folder, const std::string& face, const std::string& way,
              std::int64_t most) {
  const std::vector<double> counts =
      counted(program, folder, named(faces_of(program), face), named(make_ways(folder), way));
  bool found = false;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool certain = way != "slower" || i >= std::size(kCases) || kCases[i].certain;
    std::printf("%-22s%10.0f %s\n", name_of(i).c_str(), counts[i],
                certain ? fmt::format("of at most {} instructions", most).c_str() : "");
    found = found || (certain && counts[i] > static_cast<double>(most));
  }
  return found;
}

/// Two ways of one face: is there a call that takes so many more by the second one? What waits for the other rank, or copies much, is
/// never the same: of those nothing is said.
bool adds_too_many(const std::string& program, const fs::path& folder, const std::string& face,
                   const std::array<std::string, 2>& ways, std::int64_t most) {
  std::array<std::vector<double>, 2> columns;
  for (std::size_t i = 0; i < 2; ++i)
    columns[i] = counted(program, folder, named(faces_of(program), face), named(make_ways(folder), ways[i]));
  bool found = false;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    const double more = columns[1].at(i) - columns[0][i];
    const bool certain = columns[0][i] < 1000 && (i >= std::size(kCases) || !kCases[i].left);
    std::printf("%-22s%10.0f%10.0f %s\n", name_of(i).c_str(), columns[0][i], columns[1][i],
                certain ? fmt::format("at most {} more", most).c_str() : "");
    found = found || (certain && more > static_cast<double>(most));
  }
  return found;
}

}  // namespace

int main(int words, char** word) try {
  const std::string_view first = words > 1 ? word[1] : "";
  for (const Below below : {Below::usual, Below::idle, Below::slow_clock}) {
    if (first == kCountWords[static_cast<int>(below)]) return count(word[2], word[3], below), 0;
  }
  if (first == "--time") return time(word[2]), 0;
  const auto folder = fs::temp_directory_path() / fmt::format("chasqui-passed-{}", ::getpid());
  fs::create_directory(folder);
  bool failed = false;
  try {
    if (words == 4) failed = too_many(word[0], folder, word[1], word[2], std::stoll(word[3]));
    else if (words == 5) failed = adds_too_many(word[0], folder, word[1], {word[2], word[3]}, std::stoll(word[4]));
    else if (first == "time") times(word[0], folder);
    else table(word[0], folder);
  } catch (...) {
    fs::remove_all(folder);
    throw;
  }
  fs::remove_all(folder);
  return failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "count_passed_calls: %s\n", error.what());
  return 1;
}
