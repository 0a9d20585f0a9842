// SPDX-License-Identifier: MIT
#include "preload/handshake.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "preload/settings.hpp"

namespace chasqui::preload {

Handshake shake_hands(std::uint64_t settings_hash, std::int64_t seconds) {
  using Clock = std::chrono::steady_clock;
  const auto hash = static_cast<long long>(settings_hash & 0x7fffffffffffffffu);
  long long mine[2] = {hash, -hash};
  long long most[2] = {0, 0};
  int rank = 0, done = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request = MPI_REQUEST_NULL;
  // Non-blocking ones have tags of their own in both libraries: a rank without us cannot take part by accident.
  PMPI_Iallreduce(mine, most, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD, &request);
  // Ranks give up one after another, so that one speaks.
  const auto limit = Clock::now() + std::chrono::seconds(seconds) + std::chrono::milliseconds(50 * std::min(rank, 100));
  const auto patient = Clock::now() + std::chrono::milliseconds(20);
  for (PMPI_Test(&request, &done, MPI_STATUS_IGNORE); done == 0; PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
    const auto now = Clock::now();
    if (now > patient) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (seconds == 0 || now < limit) continue;
    say(fmt::format(
        "rank {} waited {} s for ranks that have not loaded this library: LD_PRELOAD must reach every rank (mpirun -x or "
        "-genv, for each part of the command) and the file must be on every machine; CHASQUI_JOIN=seconds waits longer",
        rank, seconds));
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  return most[0] == -most[1] ? Handshake::all_alike : Handshake::different;
}

}  // namespace chasqui::preload
