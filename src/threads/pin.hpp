// SPDX-License-Identifier: MIT
// Binding threads to cores.
#pragma once

namespace chasqui::threads {

/// Binds the calling thread to the index-th of the cores this process may use, if `threads` of them exist.
/// False when it was not possible or would not help.
bool pin_this_thread(int index, int threads);

}  // namespace chasqui::threads
