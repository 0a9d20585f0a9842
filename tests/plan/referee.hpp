// SPDX-License-Identifier: MIT
// A small brute-force judge of all-to-all schedules, independent of the planners and of the verifier: it
// plays the rules literally and returns the first complaint, or "".
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::referee {

struct Piece {
  std::int64_t at;  ///< available from
  std::int64_t lo, len;
};

/// Can [lo, lo+len) be made of whole pieces, available by `t`, one after the other (cyclically)?
inline bool made_of(const std::vector<Piece>& pieces, std::int64_t t, std::int64_t lo, std::int64_t len,
                    std::int64_t P) {
  if (len == 0) return true;
  for (const Piece& piece : pieces) {
    if (piece.at <= t && piece.lo == lo && piece.len > 0 && piece.len <= len &&
        made_of(pieces, t, (lo + piece.len) % P, len - piece.len, P)) {
      return true;
    }
  }
  return false;
}

/// Rules 2 to 6 except what is carried.
inline std::string timing(const Schedule& s) {
  const auto& m = s.machine;
  const std::int64_t G = std::max(m.g.ticks, m.o.ticks), o = m.o.ticks, L = m.L.ticks;
  std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(m.P)), in(static_cast<std::size_t>(m.P));
  for (const Send& x : s.sends) {
    if (x.from == x.to || x.from.index < 0 || x.to.index < 0 || x.from.index >= m.P || x.to.index >= m.P) {
      return fmt::format("rule 6: {} to {}", x.from.index, x.to.index);
    }
    if (x.begin.ticks < 0) return "begins before 0";
    out[static_cast<std::size_t>(x.from.index)].push_back(x.begin.ticks);
    in[static_cast<std::size_t>(x.to.index)].push_back(x.begin.ticks + o + L);
  }
  for (std::size_t r = 0; r < out.size(); ++r) {
    std::sort(out[r].begin(), out[r].end());
    std::sort(in[r].begin(), in[r].end());
    for (std::size_t i = 1; i < out[r].size(); ++i) {
      if (out[r][i] - out[r][i - 1] < G) return fmt::format("rule 2: rank {} at {}", r, out[r][i]);
    }
    for (std::size_t i = 1; i < in[r].size(); ++i) {
      if (in[r][i] - in[r][i - 1] < G) return fmt::format("rule 3: rank {} at {}", r, in[r][i]);
    }
    for (const std::int64_t a : out[r]) {
      const auto b = std::upper_bound(in[r].begin(), in[r].end(), a - o);
      if (o > 0 && b != in[r].end() && *b < a + o) return fmt::format("rule 4: rank {} at {}", r, a);
    }
    const auto in_flight = [&](const std::vector<std::int64_t>& begins) {
      std::size_t most = 0;
      for (const std::int64_t t : begins) {
        most = std::max(most, static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), t + L) -
                                                       std::lower_bound(begins.begin(), begins.end(), t)));
      }
      return most;
    };
    const auto capacity = static_cast<std::size_t>((L + m.g.ticks - 1) / m.g.ticks);
    if (in_flight(out[r]) > capacity || in_flight(in[r]) > capacity) return fmt::format("rule 5: rank {}", r);
  }
  return "";
}

inline std::string judge(const Schedule& s) {
  if (std::string complaint = timing(s); !complaint.empty()) return complaint;
  const std::int64_t P = s.machine.P, k = s.problem.items;
  const bool folds = combines(s.problem.kind);
  std::vector<std::vector<Piece>> has(static_cast<std::size_t>(P));
  std::int64_t finish = 0;
  for (std::int64_t r = 0; r < P; ++r) {
    if (folds) has[static_cast<std::size_t>(r)].push_back({0, r, 1});
    else
      for (std::int64_t i = 0; i < k; ++i) has[static_cast<std::size_t>(r)].push_back({0, r * k + i, 1});
  }
  for (const Send& x : s.sends) {  // in order of begin: what is sent at t was received from earlier entries
    auto& from = has[static_cast<std::size_t>(x.from.index)];
    auto& to = has[static_cast<std::size_t>(x.to.index)];
    const std::int64_t arrives = x.begin.ticks + s.machine.L.ticks + 2 * s.machine.o.ticks;
    finish = std::max(finish, arrives);
    for (const Part& part : {x.part, x.second}) {
      if (part.len == 0) continue;
      if (folds && !s.problem.commutative && part.lo + part.len > P) return "a part runs over the end";
      if (!made_of(from, x.begin.ticks, part.lo, part.len, folds ? P : P * k)) {
        return fmt::format("rule 1: rank {} at {} lacks {}+{}", x.from.index, x.begin.ticks, part.lo, part.len);
      }
      to.push_back({arrives, part.lo, part.len});
    }
  }
  if (finish != s.finish.ticks) return fmt::format("finish is {}, claimed {}", finish, s.finish.ticks);
  for (std::int64_t r = 0; r < P; ++r) {
    const auto& mine = has[static_cast<std::size_t>(r)];
    const bool result = folds && std::any_of(mine.begin(), mine.end(), [&](const Piece& p) { return p.len == P; });
    if (result && P > 1) continue;  // it is told the fold of all, and needs nothing else
    std::vector<int> seen(static_cast<std::size_t>(folds ? P : P * k), 0);
    for (const Piece& p : mine) {
      for (std::int64_t i = 0; i < p.len; ++i)
        ++seen[static_cast<std::size_t>((p.lo + i) % static_cast<std::int64_t>(seen.size()))];
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const bool wanted = s.problem.kind != Kind::scan || static_cast<std::int64_t>(i) <= r;
      if (seen[i] != (wanted ? 1 : 0)) return fmt::format("rule 7: rank {} has {} {} times", r, i, seen[i]);
    }
    if (s.problem.kind == Kind::scan && !made_of(mine, finish, 0, r + (s.problem.exclusive ? 0 : 1), P)) {
      return fmt::format("rule 7: rank {} cannot fold its prefix in order", r);
    }
    if (s.problem.kind == Kind::allreduce && !s.problem.commutative && !made_of(mine, finish, 0, P, P)) {
      return fmt::format("rule 7: rank {} cannot fold in order", r);
    }
  }
  return "";
}

}  // namespace chasqui::referee
