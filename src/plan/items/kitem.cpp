// SPDX-License-Identifier: MIT
#include "chasqui/plan/kitem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/reduce.hpp"
#include "plan/earliest.hpp"
#include "plan/items/few_items.hpp"
#include "plan/items/hypercube.hpp"
#include "plan/items/repeated_tree.hpp"
#include "plan/kernel/kernel_plan.hpp"
#include "plan/kernel/merge.hpp"
#include "plan/kernel/table.hpp"
#include "plan/listed_plan.hpp"
#include "plan/postal_step.hpp"
#include "plan/reversed_plan.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kFewMessages = 10'000'000;    ///< few items: messages that are listed, at most
constexpr std::int64_t kFewCells = 4096;             ///< few items: k times L, for the edge colouring
constexpr std::int64_t kFewQuickMessages = 100'000;  ///< the same in a program that must not wait
constexpr std::int64_t kMergeReceivers = 400;        ///< and so many are looked for in the bases
constexpr std::int64_t kMaxLatency = 10'000;         ///< of kernels, few items and streams here

/// Do the bases reach (M, L)? Looked up once: it takes milliseconds.
bool has_merged(std::int64_t M, std::int64_t L) {
  if (M > kMergeReceivers || L < 3 || L > 16) return false;
  static std::mutex mutex;
  static std::map<std::pair<std::int64_t, std::int64_t>, bool> known;
  const std::lock_guard lock(mutex);
  const auto [place, fresh] = known.try_emplace({M, L}, false);
  if (fresh) place->second = kernel::merged_kernel(M, L).has_value();
  return place->second;
}

/// Plans at the counting bound of the postal machine behind `step`; nothing where no construction is known.
class AtTheBound {
 public:
  AtTheBound(const LogP& machine, const Problem& problem, const PostalStep& step, const Bound& bound,
             const KitemOptions& options)
      : machine_(machine), problem_(problem), step_(step), bound_(bound), M_(machine.P - 1), options_(options) {}

  PlanPtr plan() const {
    if (step_.L > kMaxLatency) return nullptr;
    if (step_.L == 1 && M_ >= 2) return telephone();
    const kernel::Counting counting = kernel::count(M_, step_.L);
    const std::int64_t last = kernel::last_step(counting, problem_.items);
    return problem_.items <= counting.k_star ? few(counting, last) : many(last);
  }

 private:
  PlanPtr telephone() const {
    const std::int64_t last = kernel::telephone_last_step(machine_.P, problem_.items);
    return kernel::telephone_plan(machine_, problem_, claim(last, "hypercube of ranks and pairs"), step_.step);
  }

  PlanPtr few(const kernel::Counting& counting, std::int64_t last) const {
    if (M_ * problem_.items > (options_.quick ? kFewQuickMessages : kFewMessages) ||
        problem_.items * step_.L > kFewCells)
      return nullptr;
    const auto window = kernel::few_items(counting, problem_.items);
    if (!window) return nullptr;
    std::vector<Send> sends;
    sends.reserve(window->size());
    for (const kernel::StepSend& w : *window) {
      sends.push_back(send_item(w.tau * step_.step, rank(w.from), rank(w.to), w.colour));
    }
    std::sort(sends.begin(), sends.end());
    return std::make_shared<ListedPlan>(machine_, problem_, claim(last, "trees shared among few items"),
                                        std::move(sends));
  }

  PlanPtr many(std::int64_t last) const {
    std::string where = "kernel from the table";
    std::optional<kernel::Kernel> found;
    if (M_ == 1) {
      found = kernel::Kernel{1, static_cast<int>(step_.L), 0, {{{0}, {kernel::kNone}}}, {{}}};
      where = "one after another";
    } else {
      found = kernel::from_table(M_, step_.L);
    }
    if (!found && options_.kernels) {
      found = options_.kernels->find(M_, step_.L);
      where = "kernel from the user's table";
    }
    if (!found && (!options_.quick || has_merged(M_, step_.L))) {
      found = kernel::merged_kernel(M_, step_.L);
      where = "merged kernel";
    }
    if (!found) return nullptr;
    if (found->groups.size() > 1) where += fmt::format(", {} groups", found->groups.size());
    return kernel::kernel_plan(machine_, problem_, claim(last, std::move(where)), std::move(*found), step_.step);
  }

  Claim claim(std::int64_t last, std::string construction) const {
    if (!machine_.is_postal()) construction += fmt::format(", in steps of {} ticks", step_.step.ticks);
    return {last * step_.step + machine_.lambda(), bound_.time, bound_.source, std::move(construction)};
  }

  Rank rank(int receiver) const {
    if (receiver == kernel::kNone) return problem_.root;
    return Rank{receiver < problem_.root.index ? receiver : receiver + 1};
  }

  const LogP& machine_;
  const Problem& problem_;
  PostalStep step_;
  const Bound& bound_;
  std::int64_t M_;
  const KitemOptions& options_;
};

}  // namespace

PlanPtr kitem(const LogP& machine, std::int64_t k, Rank root, const KitemOptions& options) {
  const Bound bound = least_kitem_time(machine, k);
  const Problem problem{.kind = Kind::broadcast, .root = root, .items = k};
  validate(problem, machine);
  if (machine.P == 1) return nothing_to_do(machine, problem);
  Earliest best(repeated_tree(machine, problem, bound, false));
  for (const PostalStep& step : postal_steps(machine)) {
    PlanPtr plan = AtTheBound(machine, problem, step, bound, options).plan();
    // Within L steps of the bound wherever the stream meets its own.
    if (!plan && step.L <= kMaxLatency) plan = stream_window(machine, make_stream(machine.P, step.L, root.index), k);
    best.offer(std::move(plan));
  }
  return best.plan();
}

Time quick_kitem_time(const LogP& machine, std::int64_t k) {
  CHASQUI_CHECK(machine.is_postal(), "{}", to_string(machine));
  const std::int64_t M = machine.P - 1;
  const std::int64_t L = machine.L.ticks;
  const Time bound = kitem_bound(machine, k);
  if (M <= 1 || L == 1) return bound;
  const Time single =
      kitem_single_sending_bound(machine, k) + Time{L == 2 && !stream_bound_reachable_at_two(machine.P) ? 1 : 0};
  if (L > kMaxLatency) return single;
  const auto counting = kernel::count(M, L);
  if (k <= counting.k_star) return M * k <= kFewQuickMessages && k * L <= kFewCells ? bound : single;
  return kernel::from_table(M, L) || has_merged(M, L) ? bound : single;
}

/// A broadcast backwards in time (items.md, Theorem 15).
PlanPtr kitem_reduce(const LogP& machine, std::int64_t k, Rank root, bool commutative, const KitemOptions& options) {
  if (k == 1) return reduce(machine, root, commutative);
  Bound bound = least_kitem_time(machine, k);
  const Problem problem{.kind = Kind::reduce, .root = root, .items = k, .commutative = commutative};
  validate(problem, machine);
  const std::string reversed = "a reduction run backwards is a broadcast; ";
  // Subtrees of kernels are no intervals of ranks; those of the universal tree are.
  if (!commutative && machine.P > 2) {
    bound.source = reversed + bound.source;
    return repeated_tree(machine, problem, bound, true);
  }
  PlanPtr forward = kitem(machine, k, root, options);
  Claim claim = forward->claim();
  claim.bound_source = reversed + claim.bound_source;
  claim.construction += ", reversed";
  return std::make_shared<ReversedPlan>(machine, problem, std::move(claim), std::move(forward));
}

}  // namespace chasqui::plan
