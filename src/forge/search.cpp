// SPDX-License-Identifier: MIT
#include "forge/search.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "forge/rings.hpp"
#include "forge/tree.hpp"
#include "plan/kernel/endgame.hpp"

namespace chasqui::forge {
namespace {

// The endgame: which of the last kappa items ("colours") every free reception of the window gets. Early receptions (those
// that can still be passed on) by a greedy choice, late ones by annealing.

struct Reception {
  int step = 0;
  int colour = kNone;
  double value = 1;  ///< early: itself and what is expected to follow from it in the window
};

/// One rank's part in the window. Its sends name a reception, so that a change of colour changes what they carry.
struct Role {
  std::vector<Reception> receptions;  ///< by step
  std::vector<int> sends;             ///< free send steps
  int early = 0;                      ///< receptions before the last L steps

  /// How many receptions came at step `until` or before.
  int old_enough(int until) const {
    int n = 0;
    while (n < static_cast<int>(receptions.size()) && receptions[at(n)].step <= until) ++n;
    return n;
  }

  bool offers_at(int step, int L) const {
    return old_enough(step - L) > 0 && std::binary_search(sends.begin(), sends.end(), step);
  }

  bool holds(int colour, int until) const {
    for (const Reception& r : receptions) {
      if (r.step <= until && r.colour == colour) return true;
    }
    return false;
  }
};

/// A late send: one of the receptions of `role` that are old enough.
struct Offer {
  int role = 0;
  int step = 0;
  int options = 0;  ///< receptions 0 .. options-1 qualify
  int choice = 0;
};

class Colouring {
 public:
  Colouring(const Endgame& endgame, Random& random)
      : random_(random), L_(endgame.L), D_(endgame.steps), kappa_(endgame.colours) {
    for (const EndgameRole& source : endgame.roles) {
      Role role;
      for (int tau : source.receptions) role.receptions.push_back({tau, kNone, 1});
      role.sends = source.sends;
      while (role.early < static_cast<int>(role.receptions.size()) && role.receptions[at(role.early)].step < D_ - L_) {
        ++role.early;
      }
      roles_.push_back(std::move(role));
    }
  }

  /// Early receptions, step by step: whoever already holds something chooses first, then by value; among the colours
  /// on offer the one with the least expected total wins, up to `noise`. False if somebody finds nothing.
  bool colour_early(double noise) {
    expect();
    noise_ = noise;
    weight_.assign(at(kappa_), 0);
    for (int tau = 0; tau < D_ - L_; ++tau) {
      if (!colour_step(tau)) return false;
    }
    return true;
  }

  /// The last L steps. The cost is the number of receptions whose colour nobody is left to send.
  bool colour_late(std::int64_t iterations) {
    start_late();
    if (D_ == 0 || kappa_ == 0) return true;
    for (std::int64_t i = 0; i < iterations && cost_ > 0; ++i) {
      const double temperature = 0.5 - 0.3 * static_cast<double>(i) / static_cast<double>(iterations);
      const int kind = random_.below(4);
      if (kind == 0 && !movable_offers_.empty()) {
        change_offer(temperature);
      } else if (kind == 1) {
        change_source(temperature);
      } else if (!movable_roles_.empty()) {
        swap_colours(temperature);
      }
    }
    return cost_ == 0;
  }

  /// By role, in the order of its receptions.
  std::vector<std::vector<std::int8_t>> colours() const {
    std::vector<std::vector<std::int8_t>> all(roles_.size());
    for (std::size_t q = 0; q < roles_.size(); ++q) {
      for (const Reception& r : roles_[q].receptions) all[q].push_back(static_cast<std::int8_t>(r.colour));
    }
    return all;
  }

 private:
  /// Mean values, from the last step back: a send is worth the mean of the receptions of its step, shared among
  /// what the sender holds.
  void expect() {
    yield_.assign(at(D_), 0);
    for (int tau = D_ - 1; tau >= 0; --tau) {
      double sum = 0;
      int senders = 1;
      for (Role& role : roles_) {
        for (Reception& r : role.receptions) {
          if (r.step != tau) continue;
          r.value = 1;
          for (int step : role.sends) {
            if (step >= tau + L_) r.value += yield_[at(step)] / role.old_enough(step - L_);
          }
          sum += r.value;
        }
        if (role.offers_at(tau, L_)) ++senders;
      }
      yield_[at(tau)] = sum / senders;
    }
  }

