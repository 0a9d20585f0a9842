// SPDX-License-Identifier: MIT
// What happened in this process: calls passed on, by reason, and the races of all communicators added up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "preload/names.hpp"
#include "preload/start/settings.hpp"
#include "preload/this_thread.hpp"

namespace chasqui::preload {

struct Race;
struct CommState;

extern std::atomic<std::uint64_t> passed_calls[kCollectives][kReasons];
/// The first of each kind is one line on rank 0.
void log_passed(Collective what, Reason reason);

/// Counts a call that goes to the MPI library; CHASQUI_LOG=1 says so.
inline void note(Collective what, Reason reason) {
  std::atomic<std::uint64_t>& calls = passed_calls[static_cast<int>(what)][static_cast<int>(reason)];
  if (several_threads) calls.fetch_add(1, std::memory_order_relaxed);
  else calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (settings().log) log_passed(what, reason);
}

/// Adds the races of a communicator that ends.
void add_to_report(const CommState& state);

/// A communicator was prepared.
void note_prepared(double nanoseconds, bool spare = false);

/// What it took to try both sides in MPI_Init.
void note_rehearsed(double nanoseconds);

/// CHASQUI_VERIFY: one call compared, and whether it was the same.
void note_verified(Collective what, bool same, double worst);
/// What differed on any rank counts on all. Collective, in MPI_Finalize, before the private communicator is given back.
void add_up_differences();

/// A comparison has ended: under CHASQUI_LOG=1 one line on rank 0.
void note_verdict(Collective what, std::size_t bytes, const Race& race);

/// CHASQUI_REPRODUCIBLE: one line on standard error when something was folded in order.
void say_what_it_cost();

/// The report as text for people, or as JSON.
std::string report_text(int ranks);
std::string report_json(int ranks);

/// Writes CHASQUI_REPORT (JSON when the name ends in .json); rank 0 of MPI_COMM_WORLD only.
void write_report(int ranks);

}  // namespace chasqui::preload
