// SPDX-License-Identifier: MIT
#include "plan/kernel/endgame.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace chasqui::plan::kernel {
namespace {

struct Sender {
  int role = kNone;
  std::uint64_t holds = 0;  ///< colours, as bits
};

struct Want {
  int role = 0;
  int colour = 0;
};

/// Augmenting paths over colours: a sender gives one colour; moving it to another colour frees a unit of the first.
class StepMatching {
 public:
  StepMatching(const std::vector<Sender>& senders, int colours)
      : senders_(senders), gives_(senders.size(), kNone), givers_(at(colours)) {}

  /// One more message of `colour`. Time: O(senders) per colour on the path.
  bool serve(int colour) {
    visited_ = 0;
    return augment(colour);
  }

  /// A sender that gives `colour`, each once.
  int take(int colour) {
    const int s = givers_[at(colour)].back();
    givers_[at(colour)].pop_back();
    return s;
  }

 private:
  bool augment(int colour) {
    visited_ |= std::uint64_t{1} << static_cast<unsigned>(colour);
    for (int s = 0; s < static_cast<int>(senders_.size()); ++s) {
      if (gives_[at(s)] == kNone && has(s, colour)) return give(s, colour), true;
    }
    for (int s = 0; s < static_cast<int>(senders_.size()); ++s) {
      const int now = gives_[at(s)];
      if (now == colour || !has(s, colour) || ((visited_ >> static_cast<unsigned>(now)) & 1U) != 0) continue;
      if (!augment(now)) continue;
      // `now` has one more giver; s is free to change, unless the path moved s itself.
      if (gives_[at(s)] != now) continue;
      std::erase(givers_[at(now)], s);
      return give(s, colour), true;
    }
    return false;
  }

  bool has(int s, int colour) const { return ((senders_[at(s)].holds >> static_cast<unsigned>(colour)) & 1U) != 0; }

  void give(int s, int colour) {
    gives_[at(s)] = colour;
    givers_[at(colour)].push_back(s);
  }

  const std::vector<Sender>& senders_;
  std::vector<int> gives_;
  std::vector<std::vector<int>> givers_;
  std::uint64_t visited_ = 0;
};

}  // namespace

Endgame endgame_of(const Kernel& kernel) {
  const Shape shape = shape_of(count(kernel.M, kernel.L), kernel.j);
  Endgame endgame{kernel.L, shape.D, shape.kappa, {}};
  endgame.roles.reserve(at(kernel.M));
  for (const Group& group : kernel.groups) {
    for (int b = 0; b < group.size(); ++b) {
      EndgameRole role;
      role.receptions = free_receptions(group, shape.D, b);
      for (int tau = 0; tau < shape.D; ++tau) {
        if (free_send(group, shape.D, b, tau)) role.sends.push_back(tau);
      }
      if (!kernel.colours.empty()) role.colours = kernel.colours[endgame.roles.size()];
      endgame.roles.push_back(std::move(role));
    }
  }
  return endgame;
}

std::optional<std::vector<StepSend>> pair_endgame(const Endgame& endgame) {
  if (endgame.colours > 64) return std::nullopt;
  std::vector<std::vector<Want>> wants(at(endgame.steps));
  std::vector<std::vector<Sender>> senders(at(endgame.steps), {Sender{}});
  for (int q = 0; q < static_cast<int>(endgame.roles.size()); ++q) {
    const EndgameRole& role = endgame.roles[at(q)];
    if (role.receptions.size() != role.colours.size()) return std::nullopt;
    for (std::size_t i = 0; i < role.colours.size(); ++i) {
      if (role.colours[i] != kNone) wants[at(role.receptions[i])].push_back({q, role.colours[i]});
    }
    std::uint64_t holds = 0;
    std::size_t next = 0;
    for (int tau : role.sends) {
      for (; next < role.colours.size() && role.receptions[next] <= tau - endgame.L; ++next) {
        if (role.colours[next] != kNone) holds |= std::uint64_t{1} << static_cast<unsigned>(role.colours[next]);
      }
      if (holds != 0) senders[at(tau)].push_back({q, holds});
    }
  }
  std::vector<StepSend> sends;
  for (int tau = 0; tau < endgame.steps; ++tau) {
    std::vector<Sender>& step = senders[at(tau)];
    step[0].holds = ~std::uint64_t{0};
    // The least flexible first, the source last: nearly every want is then served without a longer path.
    std::stable_sort(step.begin(), step.end(),
                     [](const Sender& a, const Sender& b) { return std::popcount(a.holds) < std::popcount(b.holds); });
    StepMatching matching(step, endgame.colours);
    for (const Want& want : wants[at(tau)]) {
      if (!matching.serve(want.colour)) return std::nullopt;
    }
    const auto first = static_cast<std::ptrdiff_t>(sends.size());
    for (const Want& want : wants[at(tau)]) {
      const int s = matching.take(want.colour);
      sends.push_back({tau, step[at(s)].role, want.role, want.colour});
    }
    std::sort(sends.begin() + first, sends.end(), [](const StepSend& a, const StepSend& b) { return a.from < b.from; });
  }
  return sends;
}

std::string endgame_error(const Kernel& kernel) {
  const Shape shape = shape_of(count(kernel.M, kernel.L), kernel.j);
  if (kernel.colours.size() != at(kernel.M)) return "a role has no colours";
  for (const std::vector<std::int8_t>& colours : kernel.colours) {
    std::vector<int> times(at(shape.kappa), 0);
    for (int c : colours) {
      if (c < kNone || c >= shape.kappa) return "a colour does not exist";
      if (c != kNone) ++times[at(c)];
    }
    if (std::any_of(times.begin(), times.end(), [](int n) { return n != 1; })) return "(E1) a role lacks a colour";
  }
  return pair_endgame(endgame_of(kernel)) ? "" : "(E2) a step has more receptions than senders";
}

}  // namespace chasqui::plan::kernel