  bool colour_step(int tau) {
    std::vector<std::pair<int, int>> receivers;  // (role, index of reception)
    std::vector<int> senders;                    // roles; -1 is the source
    for (int q = 0; q < static_cast<int>(roles_.size()); ++q) {
      const Role& role = roles_[at(q)];
      for (int i = 0; i < role.early; ++i) {
        if (role.receptions[at(i)].step == tau) receivers.emplace_back(q, i);
      }
      if (role.offers_at(tau, L_)) {
        senders.push_back(q);
        const int held = role.old_enough(tau - L_);
        for (int i = 0; i < held; ++i) weight_[at(role.receptions[at(i)].colour)] -= yield_[at(tau)] / held;
      }
    }
    senders.push_back(-1);
    for (std::size_t i = receivers.size(); i > 1; --i) {
      std::swap(receivers[i - 1], receivers[at(random_.below(static_cast<int>(i)))]);
    }
    std::stable_sort(receivers.begin(), receivers.end(), [this](auto a, auto b) {
      if (a.second != b.second) return a.second > b.second;
      return roles_[at(a.first)].receptions[at(a.second)].value > roles_[at(b.first)].receptions[at(b.second)].value;
    });
    std::vector<char> used(senders.size(), 0);
    for (auto [q, i] : receivers) {
      if (!take_lightest(q, i, tau, senders, used)) return false;
    }
    return true;
  }

  bool take_lightest(int q, int i, int tau, const std::vector<int>& senders, std::vector<char>& used) {
    int best_sender = -1;
    int best_colour = -1;
    double best = 0;
    for (int c = 0; c < kappa_; ++c) {
      if (roles_[at(q)].holds(c, tau)) continue;
      int sender = -1;
      int options = kappa_ + 1;  // take the least flexible sender
      for (int s = 0; s < static_cast<int>(senders.size()); ++s) {
        if (used[at(s)] != 0) continue;
        const bool source = senders[at(s)] < 0;
        if (!source && !roles_[at(senders[at(s)])].holds(c, tau - L_)) continue;
        const int has = source ? kappa_ : roles_[at(senders[at(s)])].old_enough(tau - L_);
        if (has < options) options = has, sender = s;
      }
      if (sender < 0) continue;
      const double price = weight_[at(c)] + noise_ * random_.unit();
      if (best_sender < 0 || price < best) best = price, best_sender = sender, best_colour = c;
    }
    if (best_sender < 0) return false;
    used[at(best_sender)] = 1;
    Reception& reception = roles_[at(q)].receptions[at(i)];
    reception.colour = best_colour;
    weight_[at(best_colour)] += reception.value;
    return true;
  }

  void start_late() {
    balance_.assign(at(D_ * kappa_), 0);
    offers_.clear();
    movable_offers_.clear();
    movable_roles_.clear();
    for (int q = 0; q < static_cast<int>(roles_.size()); ++q) {
      Role& role = roles_[at(q)];
      const auto size = static_cast<int>(role.receptions.size());
      std::vector<int> missing;
      for (int c = 0; c < kappa_; ++c) {
        bool has = false;
        for (int i = 0; i < role.early; ++i) has = has || role.receptions[at(i)].colour == c;
        if (!has) missing.push_back(c);
      }
      missing.resize(at(std::max(size - role.early, static_cast<int>(missing.size()))), kNone);
      for (std::size_t i = missing.size(); i > 1; --i) {
        std::swap(missing[i - 1], missing[at(random_.below(static_cast<int>(i)))]);
      }
      for (int i = role.early; i < size; ++i) {
        role.receptions[at(i)].colour = missing[at(i - role.early)];
        add(role.receptions[at(i)].step, role.receptions[at(i)].colour, -1);
      }
      if (size - role.early >= 2) movable_roles_.push_back(q);
      for (int step : role.sends) {
        if (step < D_ - L_) continue;
        const int options = role.old_enough(step - L_);
        if (options == 0) continue;
        Offer offer{q, step, options, random_.below(options)};
        add(step, role.receptions[at(offer.choice)].colour, 1);
        if (options > 1) movable_offers_.push_back(static_cast<int>(offers_.size()));
        offers_.push_back(offer);
      }
    }
    source_.assign(at(D_), kNone);
    for (int step = std::max(0, D_ - L_); kappa_ > 0 && step < D_; ++step) {
      source_[at(step)] = random_.below(kappa_);
      add(step, source_[at(step)], 1);
    }
    cost_ = 0;
    for (int b : balance_) cost_ += std::max(0, -b);
  }

  /// Adds to what is offered minus what is wanted; returns the change of the cost.
  int add(int step, int colour, int by) {
    if (colour == kNone) return 0;
    int& b = balance_[at(step * kappa_ + colour)];
    const int before = std::max(0, -b);
    b += by;
    return std::max(0, -b) - before;
  }

