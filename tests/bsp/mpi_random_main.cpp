// SPDX-License-Identifier: MIT
// Random programs on MPI ranks: every rank sees what a few loops say it must, and the ledger counts what that of one carrier does. What goes
// wrong on one rank ends the program on all, and leaves nothing to the program after it.
//   mpirun -np P test_bsp_random_… FIRST_SEED SEEDS [NODE_SIZE]
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../patience.hpp"
#include "chasqui/bsp/mpi.hpp"
#include "random_program.hpp"

namespace {

using namespace chasqui::bsp;
using namespace chasqui::bsp::random_program;

/// What is tried now: said where it does not end.
char doing[200] = "";
extern "C" void say_and_end(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  _exit(1);
}

bool anywhere(bool here) {
  int mine = here ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all != 0;
}

/// Empty: it is as it must be.
std::string wrong_in(const RandomProgram& program, const Options& options) {
  RandomProgram copy = program;
  const Seen right = settle(copy);
  const auto me = static_cast<std::size_t>(mpi_rank());
  std::vector<std::int64_t> seen;
  try {
    const Ledger ledger = run_mpi([&](World& w) { execute(w, copy, seen); }, options);
    if (seen != right[me]) return fmt::format("rank {} sees something else", me);
    if (me != 0) return "";
    Seen again(right.size());
    const Ledger plain =
        run(copy.processors, [&](World& w) { execute(w, copy, again[static_cast<std::size_t>(w.rank())]); },
            {.deterministic = true});
    if (counted(ledger) != counted(plain)) return "the ledger counts otherwise than that of one carrier";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// One rank does something wrong. Empty: all ranks learned of it, or none.
std::string wrong_after(const RandomProgram& program, const Sabotage& sabotage, const Options& options) {
  std::vector<std::int64_t> seen;
  std::string heard;
  try {
    run_mpi([&](World& w) { execute(w, program, seen, sabotage); }, options);
  } catch (const std::exception& error) {
    heard = error.what();
  }
  const bool some = anywhere(!heard.empty()), not_all = anywhere(heard.empty());
  if (some && not_all) return "only some ranks were told" + (heard.empty() ? "" : ": " + heard);
  if (sabotage.what == Sabotage::What::throws && not_all) return "an exception was lost";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  const int rank = mpi_rank(), size = mpi_size();
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20;
  const Options options{.pretend_node_size = argc > 3 ? std::atoi(argv[3]) : 0};
  std::signal(SIGALRM, say_and_end);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    RandomProgram program = make(seed, size);
    settle(program);
    const auto begin = [&](const char* what) {
      std::snprintf(doing, sizeof doing, "HANGS: seed %llu, rank %d of %d, %s\n", static_cast<unsigned long long>(seed),
                    rank, size, what);
      alarm(60 * chasqui::kPatience);
    };
    begin("nothing wrong");
    const auto wrong = [&](const RandomProgram& one) { return anywhere(!wrong_in(one, options).empty()); };
    if (wrong(program)) {
      const RandomProgram small = shrink(program, wrong);
      const std::string why = wrong_in(small, options);
      if (rank == 0)
        std::fprintf(stderr, "FAILED: seed %llu, %d ranks; smaller:\n%s", static_cast<unsigned long long>(seed), size,
                     to_string(small.steps).c_str());
      if (!why.empty()) std::fprintf(stderr, "rank %d: %s\n", rank, why.c_str());
      return 1;
    }
    for (const auto what : {Sabotage::What::throws, Sabotage::What::skips, Sabotage::What::leaves}) {
      const Sabotage sabotage{what, static_cast<int>(seed % static_cast<std::uint64_t>(size)),
                              static_cast<int>(seed * 7 % program.steps.size())};
      begin(fmt::format("sabotage {} in step {} of rank {}", static_cast<int>(what), sabotage.step, sabotage.rank)
                .c_str());
      std::string why = wrong_after(program, sabotage, options);
      if (why.empty()) why = wrong_in(program, options);
      if (!anywhere(!why.empty())) continue;
      if (!why.empty()) std::fprintf(stderr, "FAILED: %srank %d: %s\n", doing, rank, why.c_str());
      if (rank == 0) std::fprintf(stderr, "%s", to_string(program.steps).c_str());
      return 1;
    }
  }
  if (rank == 0) std::printf("%llu random programs, %d ranks\n", static_cast<unsigned long long>(count), size);
  return 0;
}
