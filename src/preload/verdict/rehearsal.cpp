// SPDX-License-Identifier: MIT
#include "preload/verdict/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "preload/native.hpp"
#include "preload/private_comm.hpp"
#include "preload/report.hpp"
#include "preload/serve.hpp"
#include "preload/start/settings.hpp"
#include "preload/state.hpp"
#include "preload/verdict/race.hpp"
#include "run/board/shape.hpp"
#include "run/call/kinds.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::preload {
namespace {

struct Rehearsed {
  Collective what;
  Kind kind;
  bool rare = false;  ///< comes when all others were tried
  std::size_t longest = std::size_t{1} << 16;
};
constexpr Rehearsed kRehearsed[] = {
    {Collective::Barrier, Kind::barrier},         {Collective::Bcast, Kind::broadcast},
    {Collective::Allreduce, Kind::allreduce},     {Collective::Reduce, Kind::reduce},
    {Collective::Allgather, Kind::allgather},     {Collective::Gather, Kind::gather},
    {Collective::Scatter, Kind::scatter},         {Collective::Scan, Kind::scan},
    {Collective::Alltoall, Kind::alltoall, true}, {Collective::Reduce_scatter_block, Kind::reduce_scatter, true},
    {Collective::Exscan, Kind::scan, true, 1024}};  // where this rank's part begins: programs have few long ones
constexpr std::size_t kSizes[] = {8, 64, 256, 1024, 4096, 16'384, 65'536};  ///< one of each class
constexpr std::size_t kMostBytes = std::size_t{1} << 20;                    ///< of a rank's buffer

std::array<std::array<Expected, kClasses>, kServed> expectations{};
int expectations_for = 0;  ///< ranks

void check_library(int code, const char* what) {
  if (code != MPI_SUCCESS) throw Error("{} returned error {}", what, code);
}

/// As programs write it: sums of doubles. The code of the MPI library.
int run_native(MPI_Comm comm, const run::Call& call) {
  const int n = static_cast<int>(call.count), root = static_cast<int>(call.root);
  const MPI_Datatype type = MPI_DOUBLE;
  switch (call.kind) {
    case Kind::broadcast: return CHASQUI_LIBRARY(Bcast)(call.out, n, type, root, comm);
    case Kind::allreduce: return CHASQUI_LIBRARY(Allreduce)(call.in, call.out, n, type, MPI_SUM, comm);
    case Kind::reduce: return CHASQUI_LIBRARY(Reduce)(call.in, call.out, n, type, MPI_SUM, root, comm);
    case Kind::allgather: return CHASQUI_LIBRARY(Allgather)(call.in, n, type, call.out, n, type, comm);
    case Kind::gather: return CHASQUI_LIBRARY(Gather)(call.in, n, type, call.out, n, type, root, comm);
    case Kind::scatter: return CHASQUI_LIBRARY(Scatter)(call.in, n, type, call.out, n, type, root, comm);
    case Kind::scan:
      if (call.exclusive) return CHASQUI_LIBRARY(Exscan)(call.in, call.out, n, type, MPI_SUM, comm);
      return CHASQUI_LIBRARY(Scan)(call.in, call.out, n, type, MPI_SUM, comm);
    case Kind::alltoall: return CHASQUI_LIBRARY(Alltoall)(call.in, n, type, call.out, n, type, comm);
    case Kind::reduce_scatter: return CHASQUI_LIBRARY(Reduce_scatter_block)(call.in, call.out, n, type, MPI_SUM, comm);
    default: return CHASQUI_LIBRARY(Barrier)(comm);
  }
}

/// One rank's part. Calls are timed back to back, in blocks natively, by ours, by ours, natively, from the last rank's beginning to
/// the last rank's end: ranks that run ahead (the root of a broadcast, the leaves of a reduction) gain nothing by it. An interrupted
/// block is longer than another one of its side, and does not count. An error, of ours or the MPI library's, ends the rehearsal at
/// the next agreement, which is the MPI library's: until then the rank makes all calls of that, so that nobody waits for it.
class Rehearsal {
 public:
  Rehearsal(std::unique_ptr<run::Comm> comm, MPI_Comm native)
      : comm_(std::move(comm)), native_(native), in_(kMostBytes / sizeof(double), 1.0), out_(in_) {
    // The MPI library may connect ranks when they first talk; that is not a collective's time.
    attempt([&] {
      check_library(CHASQUI_LIBRARY(Alltoall)(in_.data(), 1, MPI_DOUBLE, out_.data(), 1, MPI_DOUBLE, native_),
                    "MPI_Alltoall");
    });
    begin_ = clock_now();
  }

