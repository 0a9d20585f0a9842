// SPDX-License-Identifier: MIT
// The --json twin of `chasqui stream`: the runs of a stream, a description whose size does not depend on P.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chasqui/plan/stream.hpp"

namespace chasqui::cli {

/// {"P", "L", "root", "delay", "bound", "optimal", "bound_source", "construction", "height", "tree_latency",
/// "runs", "receive_only"}; messages, if given, replace the last four.
std::string stream_json(const plan::Stream& stream, const std::optional<std::vector<plan::StreamMessage>>& messages);

}  // namespace chasqui::cli
