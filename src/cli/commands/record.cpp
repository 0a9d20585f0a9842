// SPDX-License-Identifier: MIT
// chasqui record: runs a collective on threads or under MPI, by messages, and keeps when every message was sent and received.
#include <algorithm>
#include <cmath>
#include <functional>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/run/choose.hpp"
#include "chasqui/show/timeline.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"
#include "measure/clocks.hpp"
#include "measure/record/recorded_collective.hpp"

namespace chasqui::cli {
namespace {

using Events = std::vector<measure::RecordedEvent>;

constexpr int kTrips = 20;  ///< to a rank and back, when clocks are compared

/// Every rank's events, at rank 0.
measure::Log gathered(run::Comm& comm, Events mine) {
  const std::size_t own = mine.size();
  const std::vector<std::size_t> counts = comm.allgather(own);
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  mine.resize(most);
  Events all(comm.rank() == 0 ? most * counts.size() : 0);
  if (most > 0) comm.gather(std::span<const measure::RecordedEvent>(mine), std::span(all));
  measure::Log log;
  for (std::size_t rank = 0; comm.rank() == 0 && rank < counts.size(); ++rank) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(rank * most);
    log.emplace_back(from, from + static_cast<std::ptrdiff_t>(counts[rank]));
  }
  return log;
}

/// From the first event of any rank to the last, on all ranks alike.
std::int64_t length_of(run::Comm& comm, const Events& mine) {
  const auto [first, last] = measure::span_of({mine});
  const bool any = last > first;
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const std::int64_t other : comm.allgather(any ? first : INT64_MAX)) begin = std::min(begin, other);
  for (const std::int64_t other : comm.allgather(any ? last : INT64_MIN)) end = std::max(end, other);
  return begin > end ? 0 : end - begin;
}

/// The greatest error between two clocks, when each may be off by its own from rank 0's.
double error_between_two(run::Comm& comm, double own) {
  std::vector<double> errors = comm.allgather(own);
  std::sort(errors.begin(), errors.end(), std::greater<>());
  return errors[0] + (errors.size() > 1 ? errors[1] : 0);
}

struct Recorded {
  measure::Log log;
  std::string method, problem;  ///< what ran; or why nothing did
  double uncertainty = 0;       ///< nanoseconds by which two clocks may differ; 0: one clock
};

class RecordCommand final : public Command {
 public:
  RecordCommand() : Command("record", "run a collective and record when every message was sent and received") {
    describe(
        "Runs the collective several times, by messages alone as between nodes, and keeps the fastest run. "
        "`chasqui draw` shows it as a chart, or writes it as a timeline for Perfetto. Runs threads; with --mpi, "
        "under mpirun, the processes of that run, and compares their clocks where they are on several hosts.\n"
        "A reception is drawn from when its rank looked and found the message, which may be later than its "
        "arrival.");
    positional("COLLECTIVE", &what_.collective, "what to run")
        .required()
        .choices(plan::collective_names(&plan::Collective::called));
    ranks_.declare(*this, "ranks, one thread each (default 4)", "mpirun -np 4 chasqui record broadcast --mpi");
    option("--bytes", "N", &what_.bytes, "size of one rank's contribution (default 64), rounded up to 8");
    option("--method", "NAME", &what_.method,
           "how to run it: tree, items, exchange, … (`chasqui explain` lists them); default: the fastest");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`, for the choice of method").file();
    option("--repeat", "N", &repeat_, "how often to run (default 50)");
    flag("--clocks", clocks_, "compare the ranks' clocks even on one host");
    option("--out", "FILE", &out_, "where the run goes (default run.json)").output();
    example("chasqui record broadcast --threads 8 --out run.json", "eight threads, 64 bytes");
    example("mpirun -np 4 chasqui record allreduce --mpi --out run.json", "four processes");
    example("chasqui draw run.json --format trace --out run.trace.json", "for Perfetto or chrome://tracing");
  }

  int run(Output& out) override {
    if (what_.bytes < 0 || what_.bytes > (1 << 28)) throw Error("--bytes {} is not in 0..2^28", what_.bytes);
    if (repeat_ < 1 || repeat_ > 1'000'000) throw Error("--repeat {} is not in 1..10^6", repeat_);
    const auto engine = ranks_.engine(*this, 4, 1, 256);
    Progress bar("recording", engine->has_terminal());
    Recorded best;
    engine->record(engine->profile(machine_),
                   [&](run::Comm& plain, run::Comm& comm, measure::RecordingTransport& recording) {
                     Recorded own = fastest(plain, comm, recording, bar);
                     if (plain.rank() == 0) best = std::move(own);
                   });
    if (!engine->speaks()) return 0;
    if (!best.problem.empty()) throw Error("{}", best.problem);
    const std::string title = measure::title_of(what_, best.log, engine->ranks(), best.method);
    const show::Timeline timeline = measure::timeline_of(best.log, title);
    write_file(out_, show::timeline_json(timeline), out);
    if (out_ == "-") return 0;
    if (best.uncertainty > 0) {
      out.print("clocks compared, they agree to {:.1f} us; the shortest message takes {:.1f} us\n",
                best.uncertainty / 1000, static_cast<double>(measure::shortest_flight(best.log).value_or(0)) / 1000);
    }
    out.print("{}\n{} messages, wrote {}\n", title, timeline.messages.size(), out_);
    return 0;
  }

 private:
  /// What every rank does: runs `repeat_` times and keeps the shortest run.
  Recorded fastest(run::Comm& plain, run::Comm& comm, measure::RecordingTransport& recording, Progress& bar) const {
    Recorded result;
    try {
      result.method = measure::force_method(comm, what_);
    } catch (const Error& error) {  // on all ranks alike
      result.problem = error.what();
      return result;
    }
    measure::ClockOffset offset;
    if (clocks_ || plain.topology().nodes > 1) offset = measure::clock_offset(comm, clock_now, kTrips);
    result.uncertainty = error_between_two(plain, offset.uncertainty);
    const measure::SampleCall sample = what_.call(comm.size());
    Events best;
    std::int64_t shortest = -1;
    recording.take();
    for (std::int64_t i = 0; i < repeat_; ++i) {
      plain.barrier();
      comm.run(sample.call());
      Events events = recording.take();
      measure::set_back(events, std::llround(offset.ahead));
      const std::int64_t length = length_of(plain, events);
      if (shortest < 0 || length < shortest) best = std::move(events), shortest = length;
      if (plain.rank() == 0) bar(static_cast<double>(i) / static_cast<double>(repeat_));
    }
    result.log = gathered(plain, std::move(best));
    return result;
  }

  measure::RecordedCollective what_;
  EngineArguments ranks_;
  bool clocks_ = false;
  std::optional<std::string> machine_;
  std::int64_t repeat_ = 50;
  std::string out_ = "run.json";
};

}  // namespace

CommandPtr make_record_command() { return std::make_unique<RecordCommand>(); }

}  // namespace chasqui::cli
