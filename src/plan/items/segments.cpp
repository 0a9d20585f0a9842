// SPDX-License-Identifier: MIT
#include "chasqui/plan/segments.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "plan/items/repeated_tree.hpp"
#include "plan/kernel/counting.hpp"
#include "plan/postal_step.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kLongestLatency = 1'000'000;  ///< steps

/// When k items end: on the best postal step if the counting bound is met there, or as one tree after another.
Time finish_at_the_bound(const LogP& machine, std::int64_t k) {
  if (machine.P == 1) return Time{0};
  Time best = repeated_tree_finish(machine, k);
  for (const PostalStep& step : postal_steps(machine)) {
    if (step.L > kLongestLatency) continue;
    const std::int64_t last = kernel::last_step(kernel::count(machine.P - 1, step.L), k);
    const Time finish = Time{checked_multiply(last, step.step.ticks, "k-item broadcast")} + machine.lambda();
    best = std::min(best, finish);
  }
  return best;
}

SegmentChoice cut(const LogGP& machine, std::int64_t bytes, std::int64_t size) {
  const std::int64_t k = divide_up(bytes, size);
  return {k, size, finish_at_the_bound(segment_machine(machine, size), k)};
}

/// Segment sizes worth a look: all that small numbers of segments give, and a geometric series.
std::set<std::int64_t> sizes(std::int64_t bytes, double formula) {
  constexpr std::int64_t kFew = 64;
  std::set<std::int64_t> sizes;
  const auto add = [&](std::int64_t k) {
    if (k >= 1 && k <= bytes && k < (std::int64_t{1} << 31)) sizes.insert(divide_up(bytes, k));
  };
  for (std::int64_t k = 1; k <= kFew; ++k) add(k);
  for (double k = kFew; k < static_cast<double>(bytes); k *= 1.02) add(static_cast<std::int64_t>(k));
  for (std::int64_t d = -kFew; d <= kFew; ++d) add(static_cast<std::int64_t>(formula) + d);
  return sizes;
}

}  // namespace

Segmentation choose_segments(const LogGP& machine, std::int64_t bytes) {
  validate(machine);
  if (bytes < 1 || bytes > kMaxBytes) throw Error("a message of {} bytes: use 1..{}", bytes, kMaxBytes);
  Segmentation result;
  const LogP& base = machine.base;
  result.step = Time{std::max({std::int64_t{1}, base.g.ticks, 2 * base.o.ticks})};
  const Time one = finish_at_the_bound(segment_machine(machine, 1), 1);
  result.depth = static_cast<double>(one.ticks) / static_cast<double>(result.step.ticks);
  const double all =
      static_cast<double>(bytes) * static_cast<double>(machine.G_ticks) / static_cast<double>(machine.G_bytes);
  result.formula = std::clamp(std::sqrt(result.depth * all / static_cast<double>(result.step.ticks)), 1.0,
                              static_cast<double>(bytes));
  std::vector<SegmentChoice> choices;
  for (std::int64_t size : sizes(bytes, result.formula)) choices.push_back(cut(machine, bytes, size));
  // Fewer segments among equals: sizes ascend, so the last of the least.
  for (const SegmentChoice& choice : choices) {
    if (result.best.finish == Time{0} || choice.finish <= result.best.finish) result.best = choice;
  }
  // Between the neighbours of the best, look at every size if there are few.
  std::int64_t low = 1;
  std::int64_t high = bytes;
  for (const SegmentChoice& choice : choices) {
    if (choice.bytes < result.best.bytes) low = std::max(low, choice.bytes);
    if (choice.bytes > result.best.bytes) high = std::min(high, choice.bytes);
  }
  const std::int64_t stride = std::max<std::int64_t>(1, (high - low) / 512);
  for (std::int64_t size = low; size <= high; size += stride) {
    const SegmentChoice choice = cut(machine, bytes, size);
    if (choice.finish < result.best.finish) result.best = choice;
  }
  const SegmentChoice& best = result.best;
  for (std::int64_t k : {std::int64_t{1}, best.segments / 4, best.segments / 2, best.segments * 2, best.segments * 4}) {
    if (k < 1 || k > bytes || k == best.segments) continue;
    result.looked.push_back(cut(machine, bytes, divide_up(bytes, k)));
  }
  return result;
}

PlanPtr broadcast_bytes(const LogGP& machine, std::int64_t bytes, Rank root, const KitemOptions& options) {
  const Segmentation choice = choose_segments(machine, bytes);
  return kitem(segment_machine(machine, choice.best.bytes), choice.best.segments, root, options);
}

std::string explain(const LogGP& machine, std::int64_t bytes, const Segmentation& s) {
  const LogP segment = segment_machine(machine, s.best.bytes);
  std::string text = fmt::format("machine      {}, {} bytes\n", to_string(machine), bytes);
  text += fmt::format("best         {} segments of {} bytes, finish {}\n", s.best.segments, s.best.bytes,
                      s.best.finish.ticks);
  text += fmt::format("a segment is a message on {}\n", to_string(segment));
  text += fmt::format(
      "formula      k = sqrt(d m G / h) = {:.1f}\n"
      "             with d = {:.1f} steps of h = {} ticks for one byte to reach all:\n"
      "             k segments take about (k + d)(h + m G / k) ticks,\n"
      "             least where k^2 = d m G / h\n",
      s.formula, s.depth, s.step.ticks);
  text += "others\n";
  for (const SegmentChoice& choice : s.looked) {
    text += fmt::format("             {} segments of {} bytes: finish {}, {:+.1f} %\n", choice.segments, choice.bytes,
                        choice.finish.ticks,
                        100.0 * static_cast<double>((choice.finish - s.best.finish).ticks) /
                            static_cast<double>(std::max<std::int64_t>(1, s.best.finish.ticks)));
  }
  return text;
}

}  // namespace chasqui::plan
