// SPDX-License-Identifier: MIT
// The schedule file: one JSON object, version 2 for clusters and 1 for all else, described in docs/model.md under "The file".
// Reading is strict: unknown, missing or repeated keys, wrong types and numbers out of range are an Error whose
// one line names the place ("plan.json: sends[3].from: …") and the remedy. It does not judge the schedule: verify does.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {

/// The file as text, in canonical order, one message a line. Time: O(n), O(n log n) if not yet in canonical order.
std::string to_json(const Schedule& schedule);

/// The schedule written in `text`; `place` (a file name) opens every complaint. Time: O(size of text).
Schedule schedule_from_json(std::string_view text, std::string_view place);

/// The schedule in a file; "-" is the standard input.
Schedule read_schedule(const std::filesystem::path& path);

/// Writes to a temporary file beside `path` and renames it: readers see the old file or the new one, never half.
/// What exists and is no regular file (a pipe, a device) is written to directly.
void write_schedule(const std::filesystem::path& path, const Schedule& schedule);

}  // namespace chasqui
