// SPDX-License-Identifier: MIT
// Plain MPI calls on one node, fresh data in every call, every result checked, roots that change. By turns: the MPI library's own,
// and the calls as a program makes them (MPI_…), which the drop-in library serves where it is preloaded. Compiles with
// any mpicxx; with -DNODE_BENCH_CHASQUI, the headers and the library, the C++ interface is a third contestant.
//   mpirun -np 16 env LD_PRELOAD=libchasqui-mpi-….so node_bench [--modes sync,skew,burst,cold] [--kinds broadcast,…]
//       [--sizes 8,64,…] [--seconds 0.1] [--root 0] [--csv file] [--method name]
// sync: a common start. skew: every rank comes up to 20 us later, at random (skew=100: up to 100). burst: calls back to back. cold: the
// buffers are in no cache. --root: always this one, not another in every call. Times are from the last rank's beginning to the
// last rank's end, burst: per call; the median of a slice of rounds after a few that do not count, then the median over slices.
// Contestants take turns as turns.hpp says; a ratio is the median over its cycles. --seconds: of a row, but at least five rounds a slice where that takes
// no more than half a second, and one in any case. --method forces the C++ interface.
#include <link.h>
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "native_mpi.hpp"
#include "turns.hpp"
#if defined(NODE_BENCH_CHASQUI)
#include <memory>

#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#endif

namespace {

constexpr int kLeastRounds = 5, kMostRounds = 500;  // of a slice
constexpr double kLongestRow = 5e8;                 // nanoseconds, for the sake of the least rounds
constexpr std::size_t kCallsOfBurst = 32, kColdBytes = std::size_t{32} << 20;
constexpr double kLead = 20'000;  // nanoseconds
constexpr const char* kModes[] = {"sync", "skew", "burst", "cold"};

enum Kind { barrier, broadcast, allreduce, reduce, allgather, gather, scatter, scan, alltoall, reduce_scatter, kinds };
constexpr const char* kNames[kinds] = {"barrier", "broadcast", "allreduce", "reduce",   "allgather",
                                       "gather",  "scatter",   "scan",      "alltoall", "reduce-scatter"};

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Ranks {
  int rank = 0, size = 1;
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
};

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "node_bench: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

/// One call on buffers of its own.
struct Call {
  Kind kind;
  int count, root;
  double *in, *out;
};
using Contestant = std::function<void(const Call&)>;

/// Where the MPI library's own calls are made, and the benchmark's.
MPI_Comm native_world = MPI_COMM_WORLD;

/// The same calls by the MPI library itself, or by the names that programs use.
#define NODE_BENCH_PLAIN(name) name
#define NODE_BENCH_CALLS(CALL, WORLD)                                                                         \
  [](const Call& c) {                                                                                         \
    const MPI_Datatype type = MPI_DOUBLE;                                                                     \
    switch (c.kind) {                                                                                         \
      case broadcast: CALL(MPI_Bcast)(c.out, c.count, type, c.root, WORLD); break;                            \
      case allreduce: CALL(MPI_Allreduce)(c.in, c.out, c.count, type, MPI_SUM, WORLD); break;                 \
      case reduce: CALL(MPI_Reduce)(c.in, c.out, c.count, type, MPI_SUM, c.root, WORLD); break;               \
      case allgather: CALL(MPI_Allgather)(c.in, c.count, type, c.out, c.count, type, WORLD); break;           \
      case gather: CALL(MPI_Gather)(c.in, c.count, type, c.out, c.count, type, c.root, WORLD); break;         \
      case scatter: CALL(MPI_Scatter)(c.in, c.count, type, c.out, c.count, type, c.root, WORLD); break;       \
      case scan: CALL(MPI_Scan)(c.in, c.out, c.count, type, MPI_SUM, WORLD); break;                           \
      case alltoall: CALL(MPI_Alltoall)(c.in, c.count, type, c.out, c.count, type, WORLD); break;             \
      case reduce_scatter: CALL(MPI_Reduce_scatter_block)(c.in, c.out, c.count, type, MPI_SUM, WORLD); break; \
      default: CALL(MPI_Barrier)(WORLD);                                                                      \
    }                                                                                                         \
  }

#if defined(NODE_BENCH_CHASQUI)
/// Its communicator goes before MPI_Finalize, with the last contestant.
Contestant of_interface(const std::string& method) {
  chasqui::mpi::Options options;
  options.native = false;
  const std::shared_ptr<chasqui::run::Comm> comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, options);
  bool known = method.empty();
  for (int m = 0; m <= static_cast<int>(chasqui::run::Method::native); ++m) {
    const auto which = static_cast<chasqui::run::Method>(m);
    if (to_string(which) != method) continue;
    comm->force(chasqui::run::Choice{which, 0, 1, ""});
    known = true;
  }
  if (!known) refuse("--method " + method + ": there is no such method; `chasqui explain` names them");
  return [comm](const Call& c) {
    using chasqui::Kind;
    constexpr Kind same[] = {Kind::barrier, Kind::broadcast, Kind::allreduce, Kind::reduce,   Kind::allgather,
                             Kind::gather,  Kind::scatter,   Kind::scan,      Kind::alltoall, Kind::reduce_scatter};
    static const chasqui::run::Sum sum;
    chasqui::run::Call call;
    call.kind = same[c.kind];
    call.in = c.in;
    call.out = c.out;
    call.count = c.kind == barrier ? 0 : c.count;
    call.element = sizeof(double);
    call.op = chasqui::run::operator_of<double>(sum, true);
    call.root = c.root;
    comm->run(call);
  };
}
#endif

