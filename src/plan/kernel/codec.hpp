// SPDX-License-Identifier: MIT
// A kernel as a line of text, six bits a character: heights, sends (mostly "one less than before"), and the colours as
// choices among what is left. The format is described in docs/items.md.
#pragma once

#include <string>
#include <string_view>

#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

/// REQUIRES a kernel without errors.
std::string encode(const Kernel& kernel);

/// Throws an Error naming `place` if the text is no kernel of M receivers and latency L by its lengths and ranges.
/// The conditions are not checked. Time: O(kappa M).
Kernel decode(std::string_view text, int M, int L, std::string_view place);

}  // namespace chasqui::plan::kernel
