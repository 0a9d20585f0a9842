// SPDX-License-Identifier: MIT
// The session of the component: begun and ended by hooks of Open MPI, which has exchanged the hashes of all settings before.
#include "preload/session.hpp"

#include <mpi.h>

#include <string>

#include "preload/component/component.h"
#include "preload/component/ongoing.hpp"
#include "preload/start/handshake.hpp"
#include "preload/start/settings.hpp"
#include "preload/state.hpp"

namespace chasqui::preload {

/// No rank waits for another: what each has read is known, or that it has not loaded the component.
Handshake shake_hands(std::uint64_t settings_hash, std::int64_t) {
  int ranks = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int r = 0; r < ranks; ++r) {
    std::uint64_t theirs = 0;
    if (chasqui_component_hash_of(r, &theirs) == 0 || theirs != settings_hash) return Handshake::different;
  }
  agree_on_leaving();
  return Handshake::all_alike;
}

void arrange_end() {}  // a hook of Open MPI's calls it

}  // namespace chasqui::preload

void chasqui_component_begin(int many_threads) {
  if (many_threads != 0) chasqui::preload::leave_all(chasqui::preload::Reason::threads);
  chasqui::preload::while_waiting = chasqui::preload::begin_meanwhile;
  chasqui::preload::begin();
}
void chasqui_component_end() {
  chasqui::preload::abandon();
  chasqui::preload::end();
}
std::uint64_t chasqui_component_hash() {
  std::string warnings;
  return chasqui::preload::settings_of_environment(warnings).hash();
}
