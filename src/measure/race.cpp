// SPDX-License-Identifier: MIT
#include "measure/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "measure/sample_call.hpp"

namespace chasqui::measure {
namespace {

constexpr unsigned kSeed = 7;
constexpr double kNever = std::numeric_limits<double>::max();
constexpr double kMostLate = 0.05;     ///< of a call: a round that somebody began later than that does not count
constexpr double kRoom = 0.5;          ///< of what a call took so far: its slot is so much longer …
constexpr double kMostRoom = 0.5e6;    ///< … but at most by so many nanoseconds
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
  double first = kNever;            ///< the least of all so far
  int done = 0, left = 0;           ///< rounds
  std::vector<double> spans, late;  ///< of rounds that all began in time, and of the others

  Quartiles times() const { return Quartiles::of(spans.empty() ? late : spans); }
  /// How far its lower quartile may be off, as a share of it; two times say nothing about that.
  double scatter() const {
    const Quartiles found = times();
    if (found.spans.size() < 3) return kNever;
    return (found.median - found.low) / found.low / std::sqrt(static_cast<double>(found.spans.size()));
  }
};

}  // namespace

std::vector<Raced> race(run::Comm& comm, CommonStart& start, Kind kind, std::size_t bytes,
                        const std::vector<Contestant>& contestants, const RaceOptions& options) {
  SampleCall sample(kind, bytes, comm.size());
  std::vector<Runner> runners(contestants.size());
  for (std::size_t i = 0; i < runners.size(); ++i) runners[i].who = &contestants[i];
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
        const double known = runner(i).first < kNever ? runner(i).first : runner(i).who->expected;
        slots[i] = known + std::min(kRoom * known, kMostRoom) + start.slack() + (checks[i] ? filling : 0);
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
        runner(i).first = std::min(runner(i).first, std::max(span - late, span / 2));
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
  const auto is_hopeless = [&](const Runner& runner) {
    return !runner.works || runner.first > options.hopeless * fastest();
  };
  std::vector<std::size_t> who(runners.size());
  std::iota(who.begin(), who.end(), std::size_t{0});
  const bool expected = std::all_of(contestants.begin(), contestants.end(),
                                    [](const Contestant& contestant) { return contestant.expected > 0; });
  if (expected) {
    play(who, true);
    if (fastest() < options.precious) {  // a first call is a cold one
      for (Runner& runner : runners) runner.spans = runner.late = {};
      for (int again = 1; again < options.warm; ++again) {
        std::vector<std::size_t> order = who;
        std::erase_if(order, [&](std::size_t i) { return is_hopeless(runners[i]); });
        play(order, false);
      }
    } else {
      for (Runner& runner : runners) runner.done = 1;
    }
  } else {  // one at a time: nobody knows how long they take
    for (std::size_t i = 0; i < runners.size(); ++i) {
      for (int again = 0; again < options.warm; ++again) {
        play({i}, false);
        if (is_hopeless(runners[i])) break;
      }
    }
  }
  std::mt19937 random(kSeed);  // the same everywhere
  const auto rounds_of_all = [&] {
    std::vector<std::size_t> order, late;
    int most = 0;
    for (const Runner& runner : runners) most = std::max(most, runner.left);
    for (int round = 0; round < most; ++round) {
      std::shuffle(who.begin(), who.end(), random);
      for (const std::size_t i : who) {
        if (runners[i].works && round < runners[i].left) order.push_back(i);
      }
    }
    play(order, true);
    // Who always began late, because somebody took longer than his slot, runs again in slots that fit.
    for (int round = 0; round < (most + 1) / 2; ++round) {
      for (const std::size_t i : who) {
        if (runners[i].works && round < runners[i].left && runners[i].spans.empty()) late.push_back(i);
      }
    }
    play(late, true);
    for (Runner& runner : runners) {
      runner.done += runner.left;
      runner.left = 0;
    }
  };
  const auto kept = [&](const Runner& runner) { return runner.who < contestants.data() + options.kept; };
  /// How many times as many rounds; the first calls may all have been disturbed, so that this grows.
  const auto more = [&] {
    const double fitting = fastest() < kNever ? options.time / fastest() / options.rounds : 1;
    return static_cast<int>(std::clamp(fitting, 1.0, static_cast<double>(options.most)));
  };
  const int of_hopeless = expected ? options.few : 1;  // a single call, and the first, may have been disturbed, too
  for (bool open = true; open;) {
    open = false;
    for (Runner& runner : runners) {
      const int wanted = is_hopeless(runner) && !kept(runner) ? of_hopeless : more() * options.few;
      runner.left = runner.works ? std::max(0, wanted - runner.done) : 0;
      open = open || runner.left > 0;
    }
    if (open) rounds_of_all();
  }
  const int few = more() * options.few, rounds = more() * options.rounds;
  // As many again of those that may still be the fastest, until their times are known well enough.
  for (bool open = true; open;) {
    double least = kNever;
    for (const Runner& runner : runners) {
      if (runner.works) least = std::min(least, runner.times().low);
    }
    open = false;
    const auto is_near = [&](const Runner& runner) {
      return runner.works && (kept(runner) || runner.times().low <= options.near * least);
    };
    const auto contenders = std::count_if(runners.begin(), runners.end(), is_near);
    for (Runner& runner : runners) {
      if (!is_near(runner) || runner.done >= rounds) continue;
      if (options.settled > 0 && (contenders == 1 || runner.scatter() <= options.settled)) continue;
      runner.left = options.settled > 0 ? std::min(few, rounds - runner.done) : rounds - runner.done;
      open = true;
    }
    if (open) rounds_of_all();
  }
  std::vector<Raced> raced;
  for (const Runner& runner : runners)
    raced.push_back({runner.works, runner.works ? runner.times() : Quartiles{}, !runner.spans.empty()});
  return raced;
}

}  // namespace chasqui::measure
