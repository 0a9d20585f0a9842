// SPDX-License-Identifier: MIT
#include "cli/plans/materialise.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::cli {

std::int64_t message_count(const plan::Plan& plan) {
  const std::int64_t P = plan.machine().P;
  const std::int64_t per_item = saturating_multiply(P - 1, plan.problem().items);
  switch (plan.problem().kind) {
    case Kind::allgather: return saturating_multiply(per_item, P);
    case Kind::allreduce:
    case Kind::scan:
    case Kind::barrier: {
      const Rank last{static_cast<std::int32_t>(P - 1)};
      const std::size_t rounds = std::max(plan.local(Rank{0}).sends.size(), plan.local(last).receives.size());
      return saturating_multiply(P, static_cast<std::int64_t>(rounds));
    }
    default: return per_item;
  }
}

Schedule materialise(const plan::Plan& plan, const CollectiveArguments& arguments) {
  const std::int64_t messages = message_count(plan);
  if (messages > kMostMessages) {
    throw Error(
        "a schedule of {} messages is too large to build (at most {}): ask for one rank with --rank R, or for "
        "the claim with 'chasqui bound {}'",
        messages == kSaturated ? "2^63 or more" : std::to_string(messages), kMostMessages, arguments.spelled());
  }
  return plan.schedule();
}

LocalForm local_form(const plan::Plan& plan, std::int64_t rank) {
  const std::int64_t P = plan.machine().P;
  const Kind kind = plan.problem().kind;
  if (rank < 0 || rank >= P) throw Error("--rank {} does not exist: ranks are 0..{}", rank, P - 1);
  const bool busy =
      kind == Kind::allgather || ((kind == Kind::scatter || kind == Kind::gather) && rank == plan.problem().root.index);
  const std::int64_t own = busy ? saturating_multiply(P - 1, plan.problem().items) : 0;
  if (own > kMostMessages) {
    throw Error("--rank {}: this rank alone has {} messages (at most {}): ask with a smaller -P", rank, own,
                kMostMessages);
  }
  return plan.local(Rank{static_cast<std::int32_t>(rank)});
}

}  // namespace chasqui::cli
