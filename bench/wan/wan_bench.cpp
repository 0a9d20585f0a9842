// SPDX-License-Identifier: MIT
// Chasqui against an MPI library's default and all its algorithms that can be forced, where latency counts.
//   wan_bench [--rounds 15] [--sizes 8,65536] [--kinds broadcast,reduce,allreduce,barrier] [--profile FILE]
//   [--seconds 4]
// Without --profile the network is measured first, for about --seconds.
// All processes on one machine with one clock (network namespaces): everybody starts at an agreed time, the latest finish
// counts, rounds of all rivals alternate in random order; a round that somebody began late is dropped. Prints lines
//   ROW,kind,bytes,who,rounds,q1_us,median_us,q3_us,predicted_us
// (rounds 0: all began late, no measurement; who = bound: one message, which no algorithm beats) and DONE at the end.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#include "forced.hpp"
#include "measure/clocks.hpp"

using chasqui::Kind;

namespace {

double now() { return chasqui::clock_now(); }

void sleep_until(double when) {
  timespec t{};
  t.tv_sec = static_cast<time_t>(when / 1e9);
  t.tv_nsec = static_cast<long>(when - static_cast<double>(t.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) list.push_back(word);
  return list;
}

/// What `chasqui measure --mpi` measures, without its tables of collectives: those would take minutes here.
chasqui::Profile measured(double seconds) {
  chasqui::mpi::Options plain;
  plain.profile = std::make_shared<const chasqui::Profile>(chasqui::default_profile());
  return chasqui::measure::measure(
             [&](const std::function<void(chasqui::run::Comm&)>& body) {
               const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, plain);
               body(*comm);
             },
             {.seconds = seconds, .tables = false, .progress = {}})
      .profile;
}

/// The profile that rank 0 measured or read, everywhere.
std::shared_ptr<const chasqui::Profile> shared_profile(const std::string& file, double seconds) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text;
  if (!file.empty()) {
    if (rank == 0) text = to_json(chasqui::read_profile(file));
  } else {
    const chasqui::Profile profile = measured(seconds);
    if (rank == 0) text = to_json(profile);
  }
  unsigned long length = text.size();
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  return std::make_shared<const chasqui::Profile>(chasqui::profile_from_json(text, "the measured profile"));
}

struct Rival {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;  ///< null: ours
  forced::Algorithm algorithm;
  double slot = 0;            ///< nanoseconds that a round may take
  double span = 0;            ///< what a call took while connections grew
  int rounds = 0;             ///< to come
  std::vector<double> spans;  ///< of this rank
  std::vector<double> late;
};

/// Of the latest rank, sorted, without the rounds that somebody began late; count() is 0 if that were all of them.
class Spans {
 public:
  Spans(const std::vector<double>& spans, const std::vector<double>& late) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (late[i] < 1e6) spans_.push_back(spans[i]);
    }
    count_ = spans_.size();
    if (spans_.empty()) spans_ = spans;
    std::sort(spans_.begin(), spans_.end());
  }
  std::size_t count() const { return count_; }
  double quantile(double q) const {
    return spans_[static_cast<std::size_t>(q * static_cast<double>(spans_.size() - 1))];
  }

 private:
  std::vector<double> spans_;
  std::size_t count_ = 0;
};