/// What element i of a rank's data is in a call: whole numbers, so that sums are exact in any order.
struct Data {
  std::uint64_t call;
  double base(std::size_t i) const { return static_cast<double>((call * 7 + i) % 31); }
  double of(int rank, std::size_t i) const { return rank + base(i); }
  double sum(int ranks, std::size_t i) const { return ranks * (ranks - 1) / 2.0 + ranks * base(i); }
};

/// The buffers of several calls, apart from each other.
class Buffers {
 public:
  Buffers(const Ranks& ranks, Kind kind, std::size_t bytes, bool cold)
      : ranks_(ranks), kind_(kind), count_(bytes / sizeof(double)) {
    const auto blocks = static_cast<std::size_t>(ranks.size);
    in_ = kind == scatter || exchanges() ? count_ * blocks : count_;
    out_ = kind == allgather || kind == gather || kind == alltoall ? count_ * blocks : count_;
    const std::size_t volume = (in_ + out_) * sizeof(double);
    slots_ = std::clamp<std::size_t>((cold ? kColdBytes : std::size_t{1} << 20) / std::max<std::size_t>(volume, 1), 2,
                                     cold ? 64 : kCallsOfBurst);
    const auto apart = [](std::size_t n) { return (n + 7) / 8 * 8 + 512; };
    stride_ = apart(in_) + apart(out_);
    memory_.assign(slots_ * stride_ + 8, 0.0);
    if (cold) elsewhere_.assign(kColdBytes, 1);
  }
  std::size_t slots() const { return slots_; }

