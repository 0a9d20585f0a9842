// SPDX-License-Identifier: MIT
// left: wrong calls of a kind that is left to the MPI library, after a right one like them. They get the code that the MPI library has for
// them, and what comes next is right. What stands below (bench/idle) does nothing for a while, so that it is found to be faster.
#include <dlfcn.h>

#include "check.hpp"

extern "C" int chasqui_idle;
int chasqui_idle = 0;

namespace {

using namespace conformance;

/// The functions by which a call goes.
struct Functions {
#define CHASQUI_USED(X) \
  X(Bcast)              \
  X(Reduce)             \
  X(Allreduce)          \
  X(Gather)             \
  X(Scatter) X(Allgather) X(Alltoall) X(Allgatherv) X(Gatherv) X(Scatterv) X(Alltoallv) X(Alltoallw) X(Reduce_scatter)
#define CHASQUI_FUNCTION(name) decltype(&MPI_##name) name = MPI_##name;
  CHASQUI_USED(CHASQUI_FUNCTION)
#undef CHASQUI_FUNCTION
};
const Functions served;

/// The MPI library's own, below the library under test.
Functions native() {
  Functions all;
#define CHASQUI_FUNCTION(name)                                                                          \
  all.name = reinterpret_cast<decltype(&MPI_##name)>(dlsym(RTLD_DEFAULT, "chasqui_idle_" #name));       \
  if (all.name == nullptr) {                                                                            \
    std::fprintf(stderr, "chasqui_idle_" #name " is missing: preload the library that stands below\n"); \
    std::exit(1);                                                                                       \
  }
  CHASQUI_USED(CHASQUI_FUNCTION)
#undef CHASQUI_FUNCTION
  return all;
}

/// The arguments of a call, right or not.
struct Arguments {
  int root = 0;
  const int* counts;
  const int* places;
  const MPI_Datatype* types;
  const int* in;
  int* out;
  MPI_Comm comm;
};

enum : unsigned { kRoot = 1, kCounts = 2, kTypes = 4 };
#ifdef OPEN_MPI
constexpr unsigned kCountsOfAllgatherv = 0;  ///< takes any, and crashes
#else
constexpr unsigned kCountsOfAllgatherv = kCounts;
#endif

enum class Gets { root, others, all };
struct Case {
  const char* name;
  unsigned wrong;  ///< what can be wrong in it
  Gets gets;       ///< who gets something, if the first rank is the root
  int (*call)(const Functions&, const Arguments&);
};
#define CHASQUI_CASE(name, wrong, gets, called)                                              \
  {                                                                                          \
#name, wrong, gets, [](const Functions& f, const Arguments& a) { return f.name called; } \
  }
constexpr Case kCases[] = {
    CHASQUI_CASE(Bcast, kRoot, Gets::others, (a.out, 1, MPI_INT, a.root, a.comm)),
    CHASQUI_CASE(Reduce, kRoot, Gets::root, (a.in, a.out, 1, MPI_INT, MPI_SUM, a.root, a.comm)),
    CHASQUI_CASE(Allreduce, 0, Gets::all, (a.in, a.out, 1, MPI_INT, MPI_SUM, a.comm)),
    CHASQUI_CASE(Gather, kRoot, Gets::root, (a.in, 1, MPI_INT, a.out, 1, MPI_INT, a.root, a.comm)),
    CHASQUI_CASE(Scatter, kRoot, Gets::all, (a.in, 1, MPI_INT, a.out, 1, MPI_INT, a.root, a.comm)),
    CHASQUI_CASE(Allgather, 0, Gets::all, (a.in, 1, MPI_INT, a.out, 1, MPI_INT, a.comm)),
    CHASQUI_CASE(Alltoall, 0, Gets::all, (a.in, 1, MPI_INT, a.out, 1, MPI_INT, a.comm)),
    CHASQUI_CASE(Allgatherv, kCountsOfAllgatherv, Gets::all,
                 (a.in, 1, MPI_INT, a.out, a.counts, a.places, MPI_INT, a.comm)),
    CHASQUI_CASE(Gatherv, kRoot, Gets::root, (a.in, 1, MPI_INT, a.out, a.counts, a.places, MPI_INT, a.root, a.comm)),
    CHASQUI_CASE(Scatterv, kRoot, Gets::all, (a.in, a.counts, a.places, MPI_INT, a.out, 1, MPI_INT, a.root, a.comm)),
    CHASQUI_CASE(Alltoallv, kCounts, Gets::all,
                 (a.in, a.counts, a.places, MPI_INT, a.out, a.counts, a.places, MPI_INT, a.comm)),
    CHASQUI_CASE(Alltoallw, kCounts | kTypes, Gets::all,
                 (a.in, a.counts, a.places, a.types, a.out, a.counts, a.places, a.types, a.comm)),
    CHASQUI_CASE(Reduce_scatter, kCounts, Gets::all, (a.in, a.out, a.counts, MPI_INT, MPI_SUM, a.comm)),
};

int class_of(int code) {
  int one = MPI_SUCCESS;
  MPI_Error_class(code, &one);
  return one;
}

/// Calls until the MPI library makes them: while that does nothing, what a rank would get stays away. Most calls are back to back, as only
/// those show what a call takes; some are looked at.
void leave(const Case& each, const Arguments& right, const Functions& below, const Place& me) {
  constexpr int kMost = 100, kUnseen = 60, kSeen = 5, kAway = -7;
  const bool gets = each.gets == Gets::all || (each.gets == Gets::root) == (me.rank == 0);
  for (int i = 0; i < kMost; ++i) {
    chasqui_idle = 1;
    for (int k = 0; k < kUnseen; ++k) equal("code", each.call(served, right), MPI_SUCCESS);
    int stays = 1, all = 0;
    for (int k = 0; k < kSeen; ++k) {
      right.out[0] = gets ? kAway : 1;
      equal("code", each.call(served, right), MPI_SUCCESS);
      if (gets && right.out[0] != kAway) stays = 0;
    }
    chasqui_idle = 0;
    below.Allreduce(&stays, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all == 1) return;
  }
  fail("rounds of calls after which none was left to the MPI library", kMost, 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  const Functions below = native();
  std::vector<int> counts(index(me.size), 1), places, byte_places, in(index(me.size)), out(index(me.size));
  for (int r = 0; r < me.size; ++r) places.push_back(r), byte_places.push_back(r * static_cast<int>(sizeof(int)));
  const std::vector<MPI_Datatype> types(index(me.size), MPI_INT);
  std::vector<int> negative = counts;
  negative.back() = -1;
  std::vector<MPI_Datatype> no_type = types;
  no_type.back() = MPI_DATATYPE_NULL;
  int errors = 0;
  for (const Case& each : kCases) {
    part = each.name;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const Arguments right{0,
                          counts.data(),
                          (each.wrong & kTypes) != 0 ? byte_places.data() : places.data(),
                          types.data(),
                          in.data(),
                          out.data(),
                          comm};
    MPI_Barrier(comm);  // its board is made, by collectives of the MPI library
    leave(each, right, below, me);
    std::vector<Arguments> wrong;
    const auto with = [&](auto change) {
      wrong.push_back(right);
      change(wrong.back());
    };
    if ((each.wrong & kRoot) != 0) {
      with([&](Arguments& a) { a.root = -1; });
      with([&](Arguments& a) { a.root = me.size; });
    }
    if ((each.wrong & kCounts) != 0) with([&](Arguments& a) { a.counts = negative.data(); });
    if ((each.wrong & kTypes) != 0) with([&](Arguments& a) { a.types = no_type.data(); });
#ifdef OPEN_MPI  // MPICH reads lists that are missing
    if ((each.wrong & kCounts) != 0) with([&](Arguments& a) { a.counts = nullptr; });
    if ((each.wrong & kTypes) != 0) with([&](Arguments& a) { a.types = nullptr; });
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (const Arguments& one : wrong) {
      const int expected = each.call(below, one);
      const int got = each.call(served, one);
      equal("class of the code", class_of(got), class_of(expected));
      errors += expected != MPI_SUCCESS ? 1 : 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 5; ++i) {
      for (int r = 0; r < me.size; ++r) in[index(r)] = 10 * me.rank + r + i, out[index(r)] = me.rank == 0 ? i : -1;
      std::vector<int> same = out;
      Arguments twin = right;
      twin.out = same.data();
      equal("code", each.call(below, twin), MPI_SUCCESS);
      equal("code", each.call(served, right), MPI_SUCCESS);
      equal("result", out, same);
    }
    MPI_Comm_free(&comm);
  }
  if (me.rank == 0)
    std::printf("%d wrong calls that were left to the MPI library: %s\n", errors, errors >= 15 ? "right" : "few");
  MPI_Finalize();
  return 0;
}
