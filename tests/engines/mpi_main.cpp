// SPDX-License-Identifier: MIT
// The suite over MPI: mpirun -np P engine_mpi [--messages | --pieces | --cross-memory | --apart | --two-level n]
//   [--measure | --killed | --marked | --mistakes words | --soak count seed | --requests seed] [--thorough]
#include <fcntl.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "chasqui/base/error.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/compare_profiles.hpp"
#include "run/comm/engine.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

/// The operators of MPI on its own types, through FoldContext, against MPI_Allreduce.
void mpi_operators(run::Comm& comm) {
  for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_BXOR}) {
    mpi::FoldContext context{op, MPI_INT, sizeof(int)};
    for (const int count : {1, 17, 5000}) {
      std::vector<int> in(static_cast<std::size_t>(count)), out(in.size()), expected(in.size());
      for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)] = (comm.rank() + 3) * (i + 7) % 1009;
      run::Call call{.kind = Kind::allreduce,
                     .in = in.data(),
                     .out = out.data(),
                     .count = count,
                     .element = sizeof(int),
                     .op = mpi::operator_of(context)};
      comm.run(call);
      MPI_Allreduce(in.data(), expected.data(), count, MPI_INT, op, MPI_COMM_WORLD);
      if (out != expected) throw std::runtime_error("an MPI operator gives another result");
    }
  }
}

std::string current;  ///< what is being tried, should it hang

/// Ends a process that has not gone on for four minutes, not counting the time in which ranks of this machine wanted a core and had
/// none: where it is busy with other things they may well need longer.
class Watchdog {
 public:
  /// Again from now on. Collective over the world the first time.
  static void wind() {
    if (files_.empty()) find_all();
    since_ = now();
    starved_ = starved();
    alarm(kSeconds);
  }
  static void bark(int) {
    const double free = now() - since_ - (starved() - starved_);
    if (free < kSeconds - 1) {
      alarm(std::max(1u, static_cast<unsigned>(kSeconds - free)));
      return;
    }
    std::fprintf(stderr, "a hang: %s\n", current.c_str());
    std::_Exit(1);
  }

 private:
  static constexpr unsigned kSeconds = 240;
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  static void find_all() {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> processes(static_cast<std::size_t>(size));
    const int own = getpid();
    MPI_Allgather(&own, 1, MPI_INT, processes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (const int process : processes) files_.push_back(fmt::format("/proc/{}/schedstat", process));
  }
  /// Seconds that ranks could have run and had no core, all together. For signal handlers.
  static double starved() {
    double all = 0;
    for (const std::string& name : files_) {
      char text[100] = {};
      const int file = open(name.c_str(), O_RDONLY);
      static_cast<void>(!read(file, text, sizeof text - 1));
      close(file);
      char* end = text;
      std::strtoull(text, &end, 10);  // what it has run
      all += static_cast<double>(std::strtoull(end, nullptr, 10)) * 1e-9;
    }
    return all;
  }
  static inline std::vector<std::string> files_;
  static inline double since_ = 0, starved_ = 0;
};

/// No rank has heard of anything.
bool nowhere(bool failed) {
  int mine = failed ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all == 0;
}

/// Every rank must hear of it.
void expect_everywhere(bool failed, const std::string& what) {
  int mine = failed ? 1 : 0, all = 0, size = 1;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (all != size) throw std::runtime_error(fmt::format("{}: {} of {} ranks heard of it", what, all, size));
}

void failures(mpi::Options options, bool all, const std::string& words = {}) {
  int size = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size < 2) return;
  options.patience = run::Patience{0.2, 0};
  int turn = size;
  for (const int culprit : {0, size - 1}) {
    for (const auto& misuse : misuses(culprit)) {
      if (++turn % (size > 2 ? 31 : 3) != 0 && !all) continue;  // some for each number of ranks, a third for two
      if (misuse.name.find(words) == std::string::npos) continue;
      current = fmt::format("{} by {}", misuse.name, culprit);
      if (all) Watchdog::wind();
      const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
      std::string heard;
      try {
        misuse.body(*comm);
        for (int i = 0; i < 3; ++i) comm->barrier();
      } catch (const std::exception& error) {
        heard = error.what();
      }
      if (misuse.may_pass(*comm) && nowhere(!heard.empty())) {
        comm->leave("unnoticed");  // messages that nobody expected may be under way: its number is not used again
        continue;
      }
      expect_everywhere(misuse.explained_by(heard),
                        fmt::format("{} by {} (here: \"{}\")", misuse.name, culprit, heard));
    }
  }
  // An exception that has nothing to do with the communicator takes it along.
  bool failed = false;
  try {
    const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
    comm->barrier();
    if (rank == 1) throw std::runtime_error("rank one is tired");
    for (;;) comm->barrier();
  } catch (const std::exception&) {
    failed = true;
  }
  expect_everywhere(failed, "a rank that throws");
}