  Call call(std::uint64_t number, int root) {
    double* in = memory_.data() + number % slots_ * stride_;
    return {kind_, static_cast<int>(count_), root, in, in + (in_ + 7) / 8 * 8 + 512};
  }
  void fill(const Call& c, const Data& data) const {
    const bool at_root = ranks_.rank == c.root;
    if (kind_ == broadcast && at_root) fill(c.out, ranks_.rank, data);
    else if ((kind_ == scatter && at_root) || exchanges()) {  // of an exchange no two blocks are alike
      const int first = exchanges() ? ranks_.rank * ranks_.size : 0;
      for (int r = 0; r < ranks_.size; ++r) fill(c.in + static_cast<std::size_t>(r) * count_, first + r, data);
    } else if (kind_ != broadcast && kind_ != scatter) fill(c.in, ranks_.rank, data);
  }
  void check(const Call& c, const Data& data) const {
    const bool at_root = ranks_.rank == c.root;
    const int me = ranks_.rank;
    switch (kind_) {
      case broadcast: return expect(c.out, c, [&](std::size_t i) { return data.of(c.root, i); });
      case scatter: return expect(c.out, c, [&](std::size_t i) { return data.of(me, i); });
      case scan: return expect(c.out, c, [&](std::size_t i) { return me * (me + 1) / 2.0 + (me + 1) * data.base(i); });
      case reduce:
        if (!at_root) return;
        [[fallthrough]];
      case allreduce: return expect(c.out, c, [&](std::size_t i) { return data.sum(ranks_.size, i); });
      case gather:
        if (!at_root) return;
        [[fallthrough]];
      case allgather:
      case alltoall:
        for (int r = 0; r < ranks_.size; ++r) {
          const int from = kind_ == alltoall ? r * ranks_.size + me : r;
          expect(c.out + static_cast<std::size_t>(r) * count_, c, [&](std::size_t i) { return data.of(from, i); });
        }
        return;
      case reduce_scatter:
        return expect(c.out, c, [&](std::size_t i) {
          return data.sum(ranks_.size, i) + (ranks_.size - 1) * ranks_.size * (ranks_.size - 1) / 2.0 +
                 ranks_.size * me;
        });
      default: return;
    }
  }
  /// All ranks together read more than the caches hold.
  void forget() {
    for (std::size_t at = 0; at < elsewhere_.size(); at += 64) elsewhere_[at] = static_cast<char>(elsewhere_[at] + 1);
  }

