// SPDX-License-Identifier: MIT
// Chasqui against an MPI library's default and all its algorithms that can be forced, where latency counts.
//   wan_bench [--rounds 15] [--sizes 8,65536] [--kinds broadcast,reduce,allreduce,barrier] [--profile FILE]
//   [--seconds 4]
// Without --profile the network is measured first, for about --seconds.
// All processes on one machine with one clock (network namespaces): a common start, the latest finish, rounds of all rivals
// alternate in random order; a round that somebody began late is dropped. Prints lines
//   ROW,kind,bytes,who,rounds,q1_us,median_us,q3_us,predicted_us
// (rounds 0: all began late, no measurement; who = bound: one message, which no algorithm beats) and DONE at the end.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/tune/algorithms.hpp"
#include "measure/common_start.hpp"
#include "measure/sample_call.hpp"
#include "mpi/forced.hpp"
#include "mpi/profile.hpp"

using chasqui::Kind;
using chasqui::measure::Quartiles;

namespace {

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

/// The profile that rank 0 measured, everywhere.
std::shared_ptr<const chasqui::Profile> measured_by_rank_0(double seconds) {
  std::string text = to_json(measured(seconds));
  unsigned long length = text.size();
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  return std::make_shared<const chasqui::Profile>(chasqui::profile_from_json(text, "the measured profile"));
}

struct Rival {
  std::string name;
  bool is_ours = false;
  chasqui::mpi::Forced native{};    ///< the library's, where it is not ours
  double span = 0;                  ///< the least that a call took while connections grew
  int rounds = 0;                   ///< to come
  std::vector<double> spans, late;  ///< of rounds that all began in time, and of the others

  Quartiles times() const { return Quartiles::of(spans.empty() ? late : spans); }
};

constexpr chasqui::tune::Library kLibrary = std::string_view(CHASQUI_MPI_FLAVOUR) == "openmpi"
                                                ? chasqui::tune::Library::openmpi
                                                : chasqui::tune::Library::mpich;

class Bench {
 public:
  Bench(chasqui::run::Comm& ours, int rounds) : ours_(ours), start_(ours, chasqui::clock_now, false), rounds_(rounds) {
    if (const auto* level = ours.profile().level("network")) {
      bound_ = level->o_s.low + level->L.low + level->o_r.low;
      per_byte_ = level->G.low;
    }
  }

  void compare(Kind kind, std::size_t bytes) {
    sample_.emplace(kind, bytes, ours_.size());
    std::fill(sample_->in().begin(), sample_->in().end(), 1.0 + ours_.rank());
    const auto choice = ours_.choices_for(call()).front();
    std::vector<Rival> rivals(1);
    rivals[0].name = fmt::format("ours {}({})", to_string(choice.method), choice.parts);
    rivals[0].is_ours = true;
    const std::string word(chasqui::tune::word_of(kind));
    const auto size = static_cast<std::int64_t>(bytes);
    std::vector<chasqui::tune::Algorithm> list = chasqui::tune::algorithms(kLibrary, word, ours_.size(), size);
    list.insert(list.begin(), {.library = kLibrary, .collective = word});
    for (const auto& algorithm : list) {
      if (!algorithm.forced_in_place) continue;
      Rival rival;
      rival.name = algorithm.number == 0 ? "default" : to_string(algorithm);
      rival.native = chasqui::mpi::forced(MPI_COMM_WORLD, {word, algorithm.number, static_cast<int>(algorithm.segment),
                                                           static_cast<int>(algorithm.fan), algorithm.inner});
      rivals.push_back(rival);
    }
    std::erase_if(rivals, [&](Rival& rival) { return !warm(rival, rival.is_ours ? kFar : rivals[0].span); });
    alternate(rivals);
    print(rivals, kind, bytes, choice.nanoseconds);
  }

 private:
  const chasqui::run::Call& call() const { return sample_->call(); }

  /// False: the library refuses.
  bool once(const Rival& rival) {
    if (!rival.is_ours) return rival.native.run(call());
    ours_.run(call());
    return true;
  }
  double timed(const Rival& rival, bool& ran) {
    if (!rival.is_ours) rival.native.prepare();
    return start_.once([&] { ran = once(rival); });
  }
  bool right() {
    const double size = ours_.size(), expected = call().kind == Kind::broadcast ? 1.0 : size * (size + 1) / 2;
    if (call().kind == Kind::barrier || (call().kind == Kind::reduce && ours_.rank() != 0)) return true;
    return std::all_of(sample_->out().begin(), sample_->out().end(), [&](double value) { return value == expected; });
  }