  /// False: the time is over, or something failed. The same on all ranks.
  bool compare(const Rehearsed& which, std::size_t bytes) {
    static const run::Sum sum;
    call_.kind = which.kind;
    call_.exclusive = which.what == Collective::Exscan;
    call_.in = in_.data();
    call_.out = out_.data();
    call_.count = which.kind == Kind::barrier ? 0 : static_cast<std::int64_t>(bytes / sizeof(double));
    if (which.kind == Kind::reduce_scatter) call_.count = std::max<std::int64_t>(1, call_.count / comm_->size());
    call_.element = sizeof(double);
    call_.op = run::operator_of<double>(sum, true);
    call_.root = (call_.root + 1) % comm_->size();
    run(Side::ours, bytes <= 1024 ? 8 : 1);  // pages are there, and looks are learned
    const double ours = timed(Side::ours, 1);
    run(Side::native, 1);
    std::array<double, 2> least{timed(Side::native, 1), ours};  // by Side
    if (!agree(least)) return false;
    const int calls = static_cast<int>(std::clamp(kBlock / std::max(1.0, least[0]), 2.0, 16.0));
    if (obvious(least[0], least[1])) {
      note(which.what, bytes, least);
      return true;
    }
    least = {1e18, 1e18};
    for (int time = 0; time < 2; ++time) {
      std::array<double, 8> moments{};  // beginning and end of each block
      for (std::size_t block = 0; block < 4; ++block) {
        attempt([&] { check_library(CHASQUI_LIBRARY(Barrier)(native_), "MPI_Barrier"); });
        moments[2 * block] = clock_now();
        run(side_of(block), calls);
        moments[2 * block + 1] = clock_now();
      }
      if (!agree(moments)) return false;
      for (std::size_t block = 0; block < 4; ++block) {
        double& side = least[static_cast<std::size_t>(side_of(block))];
        side = std::min(side, std::max(1.0, (moments[2 * block + 1] - moments[2 * block]) / calls));
      }
      if (clearly_longer(least[0], least[1])) break;  // for us; against us blocks are repeated
    }
    if (!blocks_decide(least[0], least[1], run::meets(which.kind)) && !also_alone(least)) return false;
    note(which.what, bytes, least);
    return true;
  }

  void end() const {
    if (settings().log && comm_->rank() == 0)
      say(fmt::format("the rehearsal took {:.1f} ms", (clock_now() - begin_) / 1e6));
  }

 private:
  static constexpr double kBlock = 5e4;  ///< nanoseconds of a block natively, about
  static Side side_of(std::size_t block) { return block == 0 || block == 3 ? Side::native : Side::ours; }

  /// Calls of which some ranks leave before others come may follow each other several times as fast as one alone takes; programs make both.
  /// Single calls that begin together count as much as those back to back.
  bool also_alone(std::array<double, 2>& least) {
    constexpr std::size_t kCalls = 8;
    std::array<double, 2 * kCalls> moments{};
    for (std::size_t i = 0; i < kCalls; ++i) {
      attempt([&] { check_library(CHASQUI_LIBRARY(Barrier)(native_), "MPI_Barrier"); });
      moments[2 * i] = clock_now();
      run(side_of(i % 4), 1);
      moments[2 * i + 1] = clock_now();
    }
    if (!agree(moments)) return false;
    std::array<double, 2> alone{1e18, 1e18};
    for (std::size_t i = 0; i < kCalls; ++i) {
      double& side = alone[static_cast<std::size_t>(side_of(i % 4))];
      side = std::min(side, std::max(1.0, moments[2 * i + 1] - moments[2 * i]));
    }
    for (std::size_t side = 0; side < 2; ++side) least[side] = std::sqrt(least[side] * alone[side]);
    return true;
  }

  template <typename Step>
  void attempt(Step step) {
    try {
      step();
    } catch (const std::exception& error) {
      if (!failed_ && settings().log) say(fmt::format("the rehearsal ends: {}", error.what()));
      failed_ = true;
    }
  }

  /// Nanoseconds on this rank.
  double timed(Side side, int calls) {
    const double begin = clock_now();
    run(side, calls);
    return clock_now() - begin;
  }
  void run(Side side, int calls) {
    for (int i = 0; i < calls; ++i) {
      write_anew();
      attempt([&] {
        if (side == Side::ours) comm_->run(call_);
        else check_library(run_native(native_, call_), "a collective of the MPI library");
      });
    }
  }

  /// What this rank is about to give, a word of each cache line: programs send what they have just computed, which is in no other core's
  /// cache. Data sent again unchanged may still lie where its reader had it.
  void write_anew() {
    const std::int64_t blocks = run::gives_blocks(call_.kind) ? comm_->size() : 1;
    if (call_.kind == Kind::barrier || (run::root_gives(call_.kind) && comm_->rank() != call_.root)) return;
    std::vector<double>& given = call_.kind == Kind::broadcast ? out_ : in_;
    const auto words = static_cast<std::size_t>(blocks * call_.count);
    constexpr std::size_t kStep = run::kLine / sizeof(double);
    ++written_;
    for (std::size_t i = 0; i < words; i += kStep) given[i] = written_;
  }

