// SPDX-License-Identifier: MIT
#include "run/choose/board_methods.hpp"

#include <algorithm>
#include <cmath>

#include "run/board/board.hpp"

namespace chasqui::run {
namespace {

/// A way's cost: publications one after another, lines read from each source beside the data, and for each line of
/// data; the latter two in units of LineCosts::each. Fitted to 16 threads and 16 processes, 128 B to 4 KiB
/// (docs/results.md, "Threads and processes"); one reader alone reads faster than all at once.
struct Cost {
  double publications, reads, lines;
};

Cost cost_of(Way way, Kind kind) {
  const bool threads = way == Way::direct;
  if (way == Way::lent) return {4.5, 0, 0.09};
  if (way == Way::dealt) return kind == Kind::reduce ? Cost{3, 0, 0.2} : Cost{4, 0, 0.2};
  if (way == Way::slots) {
    switch (kind) {
      case Kind::broadcast: return {1, 0, 0.6};
      case Kind::scatter: return {1, 0, 0.3};
      case Kind::reduce:
      case Kind::gather: return {1, 0.4, 0.4};
      case Kind::scan: return {2, 0.5, 0.5};
      default: return {1, 0.8, 0.8};
    }
  }
  switch (kind) {
    case Kind::broadcast: return threads ? Cost{3, 0, 0} : Cost{2.4, 0, 1.8};
    case Kind::scatter: return threads ? Cost{3, 0, 0} : Cost{2.4, 0, 0.55};
    case Kind::gather: return threads ? Cost{3, 0, 0} : Cost{4, 0, 0.4};
    case Kind::reduce: return threads ? Cost{4, 2, 0} : Cost{3, 0, 0.55};
    case Kind::allgather: return threads ? Cost{3, 2, 0.15} : Cost{4, 0, 0.8};
    case Kind::scan: return threads ? Cost{5, 4, 0.15} : Cost{3.5, 0, 1};
    default: return threads ? Cost{6, 4, 0.1} : Cost{5, 0, 0.35};
  }
}

}  // namespace

double way_time(const LineCosts& costs, Way way, Kind kind, double bytes) {
  const bool one_source = kind == Kind::broadcast || kind == Kind::scatter;
  const double sources = one_source ? 1 : costs.ranks - 1;
  const Cost cost = cost_of(way, kind);
  const double lines = std::ceil(bytes / static_cast<double>(kLine));
  return cost.publications * costs.publish + sources * (cost.reads + cost.lines * lines) * costs.each;
}

SlotLimits::SlotLimits(const LineCosts& costs, std::size_t wide, bool threads)
    : lent_most_(threads ? wide * static_cast<std::size_t>(costs.ranks) : 0),
      long_(threads ? Way::direct : Way::staged) {
  for (std::size_t k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    const auto time = [&](Way way, std::size_t bytes) {
      return way_time(costs, way, kind, static_cast<double>(bytes));
    };
    const bool deals = kind == Kind::reduce || kind == Kind::allreduce;
    dealt_from_[k] = ~std::size_t{0};
    for (std::size_t bytes = kSlotPayload / kLine * kLine + kLine; bytes <= wide; bytes += kLine) {
      double best = time(Way::slots, bytes);
      if (deals && time(Way::dealt, bytes) < best) {
        best = time(Way::dealt, bytes);
        dealt_from_[k] = std::min(dealt_from_[k], bytes);
      }
      const Way longer = kind == Kind::allreduce && lent_most_ != 0 ? Way::lent : long_;
      if (best > time(longer, bytes)) break;
      most_[k] = bytes;
    }
  }
}

}  // namespace chasqui::run