  /// Connections and windows grow. False: the library refuses, or the result is wrong.
  bool warm(Rival& rival, double fastest) {
    bool failed = false;
    rival.span = kFar;
    for (int i = 0; i < 3; ++i) {
      const bool gives = call().kind == Kind::broadcast && ours_.rank() == 0;
      std::fill(sample_->out().begin(), sample_->out().end(), gives ? 1.0 : 0.0);
      bool ran = false;
      const double span = timed(rival, ran);
      failed = ours_.allreduce(!ran || !right() ? 1.0 : 0.0, chasqui::run::Maximum{}) != 0 || failed;
      if (i == 0) continue;  // connects
      rival.span = std::min(rival.span, span);
      if (rival.span > kHopeless * fastest) break;
    }
    if (failed && ours_.rank() == 0)
      std::printf("REFUSED %s %s\n", std::string(to_string(call().kind)).c_str(), rival.name.c_str());
    return !failed;
  }

  /// A few rounds of all, then more of those that are near the fastest.
  void alternate(std::vector<Rival>& rivals) {
    constexpr int kFew = 5;
    for (auto& rival : rivals) rival.rounds = rival.span > kHopeless * rivals[0].span ? 1 : kFew;
    play(rivals);
    double fastest = kFar;
    for (const auto& rival : rivals) fastest = std::min(fastest, rival.times().median);
    for (auto& rival : rivals) {
      const bool counts = rival.is_ours || rival.times().median < kNear * fastest;
      rival.rounds = counts ? rounds_ - kFew : rival.name == "default" ? 2 * kFew : 0;
    }
    play(rivals);
  }

  void play(std::vector<Rival>& rivals) {
    std::vector<std::size_t> order(rivals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(kSeed);  // nobody always follows the same one, whose last packets may be under way
    for (int round = 0; round < rounds_; ++round) {
      std::shuffle(order.begin(), order.end(), random);  // the same everywhere
      for (const std::size_t i : order) {
        Rival& rival = rivals[i];
        if (round >= rival.rounds) continue;
        bool ran = false;
        const double span = timed(rival, ran);
        (start_.late() < kLate ? rival.spans : rival.late).push_back(span);
      }
    }
  }

  void print(const std::vector<Rival>& rivals, Kind kind, std::size_t bytes, double predicted) const {
    const auto row = [&](const std::string& who, std::size_t rounds, const Quartiles& times, double announced) {
      if (ours_.rank() != 0) return;
      std::printf("ROW,%s,%zu,%s,%zu,%.1f,%.1f,%.1f,%.1f\n", std::string(to_string(kind)).c_str(), bytes, who.c_str(),
                  rounds, times.low / 1e3, times.median / 1e3, times.high / 1e3, announced / 1e3);
    };
    for (const auto& rival : rivals)
      row(rival.name, rival.spans.size(), rival.times(), rival.is_ours ? predicted : 0.0);
    row("bound", 1, Quartiles::of({bound_ + per_byte_ * static_cast<double>(bytes)}), 0);
    std::fflush(stdout);
  }

  static constexpr unsigned kSeed = 7;
  static constexpr double kFar = 1e18, kLate = 1e6;    ///< nanoseconds
  static constexpr double kHopeless = 4, kNear = 1.5;  ///< times the fastest
  chasqui::run::Comm& ours_;
  chasqui::measure::CommonStart start_;
  int rounds_;
  double bound_ = 0, per_byte_ = 0;  ///< of any algorithm: one message
  std::optional<chasqui::measure::SampleCall> sample_;
};

}  // namespace

int main(int argc, char** argv) {
  chasqui::mpi::allow_forcing();
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
    chasqui::mpi::Options how;
    const std::string& file = options["--profile"];
    how.profile = file.empty() ? measured_by_rank_0(std::stod(options["--seconds"]))
                               : chasqui::mpi::profile_for_all(MPI_COMM_WORLD, file.c_str());
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
