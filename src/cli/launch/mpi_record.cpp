// SPDX-License-Identifier: MIT
#include "cli/launch/mpi_record.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/show/timeline_file.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/alike.hpp"
#include "cli/launch/launcher.hpp"
#include "cli/launch/recorded.hpp"
#include "measure/clocks.hpp"

namespace chasqui::cli {
namespace {

constexpr int kTrips = 20;  ///< to a rank and back, when clocks are compared

using Events = std::vector<run::RecordedEvent>;

/// Do ranks lie on several hosts, each with a clock of its own?
bool several_hosts() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 1, least = 1, size = 1;
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&here, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least < size;
}

/// Rank 0: the greatest error between two clocks, when each may be off by its own from rank 0's.
double error_between_two(double own, int rank, int size) {
  std::vector<double> errors(rank == 0 ? static_cast<std::size_t>(size) : 0);
  MPI_Gather(&own, 1, MPI_DOUBLE, errors.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  std::sort(errors.begin(), errors.end(), std::greater<>());
  return errors.empty() ? 0 : errors[0] + (errors.size() > 1 ? errors[1] : 0);
}

/// Every rank's events at rank 0.
Log gathered(const Events& mine, int rank, int size) {
  static_assert(std::is_trivially_copyable_v<run::RecordedEvent>);
  const int bytes = static_cast<int>(mine.size() * sizeof(run::RecordedEvent));
  std::vector<int> lengths(static_cast<std::size_t>(size)), places(lengths.size());
  MPI_Gather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int all = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) places[i] = all, all += lengths[i];
  Events events(rank == 0 ? static_cast<std::size_t>(all) / sizeof(run::RecordedEvent) : 0);
  MPI_Gatherv(mine.data(), bytes, MPI_BYTE, events.data(), lengths.data(), places.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  Log log;
  for (std::size_t i = 0; rank == 0 && i < lengths.size(); ++i) {
    const auto from = events.begin() + places[i] / static_cast<int>(sizeof(run::RecordedEvent));
    log.emplace_back(from, from + lengths[i] / static_cast<int>(sizeof(run::RecordedEvent)));
  }
  return log;
}

/// From the first event of any rank to the last, on all ranks alike.
std::int64_t length_of(const Events& mine) {
  const auto [first, last] = span_of({mine});
  const bool any = last > first;
  std::int64_t ends[2] = {any ? -first : INT64_MIN, any ? last : INT64_MIN};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return ends[0] == INT64_MIN ? 0 : ends[1] + ends[0];
}

}  // namespace

void record_mpi(std::map<std::string, std::string> options) {
  const Wanted wanted{options["--collective"], std::stoll(options["--bytes"]), options["--method"]};
  const std::int64_t repeat = std::stoll(options["--repeat"]);
  mpi::Options how;
  if (options.contains("--machine"))
    how.profile = std::make_shared<const Profile>(profile_for_all(options["--machine"]));
  how.slots = how.native = false;  // messages alone: what is drawn is what ran
  std::shared_ptr<run::RecordingTransport> recording;
  how.around = [&](std::shared_ptr<run::Transport> inner) {
    // Counting from the clock's own beginning, ranks of one host agree.
    return recording = std::make_shared<run::RecordingTransport>(std::move(inner), run::RecordingTransport::Origin{});
  };
  const auto comm = mpi::make_comm(MPI_COMM_WORLD, how);
  const std::string method = alike([&] { return force_method(*comm, wanted); });
  run::ClockOffset offset;
  if (several_hosts() || options.contains("--clocks")) offset = run::clock_offset(*recording, clock_now, kTrips);
  const double uncertainty = error_between_two(offset.uncertainty, comm->rank(), comm->size());
  RecordedCall call(wanted, comm->size());
  Events best;
  std::int64_t shortest = -1;
  Progress bar("recording", comm->rank() == 0 && launcher_has_terminal());
  recording->take();
  for (std::int64_t i = 0; i < repeat; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    call.run(*comm);
    Events events = recording->take();
    set_back(events, std::llround(offset.ahead));
    const std::int64_t length = length_of(events);
    if (shortest < 0 || length < shortest) best = std::move(events), shortest = length;
    bar(static_cast<double>(i) / static_cast<double>(repeat));
  }
  const Log log = gathered(best, comm->rank(), comm->size());
  if (comm->rank() != 0) return;
  const std::string title = title_of(wanted, log, "processes (" CHASQUI_MPI_FLAVOUR ")", method);
  const show::Timeline timeline = timeline_of(log, title);
  const std::string path = options["--out"];
  std::ofstream file;
  if (path != "-") file.open(path, std::ios::binary);
  (path == "-" ? std::cout : file) << show::timeline_json(timeline);
  if (path == "-") return;
  if (!file.flush()) throw Error("{}: cannot be written: check the folder and its permissions", path);
  wipe_progress();
  if (uncertainty > 0) {
    std::printf("clocks compared, they agree to %.1f us; the shortest message takes %.1f us\n", uncertainty / 1000,
                static_cast<double>(shortest_flight(log).value_or(0)) / 1000);
  }
  std::printf("%s\n%zu messages, wrote %s\n", title.c_str(), timeline.messages.size(), path.c_str());
}

}  // namespace chasqui::cli
