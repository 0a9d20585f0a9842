// SPDX-License-Identifier: MIT
#include "preload/handshake.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "preload/settings.hpp"

namespace chasqui::preload {
namespace {

/// The time that is left, spent in pauses that grow: what is asked for in between costs others time.
class Wait {
 public:
  using Clock = std::chrono::steady_clock;
  Wait(std::int64_t seconds, std::chrono::milliseconds more, std::chrono::microseconds longest)
      : end_(seconds == 0 ? Clock::time_point::max() : Clock::now() + std::chrono::seconds(seconds) + more),
        longest_(longest) {}
  bool over() const { return Clock::now() > end_; }
  void pause() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(longest_, next_ * 3 / 2);
  }
  void hurry() { next_ = kFirst; }

 private:
  static constexpr std::chrono::microseconds kFirst{50};
  Clock::time_point end_;
  std::chrono::microseconds longest_, next_ = kFirst;
};

[[noreturn]] void give_up(int rank, const std::string& why, std::string_view otherwise = "") {
  say_last(fmt::format(
      "rank {} {}: LD_PRELOAD must reach every rank (mpirun -x or -genv, for each part of the command) and the file must "
      "be on every machine{}",
      rank, why, otherwise));
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

[[noreturn]] void give_up(int rank, std::int64_t seconds, const std::string& whom) {
  give_up(rank, fmt::format("waited {} s for ranks that have not loaded this library{}", seconds, whom),
          "; CHASQUI_JOIN=seconds waits longer");
}

/// Errors that belong to no communicator are codes while this lives. Nobody else is in MPI yet.
class ErrorsReturn {
 public:
  ErrorsReturn() {
    for (int i = 0; i < 2; ++i) {
      PMPI_Comm_get_errhandler(comms_[i], &before_[i]);
      PMPI_Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~ErrorsReturn() {
    for (int i = 0; i < 2; ++i) {
      PMPI_Comm_set_errhandler(comms_[i], before_[i]);
      PMPI_Errhandler_free(&before_[i]);
    }
  }
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  MPI_Comm comms_[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler before_[2] = {MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
};

/// What names of this job begin with; blanks end a name in Hydra. Launchers keep the names of one job together or of many, and those of processes that
/// were spawned with those of their parents: nothing if these could be mixed up.
std::optional<std::string> name_of_job() {
  for (const char* variable : {"PMIX_NAMESPACE", "PMI_JOBID"}) {
    if (const char* text = std::getenv(variable); text != nullptr && *text != '\0')
      return fmt::format("chasqui-{}-", text);
  }
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) return std::nullopt;
  const char* batch = std::getenv("SLURM_JOB_ID");
  return fmt::format("chasqui-{}-", batch != nullptr ? batch : "");
}

std::optional<std::string> look_up(const std::string& name) {
  char found[MPI_MAX_PORT_NAME] = {};
  if (PMPI_Lookup_name(name.c_str(), MPI_INFO_NULL, found) != MPI_SUCCESS) return std::nullopt;
  return found;
}

bool publish(const std::string& name, const std::string& text) {
  return PMPI_Publish_name(name.c_str(), MPI_INFO_NULL, text.c_str()) == MPI_SUCCESS;
}

constexpr const char *kAlike = "alike", *kDifferent = "different";

/// Rank 0 looks for the names of all others, and says what it found.
Handshake gather_names(const std::string& job, const std::string& mine, int ranks, std::int64_t seconds) {
  Wait wait(seconds, {}, std::chrono::milliseconds(2));
  bool alike = true;
  for (int r = 1; r < ranks; ++r) {
    std::optional<std::string> found;
    while (!(found = look_up(job + std::to_string(r)))) {
      if (wait.over()) give_up(0, seconds, fmt::format(" (rank {}, perhaps others)", r));
      wait.pause();
    }
    wait.hurry();
    alike = alike && *found == mine;
  }
  publish(job + "all", alike ? kAlike : kDifferent);
  return alike ? Handshake::all_alike : Handshake::different;
}

/// The others wait for that, a little longer than rank 0, and one after another, so that one speaks.
Handshake wait_for_news(const std::string& job, int rank, int ranks, std::int64_t seconds) {
  const auto each = std::chrono::microseconds(100);  // a request takes about as long
  Wait wait(seconds, std::chrono::milliseconds(500 + 50 * std::min(rank, 100)),
            std::clamp(each * ranks, std::chrono::microseconds(500), std::chrono::microseconds(50'000)));
  for (;;) {
    if (const auto found = look_up(job + "all")) return *found == kAlike ? Handshake::all_alike : Handshake::different;
    if (wait.over()) give_up(rank, seconds, " (rank 0, or it waits for others)");
    wait.pause();
  }
}

constexpr long long kOurs = 0x6368617371756900;  ///< no program's values are as large, and the negative ones as small

/// Twice: a stranger whose call was met the first time without a trace is missed the second time, or met again.
Handshake shake_by_collective(std::uint64_t settings_hash, int rank, std::int64_t seconds) {
  const auto hash = static_cast<long long>(settings_hash & 0x7fffffffffffffffu);
  Handshake found = Handshake::all_alike;
  for (int round = 0; round < 2; ++round) {
    // The first two are the same everywhere: what another call, as short as it may be, has added to shows in them.
    const long long mine[4] = {kOurs, -kOurs, hash, -hash};
    long long most[4] = {0, 0, 0, 0};
    int done = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    // Non-blocking ones have tags of their own in both libraries: no blocking collective takes part by accident.
    int code = PMPI_Iallreduce(mine, most, 4, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD, &request);
    Wait wait(seconds, std::chrono::milliseconds(50 * std::min(rank, 100)), std::chrono::microseconds(100));
    while (code == MPI_SUCCESS && (code = PMPI_Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && done == 0) {
      wait.pause();
      if (wait.over()) give_up(rank, seconds, "");
    }
    if (code != MPI_SUCCESS || most[0] != kOurs || most[1] != -kOurs)
      give_up(rank, "met a call of a rank that has not loaded this library, whose value may be wrong");
    if (most[2] != -most[3]) found = Handshake::different;
  }
  return found;
}

}  // namespace

Handshake shake_hands(std::uint64_t settings_hash, std::int64_t seconds) {
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return Handshake::all_alike;
  const ErrorsReturn quiet;
  const auto job = name_of_job();
  const std::string own = job.value_or("") + std::to_string(rank), mine = fmt::format("{:016x}", settings_hash);
  if (!job || !publish(own, mine)) return shake_by_collective(settings_hash, rank, seconds);
  const Handshake found =
      rank == 0 ? gather_names(*job, mine, ranks, seconds) : wait_for_news(*job, rank, ranks, seconds);
  PMPI_Unpublish_name(own.c_str(), MPI_INFO_NULL, mine.c_str());
  return found;
}

}  // namespace chasqui::preload
