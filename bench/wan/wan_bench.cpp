// SPDX-License-Identifier: MIT
// Chasqui against an MPI library's default and all its algorithms that can be forced, where latency counts.
//   wan_bench [--rounds 15] [--sizes 8,65536] [--kinds broadcast,reduce,allreduce,barrier] [--profile FILE]
//   [--seconds 4] [--forced 1]
// Without --profile the network is measured first, for about --seconds. --forced 0: of the library only its default. Where hosts have several
// ranks, one leader, lanes and the best way that knows of no hosts are timed, whichever is chosen.
// All processes on one machine with one clock (network namespaces): a common start, the latest finish, rounds of all rivals
// alternate in random order (measure/race.hpp); a round that somebody began late is dropped. Prints lines
//   ROW,kind,bytes,who,rounds,q1_us,median_us,q3_us,predicted_us
// (rounds 0: all began late, no measurement; who = bound: one message, which no algorithm beats) and DONE at the end.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/bench.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/tune/algorithms.hpp"
#include "measure/race.hpp"
#include "measure/sample_call.hpp"
#include "mpi/forced.hpp"
#include "mpi/profile.hpp"

using chasqui::Kind;
using namespace chasqui::measure;

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

constexpr chasqui::tune::Library kLibrary = std::string_view(CHASQUI_MPI_FLAVOUR) == "openmpi"
                                                ? chasqui::tune::Library::openmpi
                                                : chasqui::tune::Library::mpich;

/// Ours, the library's default, and its algorithms; the first two always have all rounds.
void compare(chasqui::run::Comm& ours, CommonStart& start, Kind kind, std::size_t bytes, int rounds, bool with_forced) {
  const SampleCall sample(kind, bytes, ours.size());
  const auto choices = ours.choices_for(sample.call());
  const auto& choice = choices.front();
  std::vector<std::string> names = {fmt::format("ours {}({})", to_string(choice.method), choice.parts)};
  std::vector<Contestant> contestants = {{[] {}, [&](const chasqui::run::Call& call) { return ours.run(call), true; }}};
  const std::string word(chasqui::tune::word_of(kind));
  std::vector<chasqui::tune::Algorithm> list;
  if (with_forced) list = chasqui::tune::algorithms(kLibrary, word, ours.size(), static_cast<std::int64_t>(bytes));
  list.insert(list.begin(), {.library = kLibrary, .collective = word});
  for (const auto& algorithm : list) {
    if (!algorithm.forced_in_place) continue;
    const auto forced =
        chasqui::mpi::forced(MPI_COMM_WORLD, {word, algorithm.number, static_cast<int>(algorithm.segment),
                                              static_cast<int>(algorithm.fan), algorithm.inner});
    names.push_back(algorithm.number == 0 ? "default" : to_string(algorithm));
    contestants.push_back({forced.prepare, forced.run});
  }
  std::vector<double> predicted = {choice.nanoseconds};
  predicted.resize(contestants.size());
  const auto in_two_levels = [](const chasqui::run::Choice& one) {
    return one.method == chasqui::run::Method::two_level;
  };
  const auto flat = std::find_if_not(choices.begin(), choices.end(), in_two_levels);
  const bool several = std::any_of(choices.begin(), choices.end(), in_two_levels);
  for (auto at = choices.begin(); at != choices.end(); ++at) {
    const auto& other = *at;
    if (&other == &choice || !several || !(in_two_levels(other) || at == flat)) continue;
    names.push_back(fmt::format("also {}({})", to_string(other.method), other.parts));
    predicted.push_back(other.nanoseconds);
    contestants.push_back({[] {},
                           [&ours, &other](const chasqui::run::Call& call) {
                             ours.force(other);
                             ours.run(call);
                             ours.unforce();
                             return true;
                           }});
  }
  const auto raced =
      race(ours, start, kind, bytes, contestants, {.few = 5, .rounds = rounds, .most = 1, .near = 1.5, .kept = 2});
  if (ours.rank() != 0) return;
  const std::string name(to_string(kind));
  const auto row = [&](const std::string& who, std::size_t count, const Quartiles& times, double expected) {
    std::printf("ROW,%s,%zu,%s,%zu,%.1f,%.1f,%.1f,%.1f\n", name.c_str(), bytes, who.c_str(), count, times.low / 1e3,
                times.median / 1e3, times.high / 1e3, expected / 1e3);
  };
  for (std::size_t i = 0; i < raced.size(); ++i) {
    const Quartiles& times = raced[i].times;
    if (!raced[i].works) std::printf("REFUSED %s %s\n", name.c_str(), names[i].c_str());
    else row(names[i], raced[i].in_time ? times.spans.size() : 0, times, predicted[i]);
  }
  const auto* level = ours.profile().level("network");
  const double message = level == nullptr ? 0 : level->o_s.low + level->L.low + level->o_r.low;
  const double bound = message == 0 ? 0 : message * (1 + static_cast<double>(bytes) / level->B.high);
  row("bound", 1, Quartiles::of({bound}), 0);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  chasqui::mpi::allow_forcing();
  MPI_Init(&argc, &argv);
  std::map<std::string, std::string> options = {{"--rounds", "15"}, {"--sizes", "8,65536"},
                                                {"--profile", ""},  {"--seconds", "4"},
                                                {"--forced", "1"},  {"--kinds", "broadcast,reduce,allreduce,barrier"}};
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
      for (const auto& gap : level->lane_gaps)
        std::printf(", %d lanes %.1f us %.3f ns/B", static_cast<int>(gap.lanes), gap.g.value / 1e3, gap.G.value);
      std::printf("\n");
      std::fflush(stdout);
    }
    const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, how);
    if (const auto& where = comm->topology(); rank == 0)
      std::printf("NODES %d of %d to %d ranks, board %d, publish %.1f us and %.2f a rank\n", where.nodes,
                  where.smallest_node, where.largest_node, where.board ? 1 : 0,
                  how.profile->level("node")->publish.value / 1e3,
                  how.profile->level("node")->publish_per_rank.value / 1e3);
    CommonStart start(*comm, chasqui::clock_now, false);
    for (const auto& name : words(options["--kinds"])) {
      const Kind kind = chasqui::kind_from(name).value_or(Kind::barrier);
      for (const auto& size : words(kind == Kind::barrier ? "0" : options["--sizes"])) {
        compare(*comm, start, kind, std::stoul(size), std::stoi(options["--rounds"]), options["--forced"] != "0");
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
