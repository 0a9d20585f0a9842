// SPDX-License-Identifier: MIT
// CHASQUI_VERIFY: is the result of a call the MPI library's?
#pragma once

#include <vector>

#include "preload/serve.hpp"

namespace chasqui::preload {

/// How much the order of folding may matter, for each element of a reduction of numbers that MPI names: the magnitudes of its operands added up over
/// all ranks (sums), or of their exponents (products); otherwise 0. Not a number where an operand is none. Empty for other calls. Collective over
/// `comm`, before the call: in place the operands are still there.
std::vector<double> weights_of(const CallFacts& facts, MPI_Comm comm);

/// 0 when the result in the program's buffer is that of `other`: the same bytes, but for those that x86's long double does not use;
/// floating-point and complex numbers up to rounding. What the order of folding decides is no difference: what an operand that is no number makes of the
/// others, what leaves the range of its type on the way. Otherwise the largest difference relative to a result or its operands, or 1.
double difference(const OutputCopy& other, const CallFacts& facts, const std::vector<double>& weights);

}  // namespace chasqui::preload
