// SPDX-License-Identifier: MIT
#include "solve/paper_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {
namespace {

using Terms = std::vector<Program::Term>;

/// The paper's f_1, f_2, … up to the first that reaches `enough`; entry 0 is unused.
std::vector<std::int64_t> sequence(std::int64_t L, std::int64_t enough) {
  std::vector<std::int64_t> f{0};
  while (f.back() < enough) {
    const std::size_t i = f.size();
    f.push_back(static_cast<std::int64_t>(i) <= L ? 1 : f[i - 1] + f[i - static_cast<std::size_t>(L)]);
  }
  return f;
}

/// Constraint 5: only what was received is sent.
void send_what_was_received(PaperProgram& paper, std::int64_t first_processor) {
  for (std::int64_t p = first_processor; p <= paper.P; ++p) {
    for (std::int64_t i = 1; i <= paper.k; ++i) {
      Terms received;
      for (std::int64_t t = 1; t <= paper.last_step; ++t) {
        received.push_back({paper.receive(i, p, t), 1});
        Terms row = received;
        row.push_back({paper.send(i, p, t), -1});
        paper.program.at_least(std::move(row), 0);
      }
    }
  }
}

/// All items, one processor, one step.
template <typename Column>
Terms over_items(const PaperProgram& paper, Column column) {
  Terms terms;
  for (std::int64_t i = 1; i <= paper.k; ++i) terms.push_back({column(i), 1});
  return terms;
}

}  // namespace

std::int64_t printed_lower_bound(std::int64_t P, std::int64_t L, std::int64_t k) {
  const std::vector<std::int64_t> f = sequence(L, P - 1);
  const auto r = static_cast<std::int64_t>(f.size()) - 2;  // the largest index with f_r < P-1
  const std::int64_t k_star = std::accumulate(f.begin(), f.begin() + r + 1, std::int64_t{0}) / (P - 1);
  return (r + 1) + L + (k - 1) - k_star;
}

std::int64_t printed_upper_bound(std::int64_t P, std::int64_t L, std::int64_t k) { return L + (k - 1) + L + (P - 1); }

PaperProgram::PaperProgram(std::int64_t processors, std::int64_t latency, std::int64_t items, std::int64_t steps)
    : P(processors), L(latency), k(items), last_step(steps), receive_(static_cast<int>(items * processors * steps)) {
  for (int column = 0; column < 2 * receive_ + static_cast<int>(steps); ++column) program.add_column();
}

PaperProgram literal_program(std::int64_t P, std::int64_t L, std::int64_t k, std::int64_t last_step) {
  PaperProgram paper(P, L, k, last_step);
  Program& program = paper.program;
  const std::int64_t fixed = printed_lower_bound(P, L, k) - L;  // "sends must be enabled up to time T_lb - L"
  for (std::int64_t t = 1; t <= last_step; ++t) {
    for (std::int64_t p = 1; p <= P; ++p) {  // 1
      Terms row = over_items(paper, [&](std::int64_t i) { return paper.send(i, p, t); });
      if (t <= fixed) {
        program.at_most(std::move(row), 1);
      } else {
        row.push_back({paper.enabled(t), -1});
        program.at_most(std::move(row), 0);
      }
      if (p == 1) continue;  // 3: not for the source
      program.at_most(over_items(paper, [&](std::int64_t i) { return paper.receive(i, p, t); }), 1);
    }
    if (t < last_step) program.at_least({{paper.enabled(t), 1}, {paper.enabled(t + 1), -1}}, 0);  // 2
    if (t > fixed) program.columns[static_cast<std::size_t>(paper.enabled(t))].objective = 1;     // 7
  }
  for (std::int64_t p = 2; p <= P; ++p) {  // 4
    for (std::int64_t i = 1; i <= k; ++i) {
      Terms row;
      for (std::int64_t t = 1; t <= last_step; ++t) row.push_back({paper.receive(i, p, t), 1});
      program.equal(std::move(row), 1);
    }
  }
  send_what_was_received(paper, 2);                    // 5
  for (std::int64_t t = 1; t + L <= last_step; ++t) {  // 6: nothing is said of receptions in steps 1 .. L
    for (std::int64_t i = 1; i <= k; ++i) {
      Terms row;
      for (std::int64_t p = 1; p <= P; ++p) {
        row.push_back({paper.send(i, p, t), 1});
        row.push_back({paper.receive(i, p, t + L), -1});
      }
      program.equal(std::move(row), 0);
    }
  }
  return paper;
}

