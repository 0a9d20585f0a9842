// SPDX-License-Identifier: MIT
#include "preload/session.hpp"

#include <mpi.h>

#include <exception>

#include "preload/component/ongoing.hpp"
#include "preload/hooked/progress.hpp"
#include "preload/hooked/requests.hpp"
#include "preload/native.hpp"
#include "preload/private_comm.hpp"
#include "preload/report.hpp"
#include "preload/serve.hpp"
#include "preload/start/settings.hpp"
#include "preload/state.hpp"
#include "preload/types.hpp"
#include "preload/verdict/rehearsal.hpp"

namespace chasqui::preload {
void begin() {
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  several_threads = level == MPI_THREAD_MULTIPLE;
  const Inside inside;
  try {
    const bool agreed = read_settings();
    open_states();
    open_types();
    if (agreed) open_private(arrange_end);
#if defined(CHASQUI_GOES_ON) && !defined(CHASQUI_COMPONENT)
    if (agreed) {
      if (!progress_is_seen()) leave_all(Reason::nonblocking);
      else if (several_threads) leave_all(Reason::threads);
      open_requests();
      agree_on_leaving();
    }
#endif
    if (agreed) rehearse_world();
    active = agreed;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (agreed && rank == 0 && settings().log) say("collectives are served for " CHASQUI_MPI_FLAVOUR);
  } catch (const std::exception& error) {
    say(error.what());
  }
}

void end() {
  if (!active.exchange(false)) return;
  const Inside inside;
  try {
#if defined(CHASQUI_GOES_ON) && !defined(CHASQUI_COMPONENT)
    abandon();
    close_requests();
#endif
    meet_at_the_end();
    close_states();
    if (settings().verify) add_up_differences();
    close_private();
    int rank = 0;
    int size = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && settings().reproducible) say_what_it_cost();
    if (rank == 0) write_report(size);
  } catch (const std::exception& error) {
    say(error.what());
  }
}

void end_too_late() {
  if (!active.exchange(false)) return;
  add_all_to_report();
  if (private_rank() == 0) write_report(private_size());
}

void give_back() {
  if (!from_program()) return;
  const Inside inside;
  try {
    free_ended();
  } catch (const std::exception& error) {
    say(error.what());
  }
}

}  // namespace chasqui::preload
