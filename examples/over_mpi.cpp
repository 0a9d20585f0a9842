// SPDX-License-Identifier: MIT
// Collectives over MPI: mpirun -np 4 over_mpi. An operator of one's own on a type of one's own, begun and waited for later, and
// data that only its owner can pack.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"

struct Box {
  double low, high;
};
struct Particle {
  double place, speed;
  void* neighbours;  // means nothing on another rank
};

int main(int count, char** words) {
  using namespace chasqui;
  MPI_Init(&count, &words);
  try {  // communicators go before MPI_Finalize
    const auto comm = mpi::make_comm(MPI_COMM_WORLD);
    const std::vector<Box> mine{{1.0 * comm->rank(), 2.0 * comm->rank()}};
    std::vector<Box> all(1);
    run::Request request = comm->iallreduce(mine, all, run::commuting([](const Box& a, const Box& b) {
                                              return Box{std::min(a.low, b.low), std::max(a.high, b.high)};
                                            }));

    std::vector<Particle> particles(1000, {0.5 * comm->rank(), 1, nullptr});
    run::Layout layout;  // place and speed travel, the pointer stays
    layout.pack = [](void*, const void* from, std::size_t first, std::size_t n, void* packed) {
      const auto* p = static_cast<const Particle*>(from) + first;
      for (auto* to = static_cast<double*>(packed); n-- > 0; ++p) *to++ = p->place, *to++ = p->speed;
    };
    layout.unpack = [](void*, void* to, std::size_t first, std::size_t n, const void* packed) {
      auto* p = static_cast<Particle*>(to) + first;
      for (auto* from = static_cast<const double*>(packed); n-- > 0; ++p) p->place = *from++, p->speed = *from++;
    };
    comm->run({.kind = Kind::broadcast,
               .out = particles.data(),
               .count = 1000,
               .element = 2 * sizeof(double),
               .out_layout = layout,
               .root = comm->size() - 1});

    request.wait();
    if (comm->rank() == 0)
      std::printf("box %g .. %g, particles at %g\n", all[0].low, all[0].high, particles[999].place);
  } catch (const Error& error) {  // on every rank
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
