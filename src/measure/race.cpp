// SPDX-License-Identifier: MIT
#include "measure/race.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "measure/sample_call.hpp"

namespace chasqui::measure {
namespace {

constexpr unsigned kSeed = 7;
constexpr double kNever = std::numeric_limits<double>::max();
constexpr double kMostLate = 0.05;     ///< of a call: a round that somebody began later than that does not count
constexpr double kRoom = 1.5;          ///< times what a call took so far: its slot
constexpr std::size_t kTogether = 64;  ///< calls between two agreements

/// What a rank must have at the end, where everybody gives ones; 0: nothing.
double expected(Kind kind, int rank, int ranks) {
  switch (kind) {
    case Kind::reduce: return rank == 0 ? ranks : 0;
    case Kind::gather: return rank == 0 ? 1 : 0;
    case Kind::allreduce:
    case Kind::reduce_scatter: return ranks;
    case Kind::scan: return rank + 1;
    case Kind::barrier: return 0;
    default: return 1;
  }
}

bool is_right(SampleCall& sample, int rank, int ranks) {
  const double value = expected(sample.call().kind, rank, ranks);
  if (value == 0) return true;
  const Kind kind = sample.call().kind;
  const bool one_block = kind == Kind::reduce_scatter || kind == Kind::scatter;
  const auto count = one_block ? static_cast<std::size_t>(sample.call().count) : sample.out().size();
  return std::all_of(sample.out().begin(), sample.out().begin() + static_cast<std::ptrdiff_t>(count),
                     [&](double got) { return got == value; });
}

struct Runner {
  const Contestant* who = nullptr;
  bool works = true, checked = false;
  double first = kNever;            ///< the least of all so far, as far as anybody knows
  int rounds = 0;                   ///< that it may have
  std::vector<double> spans, late;  ///< of rounds that all began in time, and of the others

  Quartiles times() const { return Quartiles::of(spans.empty() ? late : spans); }
};

}  // namespace

std::vector<Raced> race(run::Comm& comm, CommonStart& start, Kind kind, std::size_t bytes,
                        const std::vector<Contestant>& contestants, const RaceOptions& options) {
  SampleCall sample(kind, bytes, comm.size());
  std::vector<Runner> runners(contestants.size());
  for (std::size_t i = 0; i < runners.size(); ++i) {
    runners[i].who = &contestants[i];
    if (contestants[i].expected > 0) runners[i].first = contestants[i].expected;
  }
  const double filling = 2 * static_cast<double>(sample.out().size() * sizeof(double));  // nanoseconds, generously
  /// Together, in this order; `counts`: their times do.
  const auto play = [&](const std::vector<std::size_t>& order, bool counts) {
    for (std::size_t from = 0; from < order.size(); from += kTogether) {
      const std::size_t n = std::min(kTogether, order.size() - from);
      const auto runner = [&](std::size_t i) -> Runner& { return runners[order[from + i]]; };
      std::vector<double> slots(n);
      std::vector<char> checks(n), ran(n);
      for (std::size_t i = 0; i < n; ++i) {
        checks[i] = !runner(i).checked;
        runner(i).checked = true;
        const double known = runner(i).first < kNever ? runner(i).first : 0;
        slots[i] = kRoom * known + start.slack() + (checks[i] ? filling : 0);
      }
      const auto timed = start.several(
          slots, {[&](std::size_t i) {
                    const bool gives = kind == Kind::broadcast && comm.rank() == 0;
                    if (checks[i]) std::fill(sample.out().begin(), sample.out().end(), gives ? 1.0 : 0.0);
                    runner(i).who->prepare();
                  },
                  [&](std::size_t i) { ran[i] = runner(i).who->run(sample.call()); },
                  [&](std::size_t i) {
                    return checks[i] && (!ran[i] || !is_right(sample, comm.rank(), comm.size())) ? 1.0 : 0.0;
                  }});
      for (std::size_t i = 0; i < n; ++i) {
        const auto& [span, late, wrong] = timed[i];
        if (wrong != 0) runner(i).works = false;
        const double least = std::max(span - late, span / 2);
        runner(i).first = runner(i).who->expected > 0 && runner(i).first == runner(i).who->expected
                              ? least
                              : std::min(runner(i).first, least);
        if (counts) (late <= kMostLate * span + start.slack() / 5 ? runner(i).spans : runner(i).late).push_back(span);
      }
    }
  };
  const auto fastest = [&] {
    double least = kNever;
    for (const Runner& runner : runners) {
      if (runner.works) least = std::min(least, runner.first);
    }
    return least;
  };
  for (std::size_t i = 0; i < runners.size(); ++i) {  // one at a time: nobody knows how long they take
    for (int again = 0; again < options.warm || (again == 0 && runners[i].first == kNever); ++again) {
      play({i}, options.warm == 0);
      if (!runners[i].works || runners[i].first > options.hopeless * fastest()) break;
    }
  }
  std::vector<std::size_t> who(runners.size());
  std::iota(who.begin(), who.end(), std::size_t{0});
  std::mt19937 random(kSeed);  // the same everywhere
  const auto rounds_of_all = [&](int from, int to) {
    std::vector<std::size_t> order;
    for (int round = from; round < to; ++round) {
      std::shuffle(who.begin(), who.end(), random);
      for (const std::size_t i : who) {
        if (runners[i].works && round < runners[i].rounds) order.push_back(i);
      }
    }
    play(order, true);
    // Who always began late, because somebody took longer than his slot, runs again in slots that fit.
    order.clear();
    for (int round = from; round < from + (to - from + 1) / 2; ++round) {
      for (const std::size_t i : who) {
        if (runners[i].works && round < runners[i].rounds && runners[i].spans.empty()) order.push_back(i);
      }
    }
    play(order, true);
  };
  const double fitting = fastest() < kNever ? options.time / fastest() / options.rounds : 1;
  const int more = static_cast<int>(std::clamp(fitting, 1.0, static_cast<double>(options.most)));
  const int few = more * options.few, rounds = more * options.rounds;
  const auto kept = [&](const Runner& runner) { return runner.who < contestants.data() + options.kept; };
  const double known = fastest();
  for (Runner& runner : runners) runner.rounds = runner.first > options.hopeless * known && !kept(runner) ? 1 : few;
  rounds_of_all(0, few);
  double least = kNever;
  for (const Runner& runner : runners) {
    if (runner.works) least = std::min(least, runner.times().low);
  }
  for (Runner& runner : runners) {
    if (runner.works) runner.rounds = kept(runner) || runner.times().low <= options.near * least ? rounds : 0;
  }
  rounds_of_all(few, rounds);
  std::vector<Raced> raced;
  for (const Runner& runner : runners)
    raced.push_back({runner.works, runner.works ? runner.times() : Quartiles{}, !runner.spans.empty()});
  return raced;
}

}  // namespace chasqui::measure
