// SPDX-License-Identifier: MIT
// What a collective takes where all goes by messages: the methods that there are for it, each with its predicted time.
#pragma once

#include <vector>

#include "chasqui/run/choose.hpp"

namespace chasqui::run {

/// Is there such a method by messages for this collective?
bool goes_by(Method method, const Query& query);

/// All that apply, never none: `ranks` ranks, as many on each of `nodes` nodes, whose messages cost what `level` says. REQUIRES two ranks or more.
std::vector<Choice> choices_by_messages(const Query& query, const Level& level, int ranks, int nodes,
                                        const Profile& profile);

/// The first of those that take the least. REQUIRES some.
const Choice& fastest(const std::vector<Choice>& choices);

}  // namespace chasqui::run
