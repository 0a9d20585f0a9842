// SPDX-License-Identifier: MIT
// Numbers in texts that programs have written: environment variables, tables, drawings. They have a point, also in a program whose
// locale has a comma, and there strtod stops at it.
#pragma once

#include <optional>
#include <string_view>

namespace chasqui {

/// The number that is the whole text; nothing where it is none, or does not fit.
std::optional<double> number_from(std::string_view text);

}  // namespace chasqui
