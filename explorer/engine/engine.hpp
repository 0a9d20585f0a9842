// SPDX-License-Identifier: MIT
// The explorer's one door: a question as JSON, the answer as JSON. The page asks through WebAssembly, the tests natively.
#pragma once

#include <string>

namespace chasqui::explorer {

/// {"do":"about"}: version, collectives with the options they take, named constructions.
/// {"do":"plan", "collective":…, "P":…, "L":…, …}: plans, verifies, plays and draws.
/// {"do":"load", "name":…, "text":…}: the same for a schedule file.
/// Bad questions are answered {"error":"one line that names the place and the remedy"}; nothing is thrown.
std::string answer(const std::string& question);

}  // namespace chasqui::explorer