/// Waits that are longer than anybody's patience, on one communicator after another: the numbers of those that are gone come back.
void patience(mpi::Options options) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2 || size > 5) return;
  options.patience = run::Patience{0.1, 0};
  for (int i = 0; i < 2; ++i) late(*mpi::make_comm(MPI_COMM_WORLD, options), 0.3);
  const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
  const std::string heard = beside(*comm);
  expect_everywhere(heard.find("same calls") != std::string::npos,
                    "a part of a communicator (here: \"" + heard + "\")");
  comm->barrier();
}

/// Rank 1 is killed in the middle of everything: the launcher ends the others, who may not wait for ever.
void killed(run::Comm& comm) {
  for (int i = 0; i < 100; ++i) comm.barrier();
  if (comm.rank() == 1) raise(SIGKILL);
  for (;;) comm.allreduce(1);
}

/// What a node carries with 1, 2, 4 … all of its ranks, the most that it does, and both sides of its board, each with its interval.
void nodes_were_measured(const Profile& profile, int node_size) {
  const Level &network = *profile.level("network"), &node = *profile.level("node");
  int lanes = 1;
  for (const LaneGap& gap : network.lane_gaps) {
    if (gap.lanes != std::min(lanes, node_size)) throw std::runtime_error("not 1, 2, 4 … all ranks of a node");
    lanes *= 2;
    if (gap.g.value < network.node_g.value || gap.G.value < network.node_G.value)
      throw std::runtime_error("a node carries more than the most that it carries");
  }
  if (network.lane_gaps.empty() || network.lane_gaps.back().lanes != node_size)
    throw std::runtime_error("bursts of a node are missing");
  for (const Estimate& e : {network.G, network.node_g, network.node_G, node.publish, node.write, node.read}) {
    if (!(0 <= e.low && e.low <= e.value && e.value <= e.high))
      throw std::runtime_error("a parameter of nodes has no interval");
  }
  // A gap may be too small to resolve in a tenth of a second; a call is not.
  for (const Estimate& e : {node.publish, node.write, node.read}) {
    if (e.value <= 0) throw std::runtime_error("a board takes no time");
  }
}

