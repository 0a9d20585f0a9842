// SPDX-License-Identifier: MIT
// Threads or MPI: the one place that knows which ranks `measure`, `bench`, `record` and `tune` work with. The commands are the same
// in both programs. `chasqui` makes teams of threads, and for --mpi becomes the MPI program, with the same arguments;
// that one (chasqui-mpi-<library>) is the same command line linked with MPI.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/measure/bench.hpp"
#include "chasqui/measure/measure.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/tune/algorithms.hpp"
#include "cli/frame/command.hpp"
#include "measure/race.hpp"
#include "measure/record/recording.hpp"

namespace chasqui::cli {

using ProfilePtr = std::shared_ptr<const Profile>;

/// All ranks: the threads of this process, or the processes of an MPI run. The members are called by every process
/// alike. An Error outside of a body is then every process's, and rank 0 says it; what a body throws ends an MPI run.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual int size() const = 0;
  virtual bool are_threads() const = 0;
  virtual std::string ranks() const = 0;                      ///< "threads", "processes (mpich)"
  virtual bool speaks() const = 0;                            ///< this process prints and writes for all
  virtual bool has_terminal() const = 0;                      ///< somebody sees its progress
  virtual std::string measured_by(double seconds) const = 0;  ///< the command that makes such a profile

  /// The profile in the file, the same for all ranks. Without a file: built-in guesses, under MPI CHASQUI_PROFILE before.
  virtual ProfilePtr profile(const std::optional<std::string>& file) const = 0;

  /// A new communicator; `body` runs on every rank of it that lives in this process.
  virtual void run(const ProfilePtr& profile, const std::function<void(run::Comm&)>& body) const = 0;

  /// A communicator that goes by messages alone, and what is written down of them. `plain` has the same ranks.
  using RecordedBody =
      std::function<void(run::Comm& plain, run::Comm& recorded, measure::RecordingTransport& recording)>;
  virtual void record(const ProfilePtr& profile, const RecordedBody& body) const = 0;

  virtual std::vector<std::string> rivals() const = 0;  ///< in the order of the columns
  /// Every collective against its rivals. Rows count where the engine speaks.
  virtual std::vector<measure::BenchRow> bench(const ProfilePtr& profile,
                                               const measure::BenchOptions& options) const = 0;

  /// The MPI library of these ranks; nothing for threads.
  virtual std::optional<tune::Library> library() const { return std::nullopt; }
  /// The MPI library's collective with this algorithm forced; with number 0 as the library chooses. `ranks`: for the first
  /// ones alone, 0 for all; every rank calls it, the others must not run what they get. REQUIRES library().
  virtual measure::Contestant forced(const tune::Algorithm&, int /*ranks*/ = 0) const { return {}; }
  /// Several, of different collectives each, which takes no longer than one. REQUIRES library().
  virtual std::vector<measure::Contestant> forced_together(const std::vector<tune::Algorithm>&) const { return {}; }
};

/// What rank 0 has, everywhere: a text, or words of an Error that all throw.
std::string from_rank_0(const Engine& engine, const std::function<std::string()>& text);

std::unique_ptr<Engine> thread_engine(int n);

/// The processes of the MPI run that this one belongs to. `chasqui` itself does not return from here: it becomes the MPI
/// program and runs the command again. Throws Error if no launcher started this, or the MPI program is not there.
std::unique_ptr<Engine> mpi_engine(const Command& command);

/// --threads N or --mpi, of commands that run on either.
class EngineArguments {
 public:
  void declare(Command& command, std::string threads_help, const std::string& example);
  bool mpi() const { return mpi_; }
  /// Refuses --threads beside --mpi, and numbers of threads out of least..most.
  std::unique_ptr<Engine> engine(const Command& command, std::int64_t threads, int least, int most) const;

 private:
  std::optional<std::int64_t> threads_;
  bool mpi_ = false;
};

/// Error for a command that runs threads and was started several times, by a launcher of MPI.
void refuse_launched(const Command& command, std::string_view remedy);

/// One a core, at least two.
int default_threads();

/// The collectives that a list of --kinds names, separated by commas; an empty one: all that are one call. Throws Error for others.
std::vector<Kind> calls_from(const std::string& list);

/// Throws Error unless `seconds` is more than 0 and at most an hour.
void check_seconds(double seconds);

/// The profile of these ranks and what was cut short, with a progress bar; `tables`: with the collectives' own times.
measure::Measurement measure(const Engine& engine, double seconds, bool tables = true);

}  // namespace chasqui::cli
