// SPDX-License-Identifier: MIT
// A team of threads measured and timed against its rivals: what `measure`, `bench` and `report` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chasqui/measure/bench.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/model/profile.hpp"

namespace chasqui::cli {

/// The profile of n threads and what was cut short, with a progress bar.
run::Measurement measure_threads(int n, double seconds);

/// Who the threads are timed against, in the order of the columns.
std::vector<std::string> thread_rivals();

/// n threads against the binomial tree, std::barrier and, where there is one, OpenMP; without a profile the built-in
/// guesses choose.
std::vector<run::BenchRow> bench_threads(int n, std::shared_ptr<const Profile> profile,
                                         const run::BenchOptions& options);

}  // namespace chasqui::cli