 private:
  bool exchanges() const { return kind_ == alltoall || kind_ == reduce_scatter; }
  void fill(double* to, int rank, const Data& data) const {
    for (std::size_t i = 0; i < count_; ++i) to[i] = data.of(rank, i);
  }
  /// Of long results one element in 61, and the last.
  template <typename Expected>
  void expect(const double* found, const Call& c, Expected expected) const {
    const std::size_t step = count_ <= 4096 ? 1 : 61;
    for (std::size_t i = 0; i < count_ + step - 1; i += step) {
      const std::size_t at = std::min(i, count_ - 1);
      if (count_ == 0 || found[at] == expected(at)) continue;
      std::fprintf(stderr, "rank %d: %s of %d doubles, root %d: element %zu is %g, not %g\n", ranks_.rank,
                   kNames[kind_], c.count, c.root, at, found[at], expected(at));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

  Ranks ranks_;
  Kind kind_;
  std::size_t count_, in_, out_, slots_, stride_;
  std::vector<double> memory_;
  std::vector<char> elsewhere_;
};

/// Begins together, or up to `skew` nanoseconds later, by a number that every rank and round has for itself.
void wait_for_start(const Ranks& ranks, double skew, std::uint64_t round) {
  double start = now() + kLead;
  const double mine = start;
  MPI_NATIVE(MPI_Allreduce)(&mine, &start, 1, MPI_DOUBLE, MPI_MAX, native_world);
  std::uint64_t mixed = (round * 64 + static_cast<std::uint64_t>(ranks.rank) + 1) * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 29;
  start += static_cast<double>(mixed * 0xBF58476D1CE4E5B9u >> 40) / (1 << 24) * skew;
  while (now() < start) {
  }
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream text(list);
  for (std::string word; std::getline(text, word, ',');) all.push_back(word);
  return all;
}

template <typename Names>
void require_known(const std::string& list, const Names& names, const std::string& option) {
  for (const std::string& word : words(list)) {
    if (std::find(std::begin(names), std::end(names), word) != std::end(names)) continue;
    std::string known;
    for (const char* name : names) known += std::string(known.empty() ? "" : ", ") + name;
    refuse(option + " " + word + ": there are " + known);
  }
}

struct Settings {
  std::string modes = "sync", kinds, sizes = "8,64,1024,4096,16384,65536,262144,1048576,4194304", csv, method;
  double seconds = 0.1;  ///< of each row
  int root = -1;         ///< of every call; -1: another one in every call
  Settings(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const std::string name = argv[i];
      if (i + 1 == argc) refuse(name + " wants a value");
      const std::string value = argv[i + 1];
      if (name == "--modes") modes = value;
      else if (name == "--kinds") kinds = value;
      else if (name == "--sizes") sizes = value;
      else if (name == "--csv") csv = value;
      else if (name == "--method") method = value;
      else if (name == "--seconds") seconds = std::atof(value.c_str());
      else if (name == "--root") root = std::atoi(value.c_str());
      else refuse("there is no " + name + ": see the beginning of bench/node/node_bench.cpp");
    }
    for (const std::string& mode : words(modes)) require_known(mode.substr(0, mode.find('=')), kModes, "--modes");
    require_known(kinds, kNames, "--kinds");
    if (root >= Ranks().size) refuse("--root " + std::to_string(root) + ": there is no such rank");
  }
  bool wants(const char* kind) const {
    return kinds.empty() || ("," + kinds + ",").find("," + std::string(kind) + ",") != std::string::npos;
  }
};

/// Nanoseconds.
double skew_of(const std::string& mode) {
  if (mode.substr(0, 4) != "skew") return 0;
  return mode.size() > 5 ? std::atof(mode.c_str() + 5) * 1e3 : 20'000;
}

/// Before a slice: what the contestant before left behind is not this one's.
int uncounted_rounds(int rounds) { return std::min(rounds, 2) + rounds / 10; }

/// Rounds of one contestant: the median time, the same on every rank.
double slice(const Ranks& ranks, const Settings& settings, const std::string& mode, Buffers& buffers, int rounds,
             std::uint64_t& number, const Contestant& contestant) {
  const std::size_t calls = mode == "burst" ? buffers.slots() : 1;
  const std::uint64_t first = number;
  const auto root = [&](std::uint64_t call) {
    if (settings.root >= 0) return settings.root;
    return static_cast<int>(call / calls % static_cast<std::uint64_t>(ranks.size));
  };
  const auto fill = [&](std::uint64_t call) { buffers.fill(buffers.call(call, root(call)), Data{call}); };
  std::vector<double> begins, ends;
  const int uncounted = mode == "cold" ? 0 : uncounted_rounds(rounds);
  if (mode == "cold") rounds = std::min(rounds, static_cast<int>(buffers.slots()));
  for (int round = 0; round < uncounted + rounds; ++round, number += calls) {
    if (mode == "cold" && round == 0) {
      for (int k = 0; k < rounds; ++k) fill(first + static_cast<std::uint64_t>(k));
      buffers.forget();
    }
    for (std::uint64_t k = 0; k < calls && mode != "cold"; ++k) fill(number + k);
    wait_for_start(ranks, skew_of(mode), number);
    const double begin = now();
    for (std::uint64_t k = 0; k < calls; ++k) contestant(buffers.call(number + k, root(number + k)));
    const double end = now();
    if (round >= uncounted) begins.push_back(begin), ends.push_back(end);
    for (std::uint64_t k = 0; k < calls; ++k)
      buffers.check(buffers.call(number + k, root(number + k)), Data{number + k});
  }
  std::vector<double> last(begins.size()), times(ends.size());
  const auto n = static_cast<int>(ends.size());
  MPI_NATIVE(MPI_Allreduce)(begins.data(), last.data(), n, MPI_DOUBLE, MPI_MAX, native_world);
  MPI_NATIVE(MPI_Allreduce)(ends.data(), times.data(), n, MPI_DOUBLE, MPI_MAX, native_world);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = (times[i] - last[i]) / static_cast<double>(calls);
  return node_bench::median(times);
}

/// Of each slice of a row, from what a round takes, in nanoseconds.
int rounds_of(double seconds, double round, std::size_t slices) {
  const auto fit = [&](int rounds, double time) {
    return static_cast<double>(slices) * (rounds + uncounted_rounds(rounds)) * round <= time;
  };
  int rounds = 1;
  while (rounds < kMostRounds &&
         (fit(rounds + 1, seconds * 1e9) || (rounds < kLeastRounds && fit(rounds + 1, kLongestRow))))
    ++rounds;
  return rounds;
}

void row(const Ranks& ranks, const Settings& settings, const std::string& mode, Kind kind, std::size_t bytes,
         const std::vector<Contestant>& contestants, std::ostream& csv) {
  Buffers buffers(ranks, kind, bytes, mode == "cold");
  // What precedes the slices of a row in no cache takes longer than they do.
  const node_bench::Turns turns(contestants.size(), mode == "cold" ? 3 : 5);
  std::uint64_t number = 0;
  double begun = 0, rounds = 0;
  for (int again = 0; again < 2; ++again) {  // the first calls are not like others
    begun = now();
    for (const Contestant& each : contestants) slice(ranks, settings, mode, buffers, 1, number, each);
    rounds = (now() - begun) / static_cast<double>(contestants.size());
  }
  if (mode != "cold") rounds /= 1 + uncounted_rounds(1);
  rounds = rounds_of(settings.seconds, rounds, turns.order().size());
  MPI_NATIVE(MPI_Bcast)(&rounds, 1, MPI_DOUBLE, 0, native_world);
  std::vector<double> times;
  for (const std::size_t c : turns.order())
    times.push_back(slice(ranks, settings, mode, buffers, static_cast<int>(rounds), number, contestants[c]));
  if (ranks.rank != 0) return;
  std::printf("%-5s %-9s %8zu", mode.c_str(), kNames[kind], bytes);
  csv << mode << ',' << kNames[kind] << ',' << bytes << ',' << ranks.size;
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    const double time = node_bench::median(turns.of(c, times));
    std::printf(" %12.0f", time);
    csv << ',' << time;
    if (c == 0) continue;
    const double ratio = node_bench::median(turns.ratios(c, times));
    std::printf(" %6.2f", ratio);
    csv << ',' << ratio;
  }
  std::printf("\n");
  std::fflush(stdout);
  csv << std::endl;
}

