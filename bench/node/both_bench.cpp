// SPDX-License-Identifier: MIT
// Processes against threads on one node, in one run: for every row the ranks of mpirun run the collective, then as many
// threads of a team inside rank 0, on the same cores, while the other processes sleep, by turns. Median and quartiles
// of the latest finish, ratios of neighbouring slices.
//   mpirun --bind-to core -np 16 both_bench [--quick] [--kinds broadcast,allreduce,…] [--sizes 8,64,…] [--csv file]
#include <mpi.h>
#include <pthread.h>
#include <sched.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "chasqui/mpi/comm.hpp"
#include "chasqui/threads/team.hpp"
#include "rows.hpp"

namespace {

using namespace node_bench;

/// All processes meet here and sleep in the kernel until the last has come: whoever waits takes no time of a core.
class KernelBarrier {
 public:
  KernelBarrier() {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void* mine = nullptr;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(pthread_barrier_t) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                            &window_);
    MPI_Aint length = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &length, &unit, &barrier_);
    if (rank == 0) {
      pthread_barrierattr_t shared;
      pthread_barrierattr_init(&shared);
      pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
      pthread_barrier_init(barrier_, &shared, static_cast<unsigned>(size));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~KernelBarrier() { MPI_Win_free(&window_); }
  KernelBarrier(const KernelBarrier&) = delete;
  KernelBarrier& operator=(const KernelBarrier&) = delete;
  void wait() { pthread_barrier_wait(barrier_); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  pthread_barrier_t* barrier_ = nullptr;
};

/// A team on the cores of all processes, made by rank 0, which itself stays on its own; nothing elsewhere.
std::unique_ptr<chasqui::threads::Team> make_team(int rank, int size) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(size));
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank != 0) return nullptr;
  cpu_set_t together = mine;
  for (const cpu_set_t& set : all) CPU_OR(&together, &together, &set);
  sched_setaffinity(0, sizeof together, &together);
  // The others sleep while the team runs: it need not leave them a share of the cores.
  for (const char* neighbours : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"})
    unsetenv(neighbours);
  auto team = std::make_unique<chasqui::threads::Team>(size);
  sched_setaffinity(0, sizeof mine, &mine);
  return team;
}

void bench(const Settings& settings) {
  chasqui::mpi::Options options;
  options.native = false;
  const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, options);
  const bool first = comm->rank() == 0;
  const auto team = make_team(comm->rank(), comm->size());
  KernelBarrier asleep;
  if (first) std::printf("threads %d, pinned %d\n", team->size(), team->pinned());
  std::optional<Table> table;
  if (first) table.emplace(settings, "processes", "threads");
  for_each_row(comm->size(), settings, [&](const Row& row) {
    const int rounds = rounds_per_slice(row.rounds);
    std::vector<std::unique_ptr<const Row>> rows(static_cast<std::size_t>(comm->size()));  // a thread's, made by itself
    const auto threads = [&] {
      std::vector<double> times;
      asleep.wait();
      if (first) {
        team->run([&](chasqui::run::Comm& inside) {
          auto& own = rows[static_cast<std::size_t>(inside.rank())];
          if (own == nullptr) own = std::make_unique<const Row>(inside.size(), settings, row.kind, row.bytes);
          CommonStart start(inside);
          const auto found = timed_rounds(start, rounds, [&] { inside.run(own->call()); });
          if (inside.rank() == 0) times = found;
        });
      }
      asleep.wait();
      return times;
    };
    const auto processes = [&] {
      CommonStart start(*comm);
      const auto found = timed_rounds(start, rounds, [&] { comm->run(row.call()); });
      return first ? found : std::vector<double>();
    };
    const Turns found = take_turns(processes, threads);
    if (first) table->add(row, comm->size(), found);
  });
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench(Settings(argc, argv));
  MPI_Finalize();
  return 0;
}
