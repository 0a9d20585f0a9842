// SPDX-License-Identifier: MIT
// What people use without a planner: binomial tree, chain, flat tree. They are here to be compared with; the verifier
// judges them like any other schedule.
#pragma once

#include <optional>
#include <string_view>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::explorer {

enum class Shape { binomial, chain, flat };

std::string_view to_string(Shape shape);
std::optional<Shape> shape_from(std::string_view name);

/// The collective on this tree, messages as early as the order of the tree allows. Nothing where the shape has no
/// meaning for the collective (a stream, a sum, …) or the schedule would have more than `most` messages.
std::optional<Schedule> plain_schedule(Shape shape, const LogP& machine, const Problem& problem,
                                       std::int64_t most = 50'000);

}  // namespace chasqui::explorer
