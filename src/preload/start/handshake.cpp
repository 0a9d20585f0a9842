// SPDX-License-Identifier: MIT
#include "preload/start/handshake.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "preload/start/settings.hpp"

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

[[noreturn]] void give_up(int rank, std::int64_t seconds, const std::string& whom) {
  say_last(fmt::format(
      "rank {} waited {} s for ranks that have not loaded this library{}: LD_PRELOAD must reach every rank (mpirun -x or -genv, for "
      "each part of the command) and the file must be on every machine; CHASQUI_JOIN=seconds waits longer",
      rank, seconds, whom));
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
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

#ifdef OPEN_MPI
/// Open MPI's own collectives use tags below zero, which no receive of a program matches, one of MPI_ANY_TAG neither. MPI_Isend and MPI_Irecv take
/// them while nobody looks at their arguments. This one is not among the collectives' first millions, and is below zero in 24 bits
/// too (all that UCX has).
constexpr int kTag = -2'776'125;

/// While this lives Open MPI looks at no arguments. Nobody else is in MPI yet.
class Unchecked {
 public:
  Unchecked() {
    if (checks_ != nullptr) *checks_ = false;
  }
  ~Unchecked() {
    if (checks_ != nullptr) *checks_ = before_;
  }
  Unchecked(const Unchecked&) = delete;
  Unchecked& operator=(const Unchecked&) = delete;

 private:
  bool* checks_ = static_cast<bool*>(dlsym(RTLD_DEFAULT, "ompi_mpi_param_check"));
  bool before_ = checks_ != nullptr && *checks_;
};

/// One number to or from another rank. False: MPI does not take the tag, or the message.
class Message {
 public:
  explicit Message(Wait& wait) : wait_(wait) {}
  /// `late` is called when the time is up, and does not return.
  template <typename Late>
  bool send(long long value, int to, Late late) {
    value_ = value;
    {
      const Unchecked now;
      code_ = PMPI_Isend(&value_, 1, MPI_LONG_LONG, to, kTag, MPI_COMM_WORLD, &request_);
    }
    return done(late);
  }
  template <typename Late>
  std::optional<long long> receive(int from, Late late) {
    {
      const Unchecked now;
      code_ = PMPI_Irecv(&value_, 1, MPI_LONG_LONG, from, kTag, MPI_COMM_WORLD, &request_);
    }
    if (!done(late)) return std::nullopt;
    return value_;
  }

 private:
  template <typename Late>
  bool done(Late late) {
    int arrived = 0;
    while (code_ == MPI_SUCCESS && (code_ = PMPI_Test(&request_, &arrived, MPI_STATUS_IGNORE)) == MPI_SUCCESS &&
           arrived == 0) {
      if (wait_.over()) late();
      wait_.pause();
    }
    wait_.hurry();
    return code_ == MPI_SUCCESS;
  }

  Wait& wait_;
  long long value_ = 0;
  int code_ = MPI_SUCCESS;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// As with names: rank 0 hears of all and tells all.
Handshake shake_without_names(std::uint64_t settings_hash, int rank, int ranks, std::int64_t seconds) {
  const auto mine = static_cast<long long>(settings_hash);
  if (rank != 0) {
    Wait wait(seconds, std::chrono::milliseconds(500 + 50 * std::min(rank, 100)), std::chrono::milliseconds(2));
    const auto late = [&] { give_up(rank, seconds, " (rank 0, or it waits for others)"); };
    if (!Message(wait).send(mine, 0, late)) return Handshake::impossible;
    const auto alike = Message(wait).receive(0, late);
    if (!alike) return Handshake::impossible;
    return *alike != 0 ? Handshake::all_alike : Handshake::different;
  }
  Wait wait(seconds, {}, std::chrono::milliseconds(2));
  bool alike = true;
  for (int r = 1; r < ranks; ++r) {
    const auto late = [&] { give_up(0, seconds, fmt::format(" (rank {}, perhaps others)", r)); };
    const auto theirs = Message(wait).receive(r, late);
    if (!theirs) return Handshake::impossible;
    alike = alike && *theirs == mine;
  }
  for (int r = 1; r < ranks; ++r) {
    if (!Message(wait).send(alike ? 1 : 0, r, [&] { give_up(0, seconds, ""); })) return Handshake::impossible;
  }
  return alike ? Handshake::all_alike : Handshake::different;
}
#else
/// Ends the job when the time is up, unless it is destroyed before: for calls that only come back when all ranks are there.
class Watch {
 public:
  Watch(int rank, std::int64_t seconds) {
    if (seconds == 0) return;
    thread_ = std::thread([this, rank, seconds] {
      std::unique_lock lock(mutex_);
      const auto time = std::chrono::seconds(seconds) + std::chrono::milliseconds(50 * std::min(rank, 100));
      if (!ended_.wait_for(lock, time, [this] { return over_; })) give_up(rank, seconds, "");
    });
  }
  ~Watch() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

/// In MPICH only a call of MPI_Comm_create_group with the same tag meets this one, no message and no other collective of a program. (In Open MPI a
/// receive of MPI_ANY_TAG would.) What follows is on a communicator that nobody else has.
constexpr int kTag = 0x5a3c3d1;

Handshake shake_without_names(std::uint64_t settings_hash, int rank, int, std::int64_t seconds) {
  const Watch watch(rank, seconds);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  int code = PMPI_Comm_create_group(MPI_COMM_WORLD, all, kTag, &own);
  PMPI_Group_free(&all);
  if (code != MPI_SUCCESS) return Handshake::impossible;
  const auto hash = static_cast<long long>(settings_hash & 0x7fffffffffffffffu);
  const long long mine[2] = {hash, -hash};
  long long most[2] = {0, 0};
  code = PMPI_Allreduce(mine, most, 2, MPI_LONG_LONG, MPI_MAX, own);
  PMPI_Comm_free(&own);
  if (code != MPI_SUCCESS) return Handshake::impossible;
  return most[0] == -most[1] ? Handshake::all_alike : Handshake::different;
}
#endif

}  // namespace

Handshake shake_hands(std::uint64_t settings_hash, std::int64_t seconds) {
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) return Handshake::all_alike;
  const ErrorsReturn quiet;
  const auto job = name_of_job();
  const std::string own = job.value_or("") + std::to_string(rank), mine = fmt::format("{:016x}", settings_hash);
  if (!job || !publish(own, mine)) return shake_without_names(settings_hash, rank, ranks, seconds);
  const Handshake found =
      rank == 0 ? gather_names(*job, mine, ranks, seconds) : wait_for_news(*job, rank, ranks, seconds);
  PMPI_Unpublish_name(own.c_str(), MPI_INFO_NULL, mine.c_str());
  return found;
}

}  // namespace chasqui::preload
