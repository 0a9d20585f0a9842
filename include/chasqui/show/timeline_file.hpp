// SPDX-License-Identifier: MIT
// Timelines as files, so that what a simulation or a real run did can be drawn later: `chasqui draw` reads them.
#pragma once

#include <string>

#include "chasqui/show/timeline.hpp"

namespace chasqui::show {

/// One JSON object, `{"chasqui_timeline":1, …}`: the fields of Timeline; messages and activities as arrays of numbers.
std::string timeline_json(const Timeline& timeline);

/// Is this text a timeline file rather than a schedule file? Looks at the first key only.
bool is_timeline(const std::string& text);

/// The inverse of timeline_json. Throws Error that names `place` and what is wrong: no JSON, another version, ranks or
/// messages that do not exist, times that run backwards.
Timeline timeline_from_json(const std::string& text, const std::string& place);

}  // namespace chasqui::show
