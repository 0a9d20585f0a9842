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
constexpr double kLate = 1e6;  ///< nanoseconds: a round that somebody began later than that does not count

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
  bool works = true;
  double first = kNever;            ///< the least of the calls that do not count
  int rounds = 0;                   ///< that it may have
  std::vector<double> spans, late;  ///< of rounds that all began in time, and of the others

  Quartiles times() const { return Quartiles::of(spans.empty() ? late : spans); }
};

}  // namespace

std::vector<Raced> race(run::Comm& comm, CommonStart& start, Kind kind, std::size_t bytes,
                        const std::vector<Contestant>& contestants, const RaceOptions& options) {
  SampleCall sample(kind, bytes, comm.size());
  std::vector<Runner> runners(contestants.size());
  double fastest = kNever;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    Runner& runner = runners[i];
    runner.who = &contestants[i];
    for (int again = 0; again < options.warm && runner.works; ++again) {
      const bool gives = kind == Kind::broadcast && comm.rank() == 0;
      std::fill(sample.out().begin(), sample.out().end(), gives ? 1.0 : 0.0);
      bool ran = false;
      runner.who->prepare();
      const double span = start.once([&] { ran = runner.who->run(sample.call()); });
      const bool wrong = !ran || !is_right(sample, comm.rank(), comm.size());
      runner.works = comm.allreduce(wrong ? 1.0 : 0.0, run::Maximum{}) == 0;
      runner.first = std::min(runner.first, span);
      if (runner.first > options.hopeless * fastest) break;
    }
    if (runner.works) fastest = std::min(fastest, runner.first);
  }
  std::vector<std::size_t> order(runners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(kSeed);  // the same everywhere
  const auto play = [&](int from, int to) {
    for (int round = from; round < to; ++round) {
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        Runner& runner = runners[i];
        if (!runner.works || round >= runner.rounds) continue;
        runner.who->prepare();
        const double span = start.once([&] { runner.who->run(sample.call()); });
        (start.late() < kLate ? runner.spans : runner.late).push_back(span);
      }
    }
  };
  const double fitting = fastest < kNever ? options.time / fastest / options.rounds : 1;
  const int more = static_cast<int>(std::clamp(fitting, 1.0, static_cast<double>(options.most)));
  const int few = more * options.few, rounds = more * options.rounds;
  const auto kept = [&](const Runner& runner) { return runner.who < contestants.data() + options.kept; };
  for (Runner& runner : runners) runner.rounds = runner.first > options.hopeless * fastest && !kept(runner) ? 1 : few;
  play(0, few);
  fastest = kNever;
  for (const Runner& runner : runners) {
    if (runner.works) fastest = std::min(fastest, runner.times().low);
  }
  for (Runner& runner : runners) {
    if (runner.works) runner.rounds = kept(runner) || runner.times().low <= options.near * fastest ? rounds : 0;
  }
  play(few, rounds);
  std::vector<Raced> raced;
  for (const Runner& runner : runners)
    raced.push_back({runner.works, runner.works ? runner.times() : Quartiles{}, !runner.spans.empty()});
  return raced;
}

}  // namespace chasqui::measure
