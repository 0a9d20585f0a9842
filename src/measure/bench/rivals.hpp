// SPDX-License-Identifier: MIT
// Who Chasqui is timed against: a library without plans, and OpenMP. The MPI library's own collectives are mpi's.
#pragma once

#include <optional>
#include <string>

#include "chasqui/measure/bench.hpp"

namespace chasqui::measure {

/// What a library without plans does, over the communicator's messages: broadcast, reduce, gather and scatter along a binomial
/// tree of ceil(log2 P) levels; all-reduce, all-gather and barrier up it and down again; scan by recursive doubling.
/// False for other kinds, for layouts with holes, and where there are no messages.
bool binomial(run::Comm& comm, const run::Call& call);

/// Was this program built with OpenMP?
bool has_openmp();

/// A barrier, or an all-reduce of `bytes` bytes of doubles, of n OpenMP threads bound to cores of their own where there
/// are enough; timed as our own collectives are, from a common start to the latest finish. Nothing without OpenMP and
/// for what it does not do.
std::optional<Quartiles> time_openmp(const std::string& name, std::size_t bytes, int n, double seconds);

}  // namespace chasqui::measure
