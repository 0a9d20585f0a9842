// SPDX-License-Identifier: MIT
#include "chasqui/measure/measure.hpp"

#include <algorithm>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/collective_times.hpp"
#include "measure/profile_of_rounds.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr double kParameters = 0.6;  ///< of the time at most; the rest is the table's
constexpr int kFew = 3;              ///< rounds that are worth all of the time: an interval needs them

/// How many rounds more, when the next ones take `least` nanoseconds with one sample of each parameter.
int rounds_to_come(int made, double left, double least) {
  const double fit = (made < kFew ? 1 : kParameters) * left / std::max(least, 1.0);
  return std::clamp(static_cast<int>(std::min<double>(fit, kRounds)), 0, kRounds - made);
}

}  // namespace

Measurement measure(const WithComm& with_comm, const MeasureOptions& options) {
  Measurement result;
  result.stated = options.seconds;
  std::vector<Parameters> rounds;  // on rank 0
  CollectiveTimes table;
  const double start = clock_now(), end = start + options.seconds * 1e9;
  int to_come = kRounds;
  double least = 0;  // of all rounds together
  for (int k = 0; to_come > 0; ++k) {
    const double before = clock_now();
    with_comm([&](Comm& comm) {
      const bool tells = comm.rank() == 0;
      const double begun = clock_now(), making = begun - before;
      int more = to_come;
      RoundBudget budget{begun, (end - begun - making * (more - 1)) / more, {}};
      if (tells && options.progress) {
        budget.progress = [&](const char* what) {
          const double share = std::clamp((clock_now() - start) / (end - start), 0.0, 1.0);
          options.progress(share, fmt::format("round {} of {}: {}", k + 1, k + more, what));
        };
      }
      const Parameters round = measure_parameters(comm, budget);
      if (tells) {
        rounds.push_back(round);
        least += making + (round.cut ? clock_now() - begun : round.least);
        more = std::min(more - 1, rounds_to_come(k + 1, end - clock_now(), least / (k + 1)));
        if (more == 0) budget.nanoseconds = end - begun;  // the table has the rest
      }
      if (options.tables) table.measure(comm, budget);
      comm.broadcast(more, 0);
      if (tells || !comm.topology().shares_memory) to_come = more;
    });
  }
  result.taken = (clock_now() - start) / 1e9;
  if (rounds.empty()) return result;
  if (options.progress) options.progress(1, "done");
  result.profile = profile_of(rounds, table);
  result.rounds = static_cast<int>(rounds.size());
  result.hasty =
      static_cast<int>(std::count_if(rounds.begin(), rounds.end(), [](const Parameters& round) { return round.cut; }));
  for (const Parameters& round : rounds) result.clocks = std::max(result.clocks, round.clocks);
  result.timed = table.timed();
  result.collectives = table.entries();
  return result;
}

std::string to_text(const Measurement& m) {
  std::string cut;
  if (m.rounds < kRounds)
    cut += fmt::format("cut short: {} of {} rounds; the intervals are wider\n", m.rounds, kRounds);
  if (m.hasty > 0)
    cut += fmt::format("cut short: in {} of {} rounds some parameter has one sample only\n", m.hasty, m.rounds);
  if (m.timed < m.collectives) cut += "cut short: collectives that were not timed are predicted from the others\n";
  if (!cut.empty()) cut += "more --seconds, or fewer programs beside it, give the rest\n";
  return fmt::format("stated {:.3g} s, taken {:.3g} s; rounds: {}; collectives timed: {} of {}\n", m.stated, m.taken,
                     m.rounds, m.timed, m.collectives) +
         (m.clocks > 0
              ? fmt::format("the hosts' clocks were compared: times may be off by {:.1f} us at most\n", m.clocks / 1000)
              : "") +
         cut;
}

}  // namespace chasqui::measure
