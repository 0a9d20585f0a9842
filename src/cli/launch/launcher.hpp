// SPDX-License-Identifier: MIT
// The MPI launcher that started this process, as far as it runs on this host.
#pragma once

namespace chasqui::cli {

/// Does the launcher's error stream end at a terminal? A rank's own is a pipe to the launcher, so isatty() says nothing.
bool launcher_has_terminal();

}  // namespace chasqui::cli