  /// A change of what is offered minus what is wanted.
  struct Change {
    int step, colour, by;
  };

  /// Makes the changes if Metropolis' rule accepts what they cost.
  bool attempt(std::span<const Change> changes, double temperature) {
    int cost = 0;
    for (const Change& c : changes) cost += add(c.step, c.colour, c.by);
    const bool accepted = accept(cost, temperature, random_);
    if (accepted) cost_ += cost;
    for (std::size_t i = 0; i < changes.size() && !accepted; ++i)
      add(changes[i].step, changes[i].colour, -changes[i].by);
    return accepted;
  }

  void change_offer(double temperature) {
    Offer& offer = offers_[at(movable_offers_[at(random_.below(static_cast<int>(movable_offers_.size())))])];
    const Role& role = roles_[at(offer.role)];
    const int choice = random_.below(offer.options);
    const int before = role.receptions[at(offer.choice)].colour;
    const int after = role.receptions[at(choice)].colour;
    if (before == after) return;
    const Change changes[] = {{offer.step, before, -1}, {offer.step, after, 1}};
    if (attempt(changes, temperature)) offer.choice = choice;
  }

  void change_source(double temperature) {
    const int first = std::max(0, D_ - L_);
    const int step = first + random_.below(D_ - first);
    const int before = source_[at(step)];
    const int after = random_.below(kappa_);
    const Change changes[] = {{step, before, -1}, {step, after, 1}};
    if (attempt(changes, temperature)) source_[at(step)] = after;
  }

  void swap_colours(double temperature) {
    Role& role = roles_[at(movable_roles_[at(random_.below(static_cast<int>(movable_roles_.size())))])];
    const int late = static_cast<int>(role.receptions.size()) - role.early;
    const int a = random_.below(late);
    const int b = (a + 1 + random_.below(late - 1)) % late;
    Reception& x = role.receptions[at(role.early + a)];
    Reception& y = role.receptions[at(role.early + b)];
    const Change changes[] = {
        {x.step, x.colour, 1}, {y.step, y.colour, 1}, {x.step, y.colour, -1}, {y.step, x.colour, -1}};
    if (attempt(changes, temperature)) std::swap(x.colour, y.colour);
  }

  Random& random_;
  int L_;
  int D_;
  int kappa_;
  std::vector<Role> roles_;
  std::vector<double> yield_;   ///< by step: the expected worth of a send
  std::vector<double> weight_;  ///< by colour: the expected total of its receptions
  double noise_ = 0;
  std::vector<Offer> offers_;
  std::vector<int> movable_offers_, movable_roles_;
  std::vector<int> source_;   ///< the source's colour by step
  std::vector<int> balance_;  ///< offers minus wants, by step and colour
  int cost_ = 0;
};

/// Fills kernel.colours so that (E1) and (E2) hold: each role gets every colour once and every step can be matched.
/// False after `iterations` moves without success, which proves nothing. REQUIRES the steady conditions.
bool colour_endgame(Kernel& kernel, std::int64_t iterations, Random& random) {
  Colouring colouring(endgame_of(kernel), random);
  if (!colouring.colour_early(3 * random.unit()) || !colouring.colour_late(iterations)) return false;
  kernel.colours = colouring.colours();
  return true;
}

}  // namespace

std::optional<Kernel> search(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed,
                             std::int64_t moves) {
  const Counting counting = count(M, L);
  const int latency = static_cast<int>(L);
  const std::int64_t circle_moves = 2000 * (M + 1);
  const std::int64_t colour_moves = 20000 + 200 * M * (counting.k_star + 1);
  for (std::int64_t attempt = 0; attempt < attempts; ++attempt) {
    for (int j = 0; j < (counting.slack == 0 ? 1 : 2); ++j) {
      Random random(seed + 0x100000001b3ULL * static_cast<std::uint64_t>((M * 64 + L) * 2 + j) +
                    0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(attempt + 1));
      moves -= circle_moves;
      if (moves < 0) return std::nullopt;
      const auto tree = random_tree(counting, j, counting.slack, random);
      if (!tree) continue;
      auto group = arrange_on_circle(*tree, latency, circle_moves, random);
      if (!group) continue;
      Kernel kernel{static_cast<int>(M), latency, j, {std::move(*group)}, {}};
      for (int tries = 0; tries < 5; ++tries) {
        moves -= colour_moves;
        if (moves < 0) return std::nullopt;
        if (colour_endgame(kernel, colour_moves, random)) return kernel;
      }
    }
  }
  return std::nullopt;
}

}  // namespace chasqui::forge