PaperProgram reduced_program(std::int64_t P, std::int64_t L) {
  const std::vector<std::int64_t> f = sequence(L, P);  // one beyond P-1
  std::int64_t R = static_cast<std::int64_t>(f.size()) - 1;
  while (f[static_cast<std::size_t>(R)] > P - 1) --R;
  // senders[i]: how many processors other than the source send item 1 in step i.
  std::vector<std::int64_t> senders{0};
  std::int64_t sent = 0;
  for (std::int64_t i = 1; i <= R - L; ++i) {
    senders.push_back(f[static_cast<std::size_t>(i)]);
    sent += senders.back();
  }
  if (P - 2 - sent > 0) senders.push_back(P - 2 - sent);
  const std::int64_t last_send = static_cast<std::int64_t>(senders.size()) - 1;  // of item 1
  const std::int64_t T1 = last_send == 0 ? 1 : last_send + L;
  PaperProgram paper(P, L, T1, T1);
  Program& program = paper.program;
  const auto count = [&](std::int64_t i) {
    return i >= 1 && i < static_cast<std::int64_t>(senders.size()) ? senders[static_cast<std::size_t>(i)] : 0;
  };
  for (std::int64_t t = 1; t <= T1; ++t) {
    for (std::int64_t p = 2; p <= P; ++p) {
      program.at_most(over_items(paper, [&](std::int64_t i) { return paper.send(i, p, t); }), 1);
      program.at_most(over_items(paper, [&](std::int64_t i) { return paper.receive(i, p, t); }), 1);
    }
    for (std::int64_t i = 1; i <= T1; ++i) {
      Terms sends, receptions;
      for (std::int64_t p = 2; p <= P; ++p) {
        sends.push_back({paper.send(i, p, t), 1});
        receptions.push_back({paper.receive(i, p, t), 1});
      }
      program.equal(std::move(sends), static_cast<int>(count(t - (i - 1))));
      program.equal(std::move(receptions), static_cast<int>(count(t - L - (i - 1)) + (t == i ? 1 : 0)));
    }
  }
  send_what_was_received(paper, 2);
  for (std::int64_t i = 1; i <= T1; ++i) {
    for (std::int64_t p = 1; p <= P; ++p) {
      Terms row;
      for (std::int64_t t = 1; t <= T1; ++t) {
        row.push_back({paper.receive(i, p, t), 1});
        if (p == 1) program.fix_to_zero(paper.receive(i, p, t)), program.fix_to_zero(paper.send(i, p, t));
        // Who begins to send goes on, but for the last step.
        if (p > 1 && t + 1 <= T1 && t + 1 < last_send + i) {
          program.at_least({{paper.send(i, p, t + 1), 1}, {paper.send(i, p, t), -1}}, 0);
        }
      }
      program.at_most(std::move(row), 1);
    }
  }
  return paper;
}

std::optional<Schedule> PaperProgram::decode(const Point& point) const {
  Schedule schedule;
  schedule.machine = LogP::postal(P, Time{L});
  schedule.problem = {.kind = Kind::broadcast, .items = k};
  for (std::int64_t i = 1; i <= k; ++i) {
    for (std::int64_t t = 1; t <= last_step; ++t) {
      std::vector<Rank> senders;
      for (std::int64_t p = 1; p <= P && t > L; ++p) {
        if (point[static_cast<std::size_t>(send(i, p, t - L))])
          senders.push_back(Rank{static_cast<std::int32_t>(p - 1)});
      }
      std::size_t used = 0;
      for (std::int64_t p = 1; p <= P; ++p) {
        if (!point[static_cast<std::size_t>(receive(i, p, t))]) continue;
        if (used == senders.size()) return std::nullopt;
        schedule.sends.push_back(send_item(Time{t - L - 1}, senders[used++], Rank{static_cast<std::int32_t>(p - 1)},
                                           static_cast<std::int32_t>(i - 1)));
        schedule.finish = std::max(schedule.finish, Time{t - 1});
      }
    }
  }
  normalise(schedule);
  return schedule;
}

Cnf formula(const Program& program) {
  Cnf cnf;
  for (const Program::Column& column : program.columns) {
    const Literal x = cnf.fresh();
    if (column.most == 0) cnf.clause({-x});
  }
  for (const Program::Row& row : program.rows) {
    std::vector<Literal> literals;
    int negated = 0;  // -x is (not x) - 1
    for (const Program::Term& term : row.terms) {
      CHASQUI_CHECK(std::abs(term.coefficient) == 1, "coefficient={}", term.coefficient);
      literals.push_back(term.coefficient * (term.column + 1));
      negated += term.coefficient < 0 ? 1 : 0;
    }
    const int size = static_cast<int>(literals.size());
    const int least = row.least + negated;  // meaningless where unbounded, and then not used
    const int most = row.most + negated;
    if (row.most != Program::kUnbounded && most < size) {
      if (most < 0) {
        cnf.clause({});
      } else if (most == 1) {
        at_most_one(cnf, literals);
      } else {
        const auto wanted = static_cast<std::size_t>(most);
        cnf.clause({-count(cnf, literals, Counts::from_below, wanted + 1)[wanted]});
      }
    }
    if (row.least != -Program::kUnbounded && least > 0) {
      if (least > size) {
        cnf.clause({});
      } else if (least == 1) {
        cnf.clause(literals);
      } else {
        const auto wanted = static_cast<std::size_t>(least);
        cnf.clause({count(cnf, literals, Counts::from_above, wanted)[wanted - 1]});
      }
    }
  }
  return cnf;
}

}  // namespace chasqui::solve
