// SPDX-License-Identifier: MIT
// OpenMP's barrier and reduction, timed as our own collectives are: common start, latest finish.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "chasqui/measure/bench.hpp"

namespace chasqui::cli {

/// Was this program built with OpenMP?
bool has_openmp();

/// A barrier, or an all-reduce of `bytes` bytes of doubles, of n OpenMP threads bound to cores of their own where there
/// are enough; nothing without OpenMP and for what it does not do.
std::optional<run::Quartiles> time_openmp(const std::string& name, std::size_t bytes, int n, double seconds);

}  // namespace chasqui::cli
