// SPDX-License-Identifier: MIT
#include "plan/kernel/kernel_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chasqui/base/error.hpp"
#include "plan/kernel/endgame.hpp"

namespace chasqui::plan::kernel {
namespace {

constexpr std::int32_t kSource = -1;
constexpr std::size_t kInlineRings = 8;

class KernelPlan final : public Plan {
 public:
  KernelPlan(const LogP& machine, const Problem& problem, Claim claim, Kernel kernel, Time step)
      : Plan(machine, problem, std::move(claim)), kernel_(std::move(kernel)),
        shape_(shape_of(count(kernel_.M, kernel_.L), kernel_.j)), step_(step), K_(problem.items - shape_.kappa) {
    CHASQUI_CHECK(kernel_.M == machine.P - 1 && K_ >= 0, "M={} P={} K={}", kernel_.M, machine.P, K_);
    pair_phases();
    auto window = pair_endgame(endgame_of(kernel_));
    CHASQUI_CHECK(window.has_value(), "P={} L={}: the endgame has no matching", machine.P, kernel_.L);
    window_ = std::move(*window);
  }

  LocalForm local(Rank rank) const override {
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const bool source = rank == problem_.root;
    const std::int32_t me = source ? kSource : rank.index < problem_.root.index ? rank.index : rank.index - 1;
    const Ring ring = source ? Ring{} : rings_[at(ring_of_[at(me)])];
    const std::int32_t role = source ? kSource : role_of(me);
    std::size_t next = 0;
    for (std::int64_t t = 0; t < K_ + shape_.D; ++t) {
      if (source) {
        if (t < K_) local.sends.push_back(message(t, kSource, receiver_in(top_, t), t));
      } else {
        const Phase& phase = phases_[at(ring.first + (t + me - ring.first) % ring.size)];
        const std::int64_t out = t - shape_.D + phase.send;
        if (phase.send != kNone && out >= 0 && out < K_) {
          local.sends.push_back(message(t, me, receiver_in(phase.to, t), out));
        }
        const std::int64_t in = t - shape_.D + phase.receive;
        if (in >= 0 && in < K_) {
          const std::int32_t from = phase.from == kNone ? kSource : receiver_in(phase.from, t);
          local.receives.push_back(message(t, from, me, in));
        }
      }
      for (; next < window_.size() && K_ + window_[next].tau <= t; ++next) {
        const StepSend& w = window_[next];
        if (w.from != role && w.to != role) continue;
        const Send send = message(t, receiver_of_role(w.from), receiver_of_role(w.to), K_ + w.colour);
        (w.from == role ? local.sends : local.receives).push_back(send);
      }
    }
    return local;
  }

  /// Time: O(kP), one pass in canonical order.
  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends.reserve(at(problem_.items) * at(kernel_.M));
    std::vector<Send> buffer(at(machine_.P));
    for (std::int64_t t = 0; t < K_; ++t) expand_step(t, buffer, schedule.sends);
    expand_window(buffer, schedule.sends);
    return schedule;
  }

 private:
  /// A phase of a group: where its rank sends to and receives from, as phases numbered group by group.
  struct Phase {
    std::int32_t send = kNone;  ///< S
    std::int32_t receive = 0;   ///< H
    std::int32_t to = kNone;    ///< the phase that receives what this one sends
    std::int32_t from = kNone;  ///< the phase that sends what this one receives; kNone: the source
  };
  struct Ring {
    std::int32_t first = 0;  ///< number of its first phase, and of its first receiver
    std::int32_t size = 1;
  };

  /// Equal heights are paired in order: a steady table, the same at every step.
  void pair_phases() {
    std::vector<std::vector<std::int32_t>> receivers(at(shape_.D) + 1);
    for (const Group& group : kernel_.groups) {
      const auto first = static_cast<std::int32_t>(phases_.size());
      rings_.push_back({first, group.size()});
      for (int x = 0; x < group.size(); ++x) {
        receivers[at(group.H[at(x)])].push_back(first + x);
        phases_.push_back({group.S[at(x)], group.H[at(x)], kNone, kNone});
        ring_of_.push_back(static_cast<std::int32_t>(rings_.size()) - 1);
      }
    }
    top_ = receivers[at(shape_.D)].back();
    std::vector<std::size_t> next(at(shape_.D) + 1, 0);
    for (std::int32_t x = 0; x < static_cast<std::int32_t>(phases_.size()); ++x) {
      const std::int32_t s = phases_[at(x)].send;
      if (s == kNone) continue;
      const std::int32_t y = receivers[at(s)][next[at(s)]++];
      phases_[at(x)].to = y;
      phases_[at(y)].from = x;
    }
  }

