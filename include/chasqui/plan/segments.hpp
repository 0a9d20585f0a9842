// SPDX-License-Identifier: MIT
// Into how many segments should an m-byte message be cut, so that its broadcast as a k-item broadcast ends earliest?
// docs/items.md, "Segments of a long message".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/model/loggp.hpp"
#include "chasqui/plan/kitem.hpp"

namespace chasqui::plan {

/// One way to cut.
struct SegmentChoice {
  std::int64_t segments = 1;  ///< how many pieces
  std::int64_t bytes = 1;     ///< of a segment; the last may be shorter
  Time finish;                ///< if the counting bound of the rounded machine is met, or one tree after another
};
/// All numbers of segments that were weighed, and the best.
struct Segmentation {
  SegmentChoice best;                 ///< the fastest
  double formula = 1;                 ///< k = sqrt(d m G / h): ignores rounding
  double depth = 0;                   ///< d: steps that the last segment needs
  Time step;                          ///< h: a step without bytes, max(g, 2o)
  std::vector<SegmentChoice> looked;  ///< a few others, by number of segments
};

/// Time: O(log bytes) candidates, at most 2500, each O(L/step log P). Throws an Error for bad values.
Segmentation choose_segments(const LogGP& machine, std::int64_t bytes);

/// The plan: k-item broadcast of the best number of segments, on the machine that a segment sees.
PlanPtr broadcast_bytes(const LogGP& machine, std::int64_t bytes, Rank root = {}, const KitemOptions& options = {});

/// Several lines for people: the formula, the search, the neighbours of the best.
std::string explain(const LogGP& machine, std::int64_t bytes, const Segmentation& segmentation);

}  // namespace chasqui::plan
