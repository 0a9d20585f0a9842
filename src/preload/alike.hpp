// SPDX-License-Identifier: MIT
// Calls that go to the MPI library although ranks may have made them with different lengths.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "preload/serve.hpp"

namespace chasqui::preload {

/// Bytes of a call after one that ranks made with different lengths.
inline constexpr std::size_t kAstray = ~std::size_t{0};

/// Where the MPI library does calls that ranks may well make with different lengths: it would wait for ever in most of those, so they ask
/// each other first. Each rank gets the error of a call that they do not make alike, and nobody makes it. able: has this rank what it takes?
/// kDeclined, if one has not: nobody makes it then, either.
int make_alike(Collective what, MPI_Comm comm, std::size_t bytes, FunctionRef<int()> made, bool able = true);
/// By the MPI library.
int pass_on_alike(Collective what, MPI_Comm comm, std::size_t bytes, FunctionRef<int()> native);

}  // namespace chasqui::preload
