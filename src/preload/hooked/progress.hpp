// SPDX-License-Identifier: MIT
// A way into the progress of MPICH. MPICH over UCX (the device ch4:ucx, as Debian has it) makes progress by UCX's function, which it finds as
// programs find theirs: what is loaded before it may stand between the two. So what was started goes on while a rank is in any function of
// MPI, as in the component of Open MPI. Other devices call nothing that is seen here, and there nothing is started.
#pragma once

namespace chasqui::preload {

/// Does MPICH come by when it makes progress? Asked in MPI_Init. Local.
bool progress_is_seen();

/// From now on chasqui_component_advance() is called in MPICH's progress.
void follow_progress();
void leave_progress();

}  // namespace chasqui::preload
