// SPDX-License-Identifier: MIT
// Pointers into the memory of a GPU, which no served call may get: Chasqui reads and writes buffers with the CPU, and that would end the program.
#pragma once

namespace chasqui::preload {

/// Some MPI libraries take such pointers, and say so. Whether this is one, and this host has a GPU of the kind it takes.
bool takes_gpu_pointers();

}  // namespace chasqui::preload
