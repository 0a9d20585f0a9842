// SPDX-License-Identifier: MIT
#include "verify/legal_examples.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace chasqui::examples {
namespace {

Schedule empty(const LogP& machine, const Problem& problem) {
  Schedule s;
  s.machine = machine;
  s.problem = problem;
  return s;
}

void close(Schedule& s) {
  normalise(s);
  for (const Send& send : s.sends) s.finish = std::max(s.finish, available(s.machine, send));
  for (const Add& add : s.adds) s.finish = std::max(s.finish, add.begin + Time{add.count});
}

std::int32_t mod(std::int64_t a, std::int64_t m) { return static_cast<std::int32_t>((a % m + m) % m); }

/// Rounds far enough apart that nothing of one meets the next.
Time round_length(const LogP& m) { return std::max(m.lambda(), m.gap()); }

/// w_0 = 1 < … < w_J = P with w_j <= 2 w_{j-1}.
std::vector<std::int64_t> windows(std::int64_t P) {
  std::vector<std::int64_t> w{P};
  while (w.front() > 1) w.insert(w.begin(), (w.front() + 1) / 2);
  return w;
}

}  // namespace

Schedule greedy_broadcast(const LogP& machine, Rank root) {
  Schedule s = empty(machine, {Kind::broadcast, root});
  using Offer = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
  offers.emplace(0, root.index);
  for (std::int32_t r = 0; r < machine.P; ++r) {
    if (r == root.index) continue;
    const auto [t, from] = offers.top();
    offers.pop();
    s.sends.push_back(send_item(Time{t}, Rank{from}, Rank{r}, 0));
    offers.emplace(t + machine.gap().ticks, from);
    offers.emplace(t + machine.lambda().ticks, r);
  }
  close(s);
  return s;
}

Schedule reversed_reduce(const LogP& machine, bool commutative) {
  // A chain: rank r sends what lies to its right, so that intervals stay in order; the broadcast tree
  // backwards would need preorder numbers.
  Schedule s = empty(machine, {.kind = Kind::reduce, .commutative = commutative});
  const auto P = static_cast<std::int32_t>(machine.P);
  for (std::int32_t r = P - 1; r > 0; --r) {
    s.sends.push_back({Time{(P - 1 - r) * machine.lambda().ticks}, Rank{r}, Rank{r - 1}, {r, P - r}});
  }
  close(s);
  return s;
}

Schedule star_scatter(const LogP& machine, Rank root) {
  Schedule s = empty(machine, {Kind::scatter, root});
  Time t{0};
  for (std::int32_t r = 0; r < machine.P; ++r) {
    if (r == root.index) continue;
    s.sends.push_back(send_item(t, root, Rank{r}, r));
    t += machine.gap();
  }
  close(s);
  return s;
}

Schedule star_gather(const LogP& machine, Rank root) {
  Schedule s = star_scatter(machine, root);
  s.problem.kind = Kind::gather;
  for (Send& send : s.sends) std::swap(send.from, send.to);
  return s;
}

Schedule rotating_allgather(std::int64_t P, Time L) {
  Schedule s = empty(LogP::postal(P, L), {.kind = Kind::allgather});
  for (std::int32_t i = 0; i < P; ++i) {
    for (std::int32_t d = 1; d < P; ++d) s.sends.push_back(send_item(Time{d - 1}, Rank{i}, Rank{mod(i + d, P)}, i));
  }
  close(s);
  return s;
}

Schedule rotating_alltoall(const LogP& machine, std::int64_t items) {
  Schedule s = empty(machine, {.kind = Kind::alltoall, .items = items});
  const std::int64_t P = machine.P;
  for (std::int64_t round = 0; round < items * (P - 1); ++round) {
    const std::int64_t d = 1 + round % (P - 1);
    for (std::int32_t i = 0; i < P; ++i) {
      const std::int64_t item = (i * P + mod(i + d, P)) * items + round / (P - 1);
      s.sends.push_back(
          send_item(round * round_length(machine), Rank{i}, Rank{mod(i + d, P)}, static_cast<std::int32_t>(item)));
    }
  }
  close(s);
  return s;
}

Schedule alltoall_round_the_ring(const LogP& machine) {
  Schedule s = empty(machine, {.kind = Kind::alltoall});
  const std::int64_t P = machine.P;
  std::int64_t round = 0;
  for (std::int64_t d = 1; d < P; ++d) {  // the item of p for p + d goes d steps
    for (std::int64_t step = 0; step < d; ++step, ++round) {
      for (std::int64_t p = 0; p < P; ++p) {
        s.sends.push_back(send_item(round * round_length(machine), Rank{mod(p + step, P)}, Rank{mod(p + step + 1, P)},
                                    static_cast<std::int32_t>(p * P + mod(p + d, P))));
      }
    }
  }
  close(s);
  return s;
}

