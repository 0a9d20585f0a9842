// SPDX-License-Identifier: MIT
// A schedule is built only when it fits in memory; otherwise the remedy is named.
#pragma once

#include <cstdint>

#include "chasqui/plan/plan.hpp"
#include "cli/plans/collective_arguments.hpp"

namespace chasqui::cli {

inline constexpr std::int64_t kMostMessages = 10'000'000;

/// How many messages plan.schedule() would hold; an upper estimate for all-reduce, scan and barrier.
std::int64_t message_count(const plan::Plan& plan);

/// plan.schedule(), or an Error that names the remedy when it has more than kMostMessages messages.
Schedule materialise(const plan::Plan& plan, const CollectiveArguments& arguments);

/// plan.local(rank), or an Error when the rank does not exist or has too many messages of its own.
LocalForm local_form(const plan::Plan& plan, std::int64_t rank);

}  // namespace chasqui::cli
