// SPDX-License-Identifier: MIT
// Summation of n operands that the plan has placed: local additions go on while messages are under way, as many
// between two receptions as the plan says (docs/results.md, Trees). The operator must commute.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/sum.hpp"
#include "chasqui/run/backoff.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::run {

/// The fold of all operands at rank 0; elsewhere the part this rank sent on. `mine` are this rank's operands, as many as
/// plan.local(rank).operands. Blocking; nothing else may be in flight on the communicator. Ranks without operands return T{}.
template <typename T, typename F = Sum>
T sum(Comm& comm, const plan::SumPlan& plan, std::span<const T> mine, const F& op = F{}) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::uint32_t kSumTag = 32'300;
  if (plan.machine().P != comm.size() || comm.messages() == nullptr) {
    comm.refuse(fmt::format("sum: the plan is for {} ranks, this communicator has {}", plan.machine().P, comm.size()));
  }
  const LocalForm form = plan.local({comm.rank()});
  if (form.operands != std::ssize(mine)) {
    comm.refuse(fmt::format("sum: rank {} brings {} operands where the plan has {}", comm.rank(), mine.size(), form.operands));
  }
  if (mine.empty()) return T{};
  Transport& transport = *comm.messages();
  const auto finish = [&](Transport::Ticket ticket) {
    Backoff backoff(transport.size() > available_cores());
    while (!transport.done(ticket)) backoff.pause();
  };
  std::vector<T> arrived(form.receives.size());
  std::vector<Transport::Ticket> tickets;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    tickets.push_back(transport.receive(form.receives[i].from.index, kSumTag, &arrived[i], sizeof(T)));
  }
  T total = mine[0];
  std::size_t next = 1;
  const auto fold_own = [&](std::size_t count) {
    for (const std::size_t end = std::min(mine.size(), next + count); next < end; ++next) total = op(total, mine[next]);
  };
  for (const Add& add : form.adds) {
    if (add.from == form.rank) {
      fold_own(static_cast<std::size_t>(add.count));
      continue;
    }
    const auto message = std::find_if(form.receives.begin(), form.receives.end(),
                                      [&](const Send& send) { return send.from == add.from; });
    const auto i = static_cast<std::size_t>(message - form.receives.begin());
    finish(tickets[i]);
    total = op(total, arrived[i]);
  }
  fold_own(mine.size());
  for (const Send& send : form.sends) finish(transport.send(send.to.index, kSumTag, &total, sizeof(T)));
  return total;
}

}  // namespace chasqui::run
