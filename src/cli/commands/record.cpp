// SPDX-License-Identifier: MIT
// chasqui record: runs a collective on threads or under MPI, by messages, and keeps when every message was sent and received.
#include <barrier>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/show/timeline_file.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/mpi_twin.hpp"
#include "cli/launch/recorded.hpp"
#include "run/wait/cores.hpp"
#include "threads/channels.hpp"

namespace chasqui::cli {
namespace {

class RecordCommand final : public Command {
 public:
  RecordCommand() : Command("record", "run a collective and keep the times of its messages") {
    describe(
        "The collective runs by messages alone, as between nodes, several times; the fastest run is kept. Threads by default; "
        "with --mpi, started by mpirun, the processes of that run, whose clocks are compared where they are on several hosts. "
        "`chasqui draw` shows the file as a chart, or writes it as a timeline for Perfetto. A reception is drawn from when "
        "its rank looked and found the message, which may be later than the message's arrival.");
    positional("COLLECTIVE", &wanted_.collective, "what to run")
        .required()
        .choices(plan::collective_names(&plan::Collective::called));
    option("--threads", "N", &threads_, "ranks, one thread each (default 4)");
    flag("--mpi", mpi_, "record the MPI run this is part of: mpirun -np 4 chasqui record broadcast --mpi");
    option("--bytes", "N", &wanted_.bytes, "of one rank's contribution (default 64), rounded up to 8");
    option("--method", "NAME", &wanted_.method,
           "tree, items, exchange, …: what `chasqui explain` lists; default: what it would choose");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`, for the choice of method").file();
    option("--repeat", "N", &repeat_, "how often to run (default 50)");
    option("--out", "FILE", &out_, "where the run goes (default run.json)").output();
    example("chasqui record broadcast --threads 8 --out run.json", "eight threads, 64 bytes");
    example("mpirun -np 4 chasqui record allreduce --mpi --out run.json", "four processes");
    example("chasqui draw run.json --format trace --out run.trace.json", "for Perfetto or chrome://tracing");
  }

  int run(Output& out) override {
    if (threads_ < 1 || threads_ > 256) throw Error("--threads {} is not in 1..256", threads_);
    if (wanted_.bytes < 0 || wanted_.bytes > (1 << 28)) throw Error("--bytes {} is not in 0..2^28", wanted_.bytes);
    if (repeat_ < 1 || repeat_ > 1'000'000) throw Error("--repeat {} is not in 1..10^6", repeat_);
    if (mpi_) become_mpi_twin("record", words());
    profile_ = std::make_shared<const Profile>(machine_ ? read_profile(*machine_) : default_profile());
    const Log log = fastest();
    const std::string title = title_of(wanted_, log, "threads", used_);
    const show::Timeline timeline = timeline_of(log, title);
    write_file(out_, show::timeline_json(timeline), out);
    if (out_ != "-") out.print("{}\n{} messages, wrote {}\n", title, timeline.messages.size(), out_);
    return 0;
  }

 private:
  std::vector<std::string> words() const {
    std::vector<std::string> list = {"--collective", wanted_.collective,      "--bytes", std::to_string(wanted_.bytes),
                                     "--repeat",     std::to_string(repeat_), "--out",   out_};
    if (!wanted_.method.empty()) list.insert(list.end(), {"--method", wanted_.method});
    if (machine_) list.insert(list.end(), {"--machine", *machine_});
    return list;
  }

  /// Runs `repeat_` times; the log of the shortest run.
  Log fastest() {
    const auto n = static_cast<std::size_t>(threads_);
    const auto memory = std::make_shared<run::ChannelMemory>(static_cast<int>(n));
    const auto origin = std::chrono::steady_clock::now();
    const int cores = run::available_cores();
    std::vector<std::shared_ptr<run::RecordingTransport>> transports;
    std::vector<std::unique_ptr<run::Comm>> comms;
    for (std::size_t rank = 0; rank < n; ++rank) {
      transports.push_back(std::make_shared<run::RecordingTransport>(
          std::make_shared<run::ChannelTransport>(memory, static_cast<int>(rank)), origin));
      run::Fabric fabric;
      fabric.rank = static_cast<int>(rank);
      fabric.size = static_cast<int>(n);
      fabric.messages = transports.back();
      fabric.profile = profile_;
      fabric.crowded = fabric.size > cores;
      comms.push_back(std::make_unique<run::Comm>(std::move(fabric)));
      used_ = force_method(*comms.back(), wanted_);
    }
    Progress bar("recording");
    Log best, latest(n);
    std::barrier together(static_cast<std::ptrdiff_t>(n));
    const auto body = [&](std::size_t rank) {
      RecordedCall call(wanted_, static_cast<int>(n));
      for (std::int64_t i = 0; i < repeat_; ++i) {
        together.arrive_and_wait();
        call.run(*comms[rank]);
        latest[rank] = transports[rank]->take();
        together.arrive_and_wait();
        if (rank != 0) continue;
        bar(static_cast<double>(i) / static_cast<double>(repeat_));
        const auto length = [](const Log& log) { return span_of(log).second - span_of(log).first; };
        if (best.empty() || length(latest) < length(best)) best = latest;
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t rank = 1; rank < n; ++rank) threads.emplace_back(body, rank);
    body(0);
    for (std::thread& thread : threads) thread.join();
    return best;
  }

  Wanted wanted_;
  std::int64_t threads_ = 4;
  bool mpi_ = false;
  std::string used_;
  std::optional<std::string> machine_;
  std::int64_t repeat_ = 50;
  std::string out_ = "run.json";
  std::shared_ptr<const Profile> profile_;
};

}  // namespace

CommandPtr make_record_command() { return std::make_unique<RecordCommand>(); }

}  // namespace chasqui::cli
