// SPDX-License-Identifier: MIT
// The constructions of the literature, by name, next to our own. Each plans k items from one root on the
// postal machine; those that are streams can also run for ever. docs/streams.md explains them,
// docs/errata.md lists their errata.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {
/// A published construction that can be asked for by name.
struct StreamAlgorithm {
  std::string_view name;     ///< as on the command line
  std::string_view summary;  ///< one line for people
  bool buffered;             ///< legal only where arrivals may wait in a buffer of two (docs/model.md)
  PlanPtr (*items)(const LogP& machine, std::int64_t items,
                   Rank root);                        ///< for k items; nullptr where it is for streams only
  PlanPtr (*stream)(const LogP& machine, Rank root);  ///< nullptr: only for finitely many items
};

const std::vector<StreamAlgorithm>&
stream_algorithms();  ///< all of them, in the order of `chasqui plan --algorithm list`

/// Throws an Error that lists the names.
const StreamAlgorithm& stream_algorithm(std::string_view name);

/// SPAA 3.4: the source sends each item once; the block of each tree node receives from its own sender and from smaller
/// blocks. Finish B(P-1) + 2L + k - 2. For L odd, L >= 3, P-1 = f_t with t >= 2L; an Error otherwise.
PlanPtr single_sending(const LogP& machine, std::int64_t items, Rank root = {});

/// The sizes of its blocks, in the order of the ranks after the root; the receive-only rank comes after the last.
std::vector<std::int64_t> single_sending_blocks(std::int64_t P, std::int64_t L);

/// SPAA 3.5: a leaf that arrives together with an internal node waits in a buffer. Finish B(P-1) + L + k - 1
/// for every P and L, the least possible when the source sends each item once.
PlanPtr buffered_items(const LogP& machine, std::int64_t items, Rank root = {});

/// SV 6: the tree of latency L+1, leaves shared out at will but cyclically. Finish L + B(P-1; L+1) + k - 1,
/// with buffers.
PlanPtr simple_items(const LogP& machine, std::int64_t items, Rank root = {});

}  // namespace chasqui::plan