  /// Who is in this phase at step t
  std::int32_t receiver_in(std::int32_t phase, std::int64_t t) const {
    const Ring& ring = rings_[at(ring_of_[at(phase)])];
    const std::int64_t q = (phase - ring.first - t) % ring.size;
    return static_cast<std::int32_t>(ring.first + (q < 0 ? q + ring.size : q));
  }

  Rank rank_of(std::int32_t receiver) const {
    if (receiver == kSource) return problem_.root;
    return Rank{receiver < problem_.root.index ? receiver : receiver + 1};
  }

  std::int32_t role_of(std::int32_t receiver) const {
    const Ring& ring = rings_[at(ring_of_[at(receiver)])];
    return static_cast<std::int32_t>(ring.first + (K_ + receiver - ring.first) % ring.size);
  }

  std::int32_t receiver_of_role(std::int32_t role) const { return role == kSource ? kSource : receiver_in(role, K_); }

  /// The messages of step t whose item is in 0 .. K-1, in order of rank. `buffer`: room for P messages, filled first,
  /// so that the loop neither divides nor looks at the vector.
  void expand_step(std::int64_t t, std::vector<Send>& buffer, std::vector<Send>& all) const {
    const std::int64_t base = t - shape_.D;
    const Time begin = t * step_;
    const std::int32_t root = problem_.root.index;
    Send* out = buffer.data();
    bool source_due = t < K_;
    std::int32_t shift[kInlineRings];
    const bool inline_shifts = rings_.size() <= kInlineRings;
    for (std::size_t g = 0; inline_shifts && g < rings_.size(); ++g) {
      shift[g] = static_cast<std::int32_t>(t % rings_[g].size);
    }
    for (std::size_t g = 0; g < rings_.size(); ++g) {
      const Ring ring = rings_[g];
      std::int32_t x = ring.first + static_cast<std::int32_t>(t % ring.size);
      for (std::int32_t q = ring.first; q < ring.first + ring.size; ++q) {
        if (q == root && source_due) *out++ = message(t, kSource, receiver_in(top_, t), t), source_due = false;
        const Phase& phase = phases_[at(x)];
        if (++x == ring.first + ring.size) x = ring.first;
        const std::int64_t item = base + phase.send;
        if (phase.send == kNone || item < 0 || item >= K_) continue;
        std::int32_t to = 0;
        if (inline_shifts) {
          const auto other = at(ring_of_[at(phase.to)]);
          to = phase.to - shift[other];
          if (to < rings_[other].first) to += rings_[other].size;
        } else {
          to = receiver_in(phase.to, t);
        }
        *out++ = {
            begin, Rank{q < root ? q : q + 1}, Rank{to < root ? to : to + 1}, {static_cast<std::int32_t>(item), 1}, {}};
      }
    }
    if (source_due) *out++ = message(t, kSource, receiver_in(top_, t), t);
    all.insert(all.end(), buffer.data(), out);
  }

  void expand_window(std::vector<Send>& buffer, std::vector<Send>& out) const {
    std::size_t next = 0;
    for (int tau = 0; tau < shape_.D; ++tau) {
      const auto first = static_cast<std::ptrdiff_t>(out.size());
      expand_step(K_ + tau, buffer, out);
      for (; next < window_.size() && window_[next].tau == tau; ++next) {
        const StepSend& w = window_[next];
        out.push_back(message(K_ + tau, receiver_of_role(w.from), receiver_of_role(w.to), K_ + w.colour));
      }
      std::sort(out.begin() + first, out.end());
    }
  }

  Send message(std::int64_t t, std::int32_t from, std::int32_t to, std::int64_t item) const {
    return send_item(t * step_, rank_of(from), rank_of(to), static_cast<std::int32_t>(item));
  }

  Kernel kernel_;
  Shape shape_;
  Time step_;
  std::int64_t K_;  ///< items before the window
  std::vector<Phase> phases_;
  std::vector<Ring> rings_;
  std::vector<std::int32_t> ring_of_;  ///< by phase or receiver
  std::int32_t top_ = 0;               ///< the phase that the source serves
  std::vector<StepSend> window_;
};

}  // namespace

PlanPtr kernel_plan(const LogP& machine, const Problem& problem, Claim claim, Kernel kernel, Time step) {
  return std::make_shared<KernelPlan>(machine, problem, std::move(claim), std::move(kernel), step);
}

}  // namespace chasqui::plan::kernel