class Bench {
 public:
  Bench(chasqui::run::Comm& ours, int rounds) : ours_(ours), rounds_(rounds) {
    if (const auto* level = ours.profile().level("network")) {
      bound_ = level->o_s.low + level->L.low + level->o_r.low;
      per_byte_ = level->G.low;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  void compare(Kind kind, std::size_t bytes) {
    in_.assign(bytes / sizeof(double), 1.0 + rank_);
    out_.assign(in_.size(), kind == Kind::broadcast && rank_ == 0 ? 1.0 : 0.0);
    call_ = {};
    call_.kind = kind;
    call_.in = in_.data();
    call_.out = out_.data();
    call_.count = static_cast<std::int64_t>(in_.size());
    call_.element = sizeof(double);
    call_.op = chasqui::run::operator_of<double>(sum_, true);
    const auto choice = ours_.choices_for(call_).front();
    std::vector<Rival> rivals(1);
    rivals[0].name = fmt::format("ours {}({})", to_string(choice.method), choice.parts);
    for (const auto& algorithm : forced::algorithms(kind, bytes, size_)) {
      Rival rival;
      rival.name = algorithm.name;
      rival.algorithm = algorithm;
      forced::force(kind, algorithm);
      MPI_Comm_dup(MPI_COMM_WORLD, &rival.comm);
      MPI_Comm_set_errhandler(rival.comm, MPI_ERRORS_RETURN);
      rivals.push_back(rival);
    }
    forced::force(kind, {});
    for (auto& rival : rivals) warm(rival, &rival == &rivals[0] ? kFar : rivals[0].span);
    std::erase_if(rivals, [](Rival& rival) {
      if (rival.slot >= 0) return false;
      return MPI_Comm_free(&rival.comm) == MPI_SUCCESS;
    });
    alternate(rivals);
    print(rivals, kind, bytes, choice.nanoseconds);
    for (auto& rival : rivals) {
      if (rival.comm != MPI_COMM_NULL) MPI_Comm_free(&rival.comm);
    }
  }

 private:
  int once(const Rival& rival) {
    if (rival.comm == MPI_COMM_NULL) {
      ours_.run(call_);
      return MPI_SUCCESS;
    }
    const int count = static_cast<int>(in_.size());
    switch (call_.kind) {
      case Kind::broadcast: return MPI_Bcast(out_.data(), count, MPI_DOUBLE, 0, rival.comm);
      case Kind::reduce: return MPI_Reduce(in_.data(), out_.data(), count, MPI_DOUBLE, MPI_SUM, 0, rival.comm);
      case Kind::allreduce: return MPI_Allreduce(in_.data(), out_.data(), count, MPI_DOUBLE, MPI_SUM, rival.comm);
      default: return MPI_Barrier(rival.comm);
    }
  }
  bool right() const {
    const double all = static_cast<double>(size_) * (size_ + 1) / 2;
    const bool counts = call_.kind == Kind::allreduce || (call_.kind == Kind::reduce && rank_ == 0);
    const double expected = call_.kind == Kind::broadcast ? 1.0 : all;
    return (!counts && call_.kind != Kind::broadcast) ||
           std::all_of(out_.begin(), out_.end(), [&](double value) { return value == expected; });
  }
  /// Connections and windows grow; the span is the least that a call took, the slot the longest with a margin.
  void warm(Rival& rival, double fastest) {
    forced::force(call_.kind, rival.algorithm);
    int failed = 0;
    double longest = 0;
    rival.span = kFar;
    for (int i = 0; i < 3; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (call_.kind != Kind::broadcast || rank_ != 0) std::fill(out_.begin(), out_.end(), 0.0);
      double ends[3] = {-now(), 0, 0};  // the first begin, the last end, failed?
      if (once(rival) != MPI_SUCCESS || !right()) ends[2] = 1;
      ends[1] = now();
      MPI_Allreduce(MPI_IN_PLACE, ends, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (ends[2] != 0) failed = 1;
      if (i == 0) continue;  // connects
      longest = std::max(longest, ends[0] + ends[1]);
      rival.span = std::min(rival.span, ends[0] + ends[1]);
      if (rival.span > kHopeless * fastest) break;
    }
    if (failed != 0 && rank_ == 0) std::printf("REFUSED %s %s\n", forced::word(call_.kind).c_str(), rival.name.c_str());
    rival.slot = failed != 0 ? -1 : 1.5 * longest + 4e6;
  }

  /// A few rounds of all, then more of those that are near the fastest.
  void alternate(std::vector<Rival>& rivals) {
    constexpr int kFew = 5;
    for (auto& rival : rivals) rival.rounds = rival.span > kHopeless * rivals[0].span ? 1 : kFew;
    play(rivals);
    double fastest = kFar;
    std::vector<double> medians;
    for (const auto& rival : rivals) {
      double median = latest(rival).quantile(0.5);
      MPI_Bcast(&median, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      medians.push_back(median);
      fastest = std::min(fastest, median);
    }
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      const bool counts = i == 0 || medians[i] < kNear * fastest;
      rivals[i].rounds = counts ? rounds_ - kFew : rivals[i].name == "default" ? 2 * kFew : 0;
      if (rivals[i].spans.size() >= kFew) rivals[i].slot = 2 * medians[i] + 2e6;
    }
    play(rivals);
  }

  void play(std::vector<Rival>& rivals) {
    double start = now() + 3e8;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    std::vector<std::size_t> order(rivals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(kSeed);  // nobody always follows the same one, whose last packets may be under way
    for (int round = 0; round < rounds_; ++round) {
      std::shuffle(order.begin(), order.end(), random);  // the same everywhere
      for (const std::size_t i : order) {
        auto& rival = rivals[i];
        if (round >= rival.rounds) continue;
        forced::force(call_.kind, rival.algorithm);
        sleep_until(start);
        rival.late.push_back(now() - start);
        once(rival);
        rival.spans.push_back(now() - start);
        start += rival.slot;
      }
    }
    forced::force(call_.kind, {});
  }

  /// Collective; the result counts on rank 0.
  static Spans latest(const Rival& rival) {
    std::vector<double> spans(rival.spans.size()), late(spans.size());
    const int count = static_cast<int>(spans.size());
    MPI_Reduce(rival.spans.data(), spans.data(), count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(rival.late.data(), late.data(), count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return Spans(spans, late);
  }

  void print(const std::vector<Rival>& rivals, Kind kind, std::size_t bytes, double predicted) const {
    const auto row = [&](const std::string& who, const Spans& spans, double announced) {
      if (rank_ != 0) return;
      std::printf("ROW,%s,%zu,%s,%zu,%.1f,%.1f,%.1f,%.1f\n", std::string(to_string(kind)).c_str(), bytes, who.c_str(),
                  spans.count(), spans.quantile(0.25) / 1e3, spans.quantile(0.5) / 1e3, spans.quantile(0.75) / 1e3,
                  announced / 1e3);
    };
    for (const auto& rival : rivals) row(rival.name, latest(rival), rival.comm == MPI_COMM_NULL ? predicted : 0.0);
    row("bound", Spans({bound_ + per_byte_ * static_cast<double>(bytes)}, {0}), 0);
    std::fflush(stdout);
  }

  static constexpr unsigned kSeed = 7;
  static constexpr double kFar = 1e18;
  static constexpr double kHopeless = 4, kNear = 1.5;  ///< times the fastest
  chasqui::run::Comm& ours_;
  int rounds_;
  int rank_ = 0, size_ = 1;
  double bound_ = 0, per_byte_ = 0;  ///< of any algorithm: one message
  chasqui::run::Sum sum_;
  chasqui::run::Call call_;
  std::vector<double> in_, out_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::map<std::string, std::string> options = {{"--rounds", "15"},
                                                {"--sizes", "8,65536"},
                                                {"--profile", ""},
                                                {"--seconds", "4"},
                                                {"--kinds", "broadcast,reduce,allreduce,barrier"}};
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const forced::Variables variables;
    chasqui::mpi::Options how;
    how.profile = shared_profile(options["--profile"], std::stod(options["--seconds"]));
    how.native = false;
    if (const auto* level = how.profile->level("network"); rank == 0 && level != nullptr) {
      std::printf("PROFILE L %.1f o_s %.1f o_r %.1f g %.1f bsp.g %.1f us, G %.3f bsp.G %.3f ns/B, switches",
                  level->L.value / 1e3, level->o_s.value / 1e3, level->o_r.value / 1e3, level->g.value / 1e3,
                  how.profile->bsp_g.value / 1e3, level->G.value, how.profile->bsp_G.value);
      for (const auto size : level->switches) std::printf(" %ld", static_cast<long>(size));
      std::printf("\n");
      std::fflush(stdout);
    }
    const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, how);
    Bench bench(*comm, std::stoi(options["--rounds"]));
    for (const auto& name : words(options["--kinds"])) {
      const Kind kind = chasqui::kind_from(name).value_or(Kind::barrier);
      for (const auto& size : words(kind == Kind::barrier ? "0" : options["--sizes"])) {
        bench.compare(kind, std::stoul(size));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("DONE\n");
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wan_bench: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
