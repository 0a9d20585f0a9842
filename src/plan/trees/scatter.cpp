// SPDX-License-Identifier: MIT
#include "chasqui/plan/scatter.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "plan/trees/rotation.hpp"

namespace chasqui::plan {
namespace {

/// trees.md, Theorem 8, both directions: the rank at distance i >= 1 from the root has its message begun at (i-1)·max(g, o).
class RootExchange final : public Plan {
 public:
  RootExchange(const LogP& machine, const Problem& problem, Time finish)
      : Plan(machine, problem,
             Claim{finish, finish,
                   problem.kind == Kind::scatter ? "the root has P-1 messages to send, a gap apart"
                                                 : "the root has P-1 messages to receive, a gap apart",
                   "one rank after another"}),
        rotation_{machine.P, problem.root} {}

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    auto& at_root = problem_.kind == Kind::scatter ? form.sends : form.receives;
    auto& at_other = problem_.kind == Kind::scatter ? form.receives : form.sends;
    if (rank != problem_.root) {
      at_other.push_back(message(rotation_.index(rank)));
    } else {
      for (std::int64_t i = 1; i < machine_.P; ++i) at_root.push_back(message(i));
    }
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    for (std::int64_t i = 1; i < machine_.P; ++i) schedule.sends.push_back(message(i));
    return schedule;
  }

 private:
  Send message(std::int64_t distance) const {
    const Rank other = rotation_.rank(distance);
    const Time begin = (distance - 1) * machine_.gap();
    return problem_.kind == Kind::scatter ? send_item(begin, problem_.root, other, other.index)
                                          : send_item(begin, other, problem_.root, other.index);
  }

  Rotation rotation_;
};

PlanPtr root_exchange(const LogP& machine, Kind kind, Rank root) {
  const Problem problem{.kind = kind, .root = root};
  validate(machine);
  validate(problem, machine);
  Time finish{0};
  if (machine.P > 1) {
    const std::int64_t waiting = checked_multiply(machine.P - 2, machine.gap().ticks, "the finish time (P-2)·g");
    finish = Time{checked_add(waiting, machine.lambda().ticks, "the finish time")};
  }
  return std::make_shared<RootExchange>(machine, problem, finish);
}

}  // namespace

PlanPtr scatter(const LogP& machine, Rank root) { return root_exchange(machine, Kind::scatter, root); }
PlanPtr gather(const LogP& machine, Rank root) { return root_exchange(machine, Kind::gather, root); }

}  // namespace chasqui::plan