/// Under the component of Open MPI its functions lead to Chasqui whatever their name. A communicator may ask for other components.
void leave_out_the_component() {
  const auto is_component = [](dl_phdr_info* library, std::size_t, void*) {
    return std::string(library->dlpi_name).find("mca_coll_chasqui") != std::string::npos ? 1 : 0;
  };
  if (dl_iterate_phdr(is_component, nullptr) == 0) return;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ompi_comm_coll_preference", "^chasqui");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &native_world);
  MPI_Info_free(&info);
}

void bench(const Settings& settings) {
  const Ranks ranks;
  leave_out_the_component();
  std::vector<Contestant> contestants = {NODE_BENCH_CALLS(MPI_NATIVE, native_world),
                                         NODE_BENCH_CALLS(NODE_BENCH_PLAIN, MPI_COMM_WORLD)};
  std::string heading = "mode,collective,bytes,ranks,native,program,ratio";
#if defined(NODE_BENCH_CHASQUI)
  contestants.push_back(of_interface(settings.method));
  heading += ",interface,interface_ratio";
#endif
  for (int i = 0; i < 40; ++i)
    MPI_Barrier(MPI_COMM_WORLD);  // past the calls before which the drop-in library serves none
  std::ofstream csv;
  if (ranks.rank == 0 && !settings.csv.empty()) csv.open(settings.csv);
  csv << heading << std::endl;
  if (ranks.rank == 0)
    std::printf("%-5s %-9s %8s %12s %12s %6s ranks: %d\n", "mode", "", "bytes", "native ns", "program ns", "ratio",
                ranks.size);
  for (const std::string& mode : words(settings.modes)) {
    for (int k = 0; k < kinds; ++k) {
      if (!settings.wants(kNames[k])) continue;
      for (const std::string& size : words(settings.sizes)) {
        const std::size_t bytes = k == barrier ? 0 : std::strtoull(size.c_str(), nullptr, 10);
        row(ranks, settings, mode, static_cast<Kind>(k), bytes, contestants, csv);
        if (k == barrier) break;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench(Settings(argc, argv));
  MPI_Finalize();
  return 0;
}