namespace {

/// Item r goes once round, from r + first to r + first - 1, in rounds from `round` on.
void send_round_the_ring(Schedule& s, std::int64_t items, std::int64_t first, std::int64_t round) {
  const std::int64_t P = s.machine.P;
  for (std::int64_t step = first; step < first + P - 1; ++step) {
    for (std::int64_t n = 0; n < items; ++n, ++round) {
      for (std::int64_t r = 0; r < P; ++r) {
        s.sends.push_back(send_item(round * round_length(s.machine), Rank{mod(r + step, P)}, Rank{mod(r + step + 1, P)},
                                    static_cast<std::int32_t>(r * items + n)));
      }
    }
  }
  close(s);
}

}  // namespace

Schedule ring_reduce_scatter(const LogP& machine, std::int64_t items, bool commutative) {
  Schedule s = empty(machine, {.kind = Kind::reduce_scatter, .items = items, .commutative = commutative});
  send_round_the_ring(s, items, 1, 0);
  return s;
}

Schedule ring_allreduce(const LogP& machine, std::int64_t items, bool commutative) {
  Schedule s = ring_reduce_scatter(machine, items, commutative);
  s.problem = {.kind = Kind::allreduce, .items = items * machine.P, .commutative = commutative};
  send_round_the_ring(s, items, 0, items * (machine.P - 1));
  return s;
}

Schedule doubling_allreduce(const LogP& machine) {
  Schedule s = empty(machine, {.kind = Kind::allreduce});
  const std::int64_t P = machine.P;
  const auto w = windows(P);
  for (std::size_t j = 1; j < w.size(); ++j) {
    const std::int64_t increment = w[j] - w[j - 1];  // w[j-1], or one less: without the sender's own value
    const std::int64_t own = w[j - 1] - increment;
    for (std::int64_t i = 0; i < P; ++i) {
      // Receiver i holds i-w[j-1]+1 .. i and gets the `increment` contributions before that.
      const std::int32_t sender = mod(i - w[j - 1] + own, P);
      s.sends.push_back({static_cast<std::int64_t>(j - 1) * round_length(machine),
                         Rank{sender},
                         Rank{static_cast<std::int32_t>(i)},
                         {mod(i - w[j] + 1, P), static_cast<std::int32_t>(increment)}});
    }
  }
  close(s);
  return s;
}

Schedule ordered_allreduce(const LogP& machine) {
  Schedule s = doubling_allreduce(machine);
  s.problem.commutative = false;
  const auto P = static_cast<std::int32_t>(machine.P);
  for (Send& send : s.sends) {
    const std::int32_t beyond = send.part.lo + send.part.len - P;
    if (beyond <= 0) continue;
    send.part.len -= beyond;
    send.second = {0, beyond};
  }
  close(s);
  return s;
}

Schedule doubling_scan(const LogP& machine, bool exclusive) {
  Schedule s = empty(machine, {.kind = Kind::scan, .exclusive = exclusive});
  const std::int64_t P = machine.P;
  std::int64_t w = 1;
  for (std::int64_t round = 0; w < P; ++round, w *= 2) {
    for (std::int64_t i = w; i < P; ++i) {
      const std::int64_t lo = std::max<std::int64_t>(0, i - 2 * w + 1);
      s.sends.push_back({round * round_length(machine),
                         Rank{static_cast<std::int32_t>(i - w)},
                         Rank{static_cast<std::int32_t>(i)},
                         {static_cast<std::int32_t>(lo), static_cast<std::int32_t>(i - w + 1 - lo)}});
    }
  }
  close(s);
  return s;
}

Schedule dissemination_barrier(const LogP& machine) {
  Schedule s = empty(machine, {.kind = Kind::barrier});
  const std::int64_t P = machine.P;
  std::int64_t w = 1;
  for (std::int64_t round = 0; w < P; ++round, w *= 2) {
    for (std::int64_t i = 0; i < P; ++i) {
      s.sends.push_back({round * round_length(machine),
                         Rank{static_cast<std::int32_t>(i)},
                         Rank{mod(i + w, P)},
                         {mod(i - w + 1, P), static_cast<std::int32_t>(std::min(w, P))}});
    }
  }
  close(s);
  return s;
}

Schedule star_sum(const LogP& machine) {
  Schedule s = empty(machine, {.kind = Kind::sum});
  s.operands.assign(static_cast<std::size_t>(machine.P), 2);
  s.adds.push_back({Time{0}, Rank{0}, Rank{0}, 1});
  // Each reception is followed by one addition; the first ends after the root's own addition.
  const Time step = std::max(machine.gap(), machine.o + Time{1});
  for (std::int32_t r = 1; r < machine.P; ++r) {
    const Time begin = Time{1} + (r - 1) * step;
    s.adds.push_back({begin - Time{1}, Rank{r}, Rank{r}, 1});
    s.sends.push_back({begin, Rank{r}, Rank{0}, {r, 1}});
    s.adds.push_back({begin + machine.lambda(), Rank{0}, Rank{r}, 1});
  }
  close(s);
  return s;
}

Schedule small_stream() {
  Schedule s = empty(LogP::postal(3, Time{1}), {.kind = Kind::stream});
  s.period = Time{2};
  s.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{0}, Rank{1}, Rank{2}, -1),
             send_item(Time{1}, Rank{0}, Rank{1}, 1), send_item(Time{1}, Rank{1}, Rank{2}, 0)};
  s.delay = Time{2};
  return s;
}

}  // namespace chasqui::examples
