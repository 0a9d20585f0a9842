// SPDX-License-Identifier: MIT
// k items from the root to all, and its time reversal, k independent reductions. On the postal machine kernels meet the
// counting bound for every P <= 128, L <= 16 and every k, and wherever else a kernel is shipped, merged or brought by the
// user; for L = 1 a closed form meets it for every P (docs/items.md, Theorem 10).
#pragma once

#include <cstdint>

#include "chasqui/plan/kernels.hpp"
#include "chasqui/plan/plan.hpp"
#include "chasqui/plan/stream.hpp"

namespace chasqui::plan {

/// The counting bound: no schedule of k items finishes earlier. Any LogP machine: in a window of max(g, o) ticks every
/// processor that has something begins at most one send, and every receiver gets at most one.
/// Time: O(log k + log P) evaluations of the universal tree's closed form, whatever the size of k.
Time kitem_bound(const LogP& machine, std::int64_t k);

/// The argument behind kitem_bound, for claims.
inline constexpr const char* kCountingBound =
    "counting: a step moves no more messages than there are holders or receivers";

/// What all ranks are busy with, and how long they wait for their first item, shared out among them (items.md, Theorem 16).
Time kitem_work_bound(const LogP& machine, std::int64_t k);

/// The better of the two.
Bound least_kitem_time(const LogP& machine, std::int64_t k);

/// The bound for schedules in which the root sends each item once: lambda + B(P-1) + (k-1) max(g, o).
Time kitem_single_sending_bound(const LogP& machine, std::int64_t k);

/// What a k-item plan may use.
struct KitemOptions {
  KernelTablePtr kernels{};  ///< asked where no kernel is shipped, before merging
  bool quick = false;        ///< for programs that must not wait: larger lists and merged kernels are left out
};

/// A pure function of its arguments: kernels from the tables or merged, few items by edge colouring, otherwise the first
/// k items of a stream. Throws an Error for an invalid machine or root, or k < 1. The claim says bound, gap and
/// construction. local(r): the rank's own messages, plus one look at a table of P entries.
PlanPtr kitem(const LogP& machine, std::int64_t k, Rank root = {}, const KitemOptions& options = {});

/// When the quick plan without further kernels finishes, without making it. Time: O(L log P), and once for each P and L
/// some milliseconds where P > 128. REQUIRES a postal machine.
Time quick_kitem_time(const LogP& machine, std::int64_t k);

/// The first k items of a stream: a broadcast of k items that finishes at delay + k - 1.
PlanPtr stream_window(const LogP& machine, StreamPtr stream, std::int64_t items);
/// The first k items of the best stream of this machine.
PlanPtr stream_window(const LogP& machine, std::int64_t items, Rank root = {});

/// k reductions, one per item, in the same time: kitem reversed. A message carries the index of its item, and with it
/// all that its sender has of it (docs/model.md). Without commutativity the order is kept by a tree whose subtrees are
/// intervals of ranks.
PlanPtr kitem_reduce(const LogP& machine, std::int64_t k, Rank root = {}, bool commutative = true,
                     const KitemOptions& options = {});

}  // namespace chasqui::plan
