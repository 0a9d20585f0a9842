// SPDX-License-Identifier: MIT
#include "verify/folds.hpp"

#include <algorithm>
#include <limits>

namespace chasqui::verifier {

Contributions::Contributions(const Case& c) : P_(c.machine().P) {
  if (c.problem().kind != Kind::sum) return;
  before_.reserve(c.schedule().operands.size() + 1);
  before_.push_back(0);
  for (const std::int64_t operands : c.schedule().operands) before_.push_back(before_.back() + (operands > 0 ? 1 : 0));
}

Piece Contributions::piece(const Part& part, std::int64_t available) const {
  const std::int64_t lo = part.lo;
  const std::int64_t end = lo + part.len;
  std::int64_t len = before(std::min(end, P_)) - before(lo);
  if (end > P_) len += before(end - P_);
  return {count() == 0 ? 0 : before(lo) % count(), len, available};
}

std::optional<Part> promised_fold(const Case& c, Rank rank) {
  const auto P = static_cast<std::int32_t>(c.machine().P);
  switch (c.problem().kind) {
    case Kind::reduce:
    case Kind::sum:
      if (rank != c.problem().root) return std::nullopt;
      return Part{0, P};
    case Kind::scan: {
      const std::int32_t len = rank.index + (c.problem().exclusive ? 0 : 1);
      if (len == 0) return std::nullopt;
      return Part{0, len};
    }
    default: return Part{0, P};
  }
}

Folds judge_folds(const Case& c) {
  const Contributions contributions(c);
  const bool barrier = c.problem().kind == Kind::barrier;
  Folds folds;
  folds.message.assign(c.schedule().sends.size(), Cover::exact);
  folds.result.assign(c.ranks().count(), Cover::exact);
  Pieces has(contributions.count(), c.problem().commutative);

  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const Rank rank = c.ranks().rank(id);
    has.clear();
    has.add(contributions.piece({rank.index, 1}, 0));
    for (const Event& event : c.receptions().of(id)) {
      const Send& send = c.message(event.index);
      has.add(contributions.piece(send.part, c.available(event.index)));
      if (send.second.len > 0) has.add(contributions.piece(send.second, c.available(event.index)));
    }
    has.sort();

    Part proved{};  // a fold once made can be made again
    const auto judge = [&](const Part& part, std::int64_t time) {
      const Piece wanted = contributions.piece(part, time);
      if (part == proved && time >= 0) return Cover::exact;
      Cover cover = Cover::exact;
      if (!barrier) {
        cover = has.tile(wanted.lo, wanted.len, time);
      } else if (!has.heard(wanted.lo, wanted.len, time)) {
        cover = Cover::missing;
      }
      if (cover == Cover::exact) proved = part;
      return cover;
    };
    for (const Event& event : c.sends().of(id)) {
      const Send& send = c.message(event.index);
      Cover cover = judge(send.part, event.time);
      if (send.second.len > 0) cover = std::max(cover, judge(send.second, event.time));
      folds.message[event.index] = cover;
    }

    const std::optional<Part> promise = promised_fold(c, rank);
    if (!promise) continue;
    constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
    folds.result[id] = judge(*promise, kEver);
  }
  return folds;
}

}  // namespace chasqui::verifier
