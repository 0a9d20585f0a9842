// SPDX-License-Identifier: MIT
#include "cli/launch/engine.hpp"

#include <unistd.h>

#include <barrier>
#include <map>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/threads/team.hpp"
#include "cli/frame/nearest.hpp"
#include "cli/frame/progress.hpp"
#include "measure/bench/rivals.hpp"
#include "run/comm/fabric.hpp"
#include "run/wait/cores.hpp"
#include "run/wait/launcher.hpp"
#include "threads/channels.hpp"
#include "threads/faults.hpp"

namespace chasqui::cli {
namespace {

class ThreadEngine final : public Engine {
 public:
  explicit ThreadEngine(int n) : n_(n) {}

  int size() const override { return n_; }
  bool are_threads() const override { return true; }
  std::string ranks() const override { return "threads"; }
  bool speaks() const override { return true; }
  bool has_terminal() const override { return isatty(STDERR_FILENO) != 0; }
  std::string measured_by(double seconds) const override {
    return fmt::format("chasqui measure --threads {} --seconds {}", n_, seconds);
  }

  ProfilePtr profile(const std::optional<std::string>& file) const override {
    return std::make_shared<const Profile>(file ? read_profile(*file) : default_profile());
  }

  void run(const ProfilePtr& profile, const std::function<void(run::Comm&)>& body) const override {
    threads::Options options;
    options.profile = profile;
    threads::Team(n_, options).run(body);
  }

  void record(const ProfilePtr& profile, const RecordedBody& body) const override {
    threads::Options options;
    options.pin = false;
    options.profile = profile;
    const auto memory = std::make_shared<threads::ChannelMemory>(n_);
    const auto faults = std::make_shared<threads::FaultMemory>(n_);
    threads::Team(n_, options).run([&](run::Comm& plain) {
      const auto recording = std::make_shared<measure::RecordingTransport>(
          std::make_shared<threads::ChannelTransport>(memory, plain.rank()));
      run::Fabric fabric;
      fabric.rank = plain.rank();
      fabric.size = n_;
      fabric.messages = recording;
      fabric.faults = std::make_shared<threads::Faults>(faults, plain.rank());
      fabric.profile = profile;
      fabric.crowded = n_ > run::available_cores();
      const auto recorded = run::make_comm(std::move(fabric));
      body(plain, *recorded, *recording);
      plain.barrier();  // nobody leaves while others use what was recorded
    });
  }

  std::vector<std::string> rivals() const override {
    std::vector<std::string> names = {"binomial", "std::barrier"};
    if (measure::has_openmp()) names.emplace_back("OpenMP");
    return names;
  }

  std::vector<measure::BenchRow> bench(const ProfilePtr& profile, const measure::BenchOptions& options) const override {
    // OpenMP has threads of its own: it runs by itself, before the team is there.
    std::map<std::pair<std::string, std::size_t>, measure::Quartiles> openmp;
    for (const auto& [name, bytes] : measure::bench_plan(options)) {
      if (options.skip && options.skip(name, bytes)) continue;
      if (const auto time = measure::time_openmp(name, bytes, n_, options.seconds_per_row))
        openmp[{name, bytes}] = *time;
    }
    std::vector<measure::BenchRow> rows;
    measure::BenchOptions with = options;
    with.row = [&](const measure::BenchRow& row) {
      rows.push_back(row);
      if (const auto found = openmp.find({row.name, row.bytes}); found != openmp.end()) {
        rows.back().rivals.emplace_back("OpenMP", found->second);
      }
      if (options.row) options.row(rows.back());
    };
    std::barrier standard(static_cast<std::ptrdiff_t>(n_));
    run(profile, [&](run::Comm& comm) {
      const std::vector<measure::Rival> rivals = {
          {"binomial", [&](const run::Call& call) { return measure::binomial(comm, call); }},
          {"std::barrier", [&](const run::Call& call) {
             if (call.kind != Kind::barrier) return false;
             standard.arrive_and_wait();
             return true;
           }}};
      measure::bench(comm, rivals, with);
    });
    return rows;
  }

 private:
  int n_;
};

}  // namespace

std::unique_ptr<Engine> thread_engine(int n) { return std::make_unique<ThreadEngine>(n); }

void EngineArguments::declare(Command& command, std::string threads_help, const std::string& example) {
  command.option("--threads", "N", &threads_, std::move(threads_help));
  command.flag("--mpi", mpi_, fmt::format("{} the MPI run this is part of: {}", command.name(), example));
}

std::unique_ptr<Engine> EngineArguments::engine(const Command& command, std::int64_t threads, int least,
                                                int most) const {
  if (mpi_ && threads_) {
    throw Error("--threads {} and --mpi: the launcher says how many processes there are: mpirun -np {}", *threads_,
                *threads_);
  }
  if (mpi_) return mpi_engine(command);
  refuse_launched(command, "add --mpi, or leave the launcher out");
  const std::int64_t n = threads_.value_or(threads);
  if (n < least || n > most) throw Error("--threads {} is not in {}..{}", n, least, most);
  return thread_engine(static_cast<int>(n));
}

void refuse_launched(const Command& command, std::string_view remedy) {
  if (const auto launched = run::launched_by_mpi(); launched && launched->size > 1) {
    throw Error("an MPI launcher started this {} times, and each would {} threads of its own: {}", launched->size,
                command.name(), remedy);
  }
}

int default_threads() { return std::max(2, run::available_cores()); }

std::vector<Kind> calls_from(const std::string& list) {
  if (list.empty()) return plan::called_kinds();
  std::vector<Kind> kinds;
  for (const auto& word :
       measure::kinds_from(list, "--kinds", did_you_mean, plan::collective_names(&plan::Collective::called)))
    kinds.push_back(*kind_from(word));
  return kinds;
}

void check_seconds(double seconds) {
  if (!(seconds > 0) || seconds > 3600) throw Error("--seconds {} is not more than 0 and at most 3600", seconds);
}

std::string from_rank_0(const Engine& engine, const std::function<std::string()>& text) {
  std::string known, wrong;
  if (engine.speaks()) {
    try {
      known = text();
    } catch (const Error& error) {
      wrong = error.what();
    }
  }
  engine.run(std::make_shared<const Profile>(default_profile()), [&](run::Comm& comm) {
    for (std::string* each : {&known, &wrong}) {
      std::size_t length = each->size();
      comm.broadcast(length, 0);
      each->resize(length);
      if (length > 0) comm.broadcast(std::span<char>(*each), 0);
    }
  });
  if (!wrong.empty()) throw Error("{}", wrong);
  return known;
}

measure::Measurement measure(const Engine& engine, double seconds, bool tables) {
  Progress bar("measuring", engine.has_terminal());
  measure::MeasureOptions options;
  options.seconds = seconds;
  options.tables = tables;
  options.progress = [&](double share, const std::string&) { bar(share); };
  // Built-in guesses: what an earlier profile would choose must not count. A line is timed to all ranks at once, not level by level: nothing
  // is taken to be nearer than the rest.
  Profile alike = default_profile();
  for (Level& level : alike.levels) level.near.fill(Estimate::exactly(1));
  const auto guesses = std::make_shared<const Profile>(std::move(alike));
  measure::Measurement measured =
      measure::measure([&](const std::function<void(run::Comm&)>& body) { engine.run(guesses, body); }, options);
  measured.profile.how = engine.measured_by(seconds);
  return measured;
}

}  // namespace chasqui::cli
