// SPDX-License-Identifier: MIT
// chasqui-mpi-<library>: the command line linked with an MPI library, and the processes of a run as its engine.
//   mpirun -np 4 chasqui measure --mpi        becomes  mpirun -np 4 chasqui-mpi-openmpi measure --mpi
#include <mpi.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"
#include "measure/bench/rivals.hpp"
#include "mpi/forced.hpp"
#include "mpi/native.hpp"
#include "mpi/profile.hpp"

namespace chasqui::cli {
namespace {

int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

constexpr int kGenerations = 4;  ///< mpirun, or mpiexec and its proxy, and a script or two between

struct Process {
  std::string name;
  int parent = 0;
};

Process look_up(int id) {
  Process process;
  std::ifstream status(fmt::format("/proc/{}/status", id));
  for (std::string word; status >> word;) {
    if (word == "Name:") status >> process.name;
    if (word == "PPid:") status >> process.parent;
  }
  return process;
}

/// Does the launcher's error stream end at a terminal? A rank's own is a pipe to the launcher, so isatty() says nothing.
bool launcher_has_terminal() {
  int id = getppid();
  for (int i = 0; i < kGenerations && id > 1; ++i) {
    const Process process = look_up(id);
    const bool launcher =
        process.name.starts_with("mpi") || process.name.starts_with("orte") || process.name.starts_with("prte");
    if (launcher) {
      std::error_code none;
      const std::string stream = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", id), none).string();
      return stream.starts_with("/dev/pts/") || stream.starts_with("/dev/tty");
    }
    id = process.parent;
  }
  return false;
}

/// What goes wrong on one rank while the others work with it ends the run: they would wait for ever.
/// (What goes wrong on all alike must not come here: MPI_Abort adds a page of the launcher's own words, and Open MPI's launcher
/// may hang if ranks have gone home meanwhile.)
template <typename Action>
void or_abort(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    wipe_progress();
    std::fputs(fmt::format("chasqui --mpi: rank {}: {}\n", rank_in_world(), error.what()).c_str(), stderr);
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

class MpiEngine final : public Engine {
 public:
  int size() const override {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }
  bool are_threads() const override { return false; }
  std::string ranks() const override { return "processes (" CHASQUI_MPI_FLAVOUR ")"; }
  bool speaks() const override { return rank_in_world() == 0; }
  bool has_terminal() const override { return speaks() && launcher_has_terminal(); }
  std::string measured_by(double seconds) const override {
    return fmt::format("mpirun -np {} chasqui measure --mpi --seconds {} ({})", size(), seconds, CHASQUI_MPI_FLAVOUR);
  }

  ProfilePtr profile(const std::optional<std::string>& file) const override {
    const ProfilePtr profile = mpi::profile_for_all(MPI_COMM_WORLD, file ? file->c_str() : nullptr);
    for (const Level& level : profile->levels) {
      if (level.threads)
        throw Error(
            "{}: a profile of threads, and this run has processes: mpirun -np {} chasqui measure --mpi --out FILE",
            file.value_or("CHASQUI_PROFILE"), size());
    }
    return profile;
  }

  void run(const ProfilePtr& profile, const std::function<void(run::Comm&)>& body) const override {
    mpi::Options options;
    options.profile = profile;
    const auto comm = mpi::make_comm(MPI_COMM_WORLD, options);
    or_abort([&] { body(*comm); });
  }

  void record(const ProfilePtr& profile, const RecordedBody& body) const override {
    mpi::Options options;
    options.profile = profile;
    const auto plain = mpi::make_comm(MPI_COMM_WORLD, options);
    options.slots = options.native = false;  // messages alone: what is drawn is what ran
    std::shared_ptr<measure::RecordingTransport> recording;
    options.around = [&](std::shared_ptr<run::Transport> inner) {
      return recording = std::make_shared<measure::RecordingTransport>(std::move(inner));
    };
    const auto recorded = mpi::make_comm(MPI_COMM_WORLD, options);
    or_abort([&] { body(*plain, *recorded, *recording); });
  }

  std::vector<std::string> rivals() const override { return {"native", "binomial"}; }

  std::vector<measure::BenchRow> bench(const ProfilePtr& profile, const measure::BenchOptions& options) const override {
    std::vector<measure::BenchRow> rows;
    run(profile, [&](run::Comm& comm) {
      rows = measure::bench(
          comm,
          {{"native", [](const run::Call& call) { return mpi::run_native_doubles(MPI_COMM_WORLD, call); }},
           {"binomial", [&](const run::Call& call) { return measure::binomial(comm, call); }}},
          options);
    });
    return rows;
  }

  std::optional<tune::Library> library() const override {
#ifdef OPEN_MPI  // as its mpi.h says, whatever this build calls it
    return tune::Library::openmpi;
#else
    return tune::Library::mpich;
#endif
  }
  measure::Contestant forced(const tune::Algorithm& algorithm, int ranks) const override {
    const mpi::Forced own = mpi::forced(MPI_COMM_WORLD, numbers_of(algorithm), ranks);
    return {own.prepare, own.run};
  }
  std::vector<measure::Contestant> forced_together(const std::vector<tune::Algorithm>& algorithms) const override {
    std::vector<mpi::ForcedAlgorithm> numbers;
    for (const tune::Algorithm& algorithm : algorithms) numbers.push_back(numbers_of(algorithm));
    std::vector<measure::Contestant> list;
    for (const mpi::Forced& own : mpi::forced_together(MPI_COMM_WORLD, numbers)) list.push_back({own.prepare, own.run});
    return list;
  }

 private:
  static mpi::ForcedAlgorithm numbers_of(const tune::Algorithm& algorithm) {
    return {algorithm.collective, algorithm.number, static_cast<int>(algorithm.segment),
            static_cast<int>(algorithm.fan), algorithm.inner};
  }
};

}  // namespace

std::unique_ptr<Engine> mpi_engine(const Command&) { return std::make_unique<MpiEngine>(); }

}  // namespace chasqui::cli

int main(int count, char** words) {
  if (count > 1 && std::string_view(words[1]) == "tune") chasqui::mpi::allow_forcing();
  setenv("CHASQUI_STALL_NOTICE", "60", 0);  // a rank that is stopped would keep the others waiting without a word
  MPI_Init(&count, &words);
  // What all ranks would say, rank 0 says.
  chasqui::cli::Output out =
      chasqui::cli::rank_in_world() == 0 ? chasqui::cli::Output::standard() : chasqui::cli::Output::silent();
  const int status = chasqui::cli::run_main({words + 1, words + count}, out);
  MPI_Finalize();
  return status;
}