/// Measuring ends and gives a profile that its reader takes; how good the numbers are is no matter here.
void measuring(const mpi::Options& options) {
  int size = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const measure::Measurement measured = measure::measure(
      [&](const std::function<void(run::Comm&)>& body) {
        const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
        body(*comm);
      },
      {.seconds = 0.1, .progress = {}});
  if (rank != 0) return;
  const Profile& profile = measured.profile;
  if (profile_from_json(to_json(profile), "measured") != profile)
    throw std::runtime_error("the profile does not come back");
  const std::int64_t node = options.pretend_node_size > 0 ? options.pretend_node_size : options.slots ? size : 0;
  if (profile.level("network")->ranks != size) throw std::runtime_error("the network has other ranks");
  if (profile.level("node")->ranks != node) throw std::runtime_error("the node has other ranks");
  if (measured.rounds < 1 || measured.rounds > measure::kRounds) throw std::runtime_error("a strange number of rounds");
  if (measured.timed > measured.collectives || profile.measured.size() > plan::called_kinds().size())
    throw std::runtime_error("too many collectives");
  if (measured.timed == measured.collectives && profile.measured.size() != plan::called_kinds().size())
    throw std::runtime_error("a collective is missing");
  for (const auto& [kind, times] : profile.measured) {
    if (profile.native.at(kind).size() != times.size()) throw std::runtime_error(kind + " was not timed in turn");
  }
  if (!measure::all_agree(measure::compare(profile, profile)))
    throw std::runtime_error("it does not agree with itself");
  if (options.pretend_node_size > 0) nodes_were_measured(profile, options.pretend_node_size);
}

/// Where messages above 1 KiB ask first and a round trip is long: all messages are cut into pieces.
std::shared_ptr<const Profile> slow_network() {
  Profile profile = default_profile();
  for (auto& level : profile.levels) {
    level.L = Estimate::exactly(5e6);
    level.switches = {1024};
  }
  return std::make_shared<const Profile>(profile);
}

/// Where the memory of the other processes is always faster.
std::shared_ptr<const Profile> fast_cross_memory() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Profile profile = default_profile();
  for (auto& level : profile.levels) level.ranks = size;
  for (const char* kind : {"reduce", "allreduce", "allgather", "gather", "scatter", "alltoall", "reduce-scatter"})
    profile.cross_memory[kind] = {{1, 1.0}};
  return std::make_shared<const Profile>(profile);
}

/// Where what is near costs next to nothing, and reading much: collectives go by levels.
std::shared_ptr<const Profile> near_is_cheap() {
  Profile profile = default_profile();
  profile.levels[0].publish_per_rank = Estimate::exactly(1000);
  profile.levels[0].near.fill(Estimate::exactly(0.01));
  return std::make_shared<const Profile>(profile);
}

/// All ranks have found the same levels, on which short collectives go.
void go_by_levels(run::Comm& comm) {
  current = "levels";
  const auto& near = comm.topology().near;
  if (near == nullptr) throw std::runtime_error("there are no levels");
  std::vector<int> mine(static_cast<std::size_t>(kSharedKinds * static_cast<std::size_t>(comm.size())) + 10, -1);
  std::size_t at = 0;
  for (const NearLevel& level : near->levels()) {
    for (const int group : level.group_of) mine[at++] = group;
  }
  const run::BoardGroups& groups = run::Engine::of(comm).selection().board_methods().groups();
  at = mine.size() - 10;
  mine[at++] = static_cast<int>(groups.relay);
  for (const run::Climb& climb : groups.climbs) {
    for (const unsigned part : {climb.up, climb.down, static_cast<unsigned>(climb.chunk)})
      mine[at++] = static_cast<int>(part);
  }
  std::vector<int> all(mine.size() * static_cast<std::size_t>(comm.size()));
  comm.allgather(std::span<const int>(mine), std::span<int>(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != mine[i % mine.size()]) throw std::runtime_error("ranks have found other levels");
  }
  run::Engine::of(comm).forget_methods();
  for (int root = 0; root < comm.size(); ++root) {
    int value = comm.rank() == root ? root + 1 : 0;
    comm.broadcast(value, root);
    if (value != root + 1 || comm.allreduce(comm.rank()) != comm.size() * (comm.size() - 1) / 2)
      throw std::runtime_error("wrong data");
  }
  constexpr auto bit = [](run::Method method) { return 1u << static_cast<unsigned>(method); };
  if (run::Engine::of(comm).methods_run() != (bit(run::Method::relay) | bit(run::Method::level_fold)))
    throw std::runtime_error("collectives do not go by levels");
}