  /// The most that any rank has. False: it is over.
  template <std::size_t N>
  bool agree(std::array<double, N>& numbers) {
    std::array<double, N + 2> mine{}, most{};
    std::copy(numbers.begin(), numbers.end(), mine.begin());
    // One that fails does so before anything is sent: in the second one this rank says so.
    for (int time = 0;; ++time) {
      mine[N] = failed_ ? 1 : 0;
      mine[N + 1] = clock_now() - begin_;
      const int code = CHASQUI_LIBRARY(Allreduce)(mine.data(), most.data(), N + 2, MPI_DOUBLE, MPI_MAX, native_);
      if (code == MPI_SUCCESS) break;
      attempt([&] { check_library(code, "MPI_Allreduce"); });
      if (time == 0) continue;
      say_last("MPI_Allreduce fails twice in MPI_Init: CHASQUI_REHEARSE=0 leaves out what it is needed for");
      PMPI_Abort(native_, 1);
    }
    std::copy(most.begin(), most.begin() + N, numbers.begin());
    if (most[N] > 0) expectations = {};
    return most[N] == 0 && most[N + 1] < static_cast<double>(settings().rehearse) * 1e6;
  }

  /// least: nanoseconds from call to call, by Side.
  void note(Collective what, std::size_t bytes, const std::array<double, 2>& least) const {
    if (what == Collective::Barrier) bytes = 0;
    expectations[static_cast<std::size_t>(what)][static_cast<std::size_t>(class_of_size(bytes))] =
        expected_of(what, bytes, least[0], least[1]);
    if (!settings().log || comm_->rank() != 0) return;
    say(fmt::format("rehearsed MPI_{} of {} bytes: {:.2f} us, {:.2f} us natively, factor {:.2f}", to_string(what),
                    bytes, least[1] / 1000, least[0] / 1000, least[0] / least[1]));
  }

  std::unique_ptr<run::Comm> comm_;
  MPI_Comm native_;
  std::vector<double> in_, out_;
  run::Call call_;
  double written_ = 0;
  double begin_ = 0;
  bool failed_ = false;
};

void rehearse(int size) {
  const Settings& s = settings();
  std::unique_ptr<run::Comm> comm;
  try {
    comm = make_private_world();
  } catch (const std::exception& error) {  // on all ranks
    if (s.log) say(error.what());
  }
  if (comm == nullptr || run::crowded(*comm)) return;
  expectations_for = size;
  Rehearsal rehearsal(std::move(comm), private_world());
  const auto applies = [&](const Rehearsed& each, std::size_t bytes) {
    if (s.disabled[static_cast<int>(each.what)] || bytes > each.longest) return false;
    if (each.kind == Kind::barrier) return bytes == kSizes[0];
    if (each.kind == Kind::reduce_scatter) {  // an element for each rank
      const std::size_t least = static_cast<std::size_t>(size) * sizeof(double);
      return class_of_size(std::max(bytes, least)) == class_of_size(bytes);
    }
    return !run::has_blocks(each.kind) || bytes * static_cast<std::size_t>(size) <= kMostBytes;
  };
  for (const bool rare : {false, true}) {
    for (const std::size_t bytes : kSizes) {
      for (const Rehearsed& each : kRehearsed) {
        if (each.rare == rare && applies(each, bytes) && !rehearsal.compare(each, bytes)) return rehearsal.end();
      }
    }
  }
  rehearsal.end();
}

}  // namespace

void rehearse_world() {
  const Settings& s = settings();
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (s.rehearse == 0 || s.trials == 0 || s.verify || s.reproducible || size == 1) return;
  const double begin = clock_now();
  rehearse(size);
  note_rehearsed(clock_now() - begin);
}

Expected rehearsed(Collective what, std::size_t bytes, int ranks) {
  if (ranks != expectations_for) return {};
  const int least = what == Collective::Barrier ? 0 : class_of_size(kSizes[0]);
  const int own = std::max(least, class_of_size(bytes));
  // Up to 16 times longer ones are expected to go as the longest that was tried: programs make few, and comparing would take most of them.
  constexpr std::size_t kLongest = kSizes[std::size(kSizes) - 1];
  const int longest = class_of_size(kLongest);
  const bool beyond = own > longest && own <= longest + 2;
  const Expected expected =
      expectations[static_cast<std::size_t>(what)][static_cast<std::size_t>(beyond ? longest : own)];
  if (!beyond) return expected;
  return expected_beyond(what, expected, static_cast<double>(bytes) / static_cast<double>(kLongest));
}

}  // namespace chasqui::preload
