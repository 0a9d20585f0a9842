// SPDX-License-Identifier: MIT
// Schedules of other planners: MSCCL's XML and GOAL become schedules that can be verified, drawn and simulated, and schedules
// become MSCCL's XML. (GOAL is written by simulate/goal.hpp.) Those files say who sends to whom and in which order, but not
// when: every message is sent as early as the LogP machine allows. docs/translate.md says what each format cannot say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::translate {

/// A program of another planner as a schedule.
struct Imported {
  Schedule schedule;  ///< its finish is the true one, its bound 0
  std::string name;   ///< "MSCCL ring of 8": what the file calls itself
  /// What is wrong with the data: a chunk that ends with the wrong contents, a contribution added twice. Empty: all is right.
  std::vector<std::string> faults;
  std::vector<std::string> notes;  ///< what was taken for granted
};

/// What the file does not say.
struct Machine {
  Time L;
  Time o{0};
  Time g{1};
};

/// MSCCL's XML. A step of several chunks is so many messages. `root`: of a broadcast or reduction, which the format does not
/// name. Throws Error with the place for what is no such file, and for a program that waits for itself.
Imported from_msccl(std::string_view text, std::string_view place, const Machine& machine, Rank root = {});

/// The schedule as MSCCL's XML, a chunk for each item. Throws Error where the format cannot say it.
std::string to_msccl(const Schedule& schedule, std::string_view name);

/// GOAL text. It says nothing of the data, so `problem` must be one whose data follow from who sends to whom: broadcast,
/// reduce, all-reduce or barrier of one item, where a message carries all that its sender knows; scatter, gather, all-gather
/// or all-to-all of one item without detours. Messages of all sizes count as one.
Imported from_goal(std::string_view text, std::string_view place, const Machine& machine, const Problem& problem);

}  // namespace chasqui::translate
