// SPDX-License-Identifier: MIT
// Work in a child process, for a library that catches signals itself and looks up from its work too seldom to be stopped.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "solve/sat.hpp"

namespace chasqui::solve {

/// What `work` returns, made in a child process. Once `stop` says so the child gets SIGINT and a moment to hand over what it has, then it is
/// killed. Empty: it was killed or died.
std::optional<std::string> in_child(const std::function<std::string()>& work, const Stop& stop);

}  // namespace chasqui::solve