/// In flight at once on two dozen communicators.
void many_requests(run::Comm& comm, std::uint64_t seed) {
  current = "many requests";
  std::vector<std::unique_ptr<run::Comm>> comms;
  for (int i = 0; i < 24; ++i)
    comms.push_back(comm.split(i % 3 == 0 ? comm.rank() % 2 : 0, i % 2 == 0 ? 0 : -comm.rank()));
  stress(comms, 2000, comm.rank(), seed);
}

int programme(int argc, char** argv) {
  mpi::Options options;
  bool thorough = false;
  bool measures = false;
  bool kills = false;
  bool marked = false;
  std::optional<std::string> mistakes;  ///< those whose names hold this
  std::int64_t count = 0;
  std::uint64_t seed = 1;
  bool requests = false;
  bool levels = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--messages") == 0) options.slots = false;
    if (std::strcmp(argv[i], "--pieces") == 0) {
      options.slots = false;
      options.profile = slow_network();
    }
    if (std::strcmp(argv[i], "--cross-memory") == 0) options.profile = fast_cross_memory();
    if (std::strcmp(argv[i], "--apart") == 0) options.cross_memory = false;
    if (std::strcmp(argv[i], "--thorough") == 0) thorough = true;
    if (std::strcmp(argv[i], "--measure") == 0) measures = true;
    if (std::strcmp(argv[i], "--killed") == 0) kills = true;
    if (std::strcmp(argv[i], "--marked") == 0) marked = true;
    if (std::strcmp(argv[i], "--mistakes") == 0) mistakes = argv[++i];
    if (std::strcmp(argv[i], "--levels") == 0) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      setenv("CHASQUI_LEVELS", rank == 3 ? "0" : argv[i + 1], 1);  // one that lies nowhere
      ++i;
      levels = true;
      options.profile = near_is_cheap();
    }
    if (std::strcmp(argv[i], "--two-level") == 0) options.pretend_node_size = std::atoi(argv[++i]);
    if (std::strcmp(argv[i], "--requests") == 0) {
      requests = true;
      seed = std::strtoull(argv[++i], nullptr, 10);
    }
    if (std::strcmp(argv[i], "--soak") == 0) {
      count = std::atoll(argv[++i]);
      seed = std::strtoull(argv[++i], nullptr, 10);
    }
  }
  const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
  if (levels) go_by_levels(*comm);
  if (kills) {
    killed(*comm);
  } else if (marked) {
    run_marked(*comm);
  } else if (mistakes) {
    patience(options);
    failures(options, true, *mistakes);
  } else if (measures) {
    measuring(options);
  } else if (requests) {
    many_requests(*comm, seed);
  } else if (count > 0) {
    constexpr std::int64_t kSlice = 2000;
    for (std::int64_t done = 0; done < count; done += kSlice) {
      Watchdog::wind();
      soak(*comm, std::min(kSlice, count - done), seed + static_cast<std::uint64_t>(done));
      if (comm->rank() == 0 && (done / kSlice) % 50 == 0)
        std::fprintf(stderr, "%lld collectives\n", static_cast<long long>(done));
    }
  } else {
    run_everything(*comm, thorough);
    many_requests(*comm, 15);
    mpi_operators(*comm);
    patience(options);
    failures(options, thorough);
  }
  if (comm->rank() == 0)
    std::printf("%s: %d ranks on %d nodes%s%s: right\n", CHASQUI_MPI_FLAVOUR, comm->size(), comm->topology().nodes,
                comm->topology().cross_memory ? " that use each other's memory" : "",
                comm->topology().lends_pages ? " and lend each other pages" : "");
  return 0;
}

}  // namespace
}  // namespace chasqui::engines

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // else MPICH ends the job at a message of the wrong size
  signal(SIGALRM, chasqui::engines::Watchdog::bark);
  chasqui::engines::Watchdog::wind();  // a hang is a failure
  int code = 1;
  try {
    code = chasqui::engines::programme(argc, argv);
  } catch (const std::exception& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
