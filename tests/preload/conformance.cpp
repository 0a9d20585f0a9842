// SPDX-License-Identifier: MIT
// Everything, on several communicators: mpirun -n P conformance [--short]. Prints one line with the digest of rank 0.
#include <unistd.h>

#include <cstring>

#include "../patience.hpp"
#include "check.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  int level = 0;
  // ThreadSanitizer does not see how an MPI library, which is not built for it, orders what several threads of a program do.
  const int asked = chasqui::kThreadsWatched ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, asked, &level);
  alarm(150 * chasqui::kPatience);  // a hang is a failure
  const bool brief = argc > 1 && std::strcmp(argv[1], "--short") == 0;
  const Place me(MPI_COMM_WORLD);
  part = "error handlers after MPI_Init";
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(comm, &handler);
    equal("errors are fatal", handler == MPI_ERRORS_ARE_FATAL, 1);
    MPI_Errhandler_free(&handler);
  }
  MPI_Comm reversed, half, twin;
  MPI_Comm_split(MPI_COMM_WORLD, 0, me.size - me.rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, me.rank % 2, me.rank, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  const MPI_Comm all[] = {MPI_COMM_WORLD, twin, reversed, half, MPI_COMM_SELF};
  for (const MPI_Comm comm : all) {
    if (brief && (comm == twin || comm == reversed)) continue;
    moves(comm);
    folds(comm);
    derived(comm);
    company(comm);
  }
  inter_communicators();
  threads();
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&half);
  MPI_Comm_free(&twin);
  if (me.rank == 0)
    std::printf("conformance on %d ranks: right, digest %016llx\n", me.size, static_cast<unsigned long long>(digest));
  MPI_Finalize();
  return 0;
}
