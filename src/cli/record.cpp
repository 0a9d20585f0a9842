// SPDX-License-Identifier: MIT
// chasqui record: runs a collective on threads, by messages, and keeps when every message was sent and received.
#include <algorithm>
#include <barrier>
#include <map>
#include <thread>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "chasqui/run/channels.hpp"
#include "chasqui/run/comm.hpp"
#include "chasqui/run/recording.hpp"
#include "chasqui/show/timeline_file.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"

namespace chasqui::cli {
namespace {

using Log = std::vector<std::vector<run::RecordedEvent>>;  // by rank

/// From the first send to the last reception, in nanoseconds.
std::pair<std::int64_t, std::int64_t> span_of(const Log& log) {
  std::int64_t first = INT64_MAX, last = 0;
  for (const auto& events : log) {
    for (const run::RecordedEvent& event : events) first = std::min(first, event.begin), last = std::max(last, event.end);
  }
  return {std::min(first, last), last};
}

/// Messages of one pair and tag arrive in order, so the n-th send meets the n-th reception.
show::Timeline timeline_of(const Log& log, std::string title) {
  const std::int64_t start = span_of(log).first;
  show::Timeline timeline;
  timeline.title = std::move(title);
  timeline.P = std::ssize(log);
  timeline.measured = true;
  timeline.ticks_per_microsecond = 1000;
  std::map<std::tuple<int, int, std::uint32_t>, std::vector<std::size_t>> sent;
  const auto at = [&](std::int64_t nanoseconds) { return Time{nanoseconds - start}; };
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const run::RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (!event.sends) continue;
      sent[{rank, event.peer, event.tag}].push_back(timeline.messages.size());
      timeline.activities.push_back({Rank{rank}, show::Doing::send, at(event.begin), at(event.end), std::ssize(timeline.messages), 1});
      const auto bytes = static_cast<std::int32_t>(std::min<std::size_t>(event.bytes, INT32_MAX));
      timeline.messages.push_back({Rank{rank}, Rank{event.peer}, at(event.end), at(event.end), {bytes, 1}, {}});
    }
  }
  std::map<std::tuple<int, int, std::uint32_t>, std::size_t> received;
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const run::RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (event.sends) continue;
      const std::tuple pair{event.peer, rank, event.tag};
      const std::size_t number = received[pair]++;
      if (event.end == 0 || number >= sent[pair].size()) {
        ++timeline.left_out;
        continue;
      }
      const std::size_t message = sent[pair][number];
      show::Message& flight = timeline.messages[message];
      flight.departs = std::min(flight.departs, at(event.begin));  // it may be there before the sender's call returns
      flight.arrives = at(event.begin);
      timeline.activities.push_back({Rank{rank}, show::Doing::receive, at(event.begin), at(event.end), static_cast<std::int64_t>(message), 1});
    }
  }
  timeline.end = Time{span_of(log).second - start};
  normalise(timeline);
  return timeline;
}

class RecordCommand final : public Command {
 public:
  RecordCommand() : Command("record", "run a collective on threads and keep the times of its messages") {
    describe("The collective runs by messages alone, as between nodes, several times; the fastest run is kept. "
             "`chasqui draw` shows the file as a chart, or writes it as a timeline for Perfetto. A reception is drawn from when "
             "its rank looked and found the message, which may be later than the message's arrival.");
    positional("COLLECTIVE", &collective_, "what to run").required().choices({"broadcast", "reduce", "allreduce", "allgather", "gather", "scatter", "scan", "barrier"});
    option("--threads", "N", &threads_, "ranks, one thread each (default 4)");
    option("--bytes", "N", &bytes_, "of one rank's contribution (default 64), rounded up to 8");
    option("--method", "NAME", &method_, "tree, items, exchange, …: what `chasqui explain` lists; default: what it would choose");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure`, for the choice of method").file();
    option("--repeat", "N", &repeat_, "how often to run (default 50)");
    option("--out", "FILE", &out_, "where the run goes (default run.json)").file();
    example("chasqui record broadcast --threads 8 --out run.json", "eight threads, 64 bytes");
    example("chasqui draw run.json --format trace --out run.trace.json", "for Perfetto or chrome://tracing");
  }

  int run(Output& out) override {
    if (threads_ < 1 || threads_ > 256) throw Error("--threads {} is not in 1..256", threads_);
    if (bytes_ < 0 || bytes_ > (1 << 28)) throw Error("--bytes {} is not in 0..2^28", bytes_);
    if (repeat_ < 1 || repeat_ > 1'000'000) throw Error("--repeat {} is not in 1..10^6", repeat_);
    profile_ = std::make_shared<const Profile>(machine_ ? read_profile(*machine_) : default_profile());
    const Log log = fastest();
    const auto [first, last] = span_of(log);
    const std::string title = fmt::format("{} of {} bytes on {} threads by {}, {:.2f} us", collective_, words() * 8, threads_, used_,
                                          static_cast<double>(last - first) / 1000);
    const show::Timeline timeline = timeline_of(log, title);
    write_file(out_, show::timeline_json(timeline), out);
    if (out_ != "-") out.print("{}: {} messages\nwrote {}\n", title, timeline.messages.size(), out_);
    return 0;
  }

 private:
  std::int64_t words() const { return (bytes_ + 7) / 8; }

  void call(run::Comm& comm, std::vector<std::int64_t>& in, std::vector<std::int64_t>& all) const {
    const std::span<const std::int64_t> mine(in.data(), static_cast<std::size_t>(words()));
    const std::span<std::int64_t> whole(all);
    const auto part = whole.first(static_cast<std::size_t>(words()));
    const Kind kind = *kind_from(collective_);
    if (kind == Kind::barrier) comm.barrier();
    if (kind == Kind::broadcast) comm.broadcast(part);
    if (kind == Kind::reduce) comm.reduce(mine, part, 0);
    if (kind == Kind::allreduce) comm.allreduce(mine, part);
    if (kind == Kind::scan) comm.scan(mine, part);
    if (kind == Kind::allgather) comm.allgather(mine, whole);
    if (kind == Kind::gather) comm.gather(mine, whole);
    if (kind == Kind::scatter) comm.scatter(std::span<const std::int64_t>(all), std::span(in).first(part.size()));
  }

  void force_method(run::Comm& comm) {
    run::Call call{.kind = *kind_from(collective_), .count = words()};
    call.layout.element = sizeof(std::int64_t);
    std::string there;
    for (const run::Choice& choice : comm.choices_for(call)) {
      if (comm.rank() == 0 && used_.empty() && method_.empty()) used_ = to_string(choice.method);
      if (method_.empty()) return;
      there += (there.empty() ? "" : ", ") + std::string(to_string(choice.method));
      if (to_string(choice.method) != method_) continue;
      if (comm.rank() == 0) used_ = method_;
      return comm.force(choice);
    }
    throw Error("--method {} is not there for this call: {}", method_, there);
  }

  /// Runs `repeat_` times; the log of the shortest run.
  Log fastest() {
    const auto n = static_cast<std::size_t>(threads_);
    const auto memory = std::make_shared<run::ChannelMemory>(static_cast<int>(n));
    const auto origin = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<run::RecordingTransport>> transports;
    std::vector<std::unique_ptr<run::Comm>> comms;
    for (std::size_t rank = 0; rank < n; ++rank) {
      transports.push_back(std::make_shared<run::RecordingTransport>(std::make_shared<run::ChannelTransport>(memory, static_cast<int>(rank)), origin));
      run::Fabric fabric;
      fabric.rank = static_cast<int>(rank);
      fabric.size = static_cast<int>(n);
      fabric.messages = transports.back();
      fabric.profile = profile_;
      comms.push_back(std::make_unique<run::Comm>(std::move(fabric)));
      force_method(*comms.back());
    }
    Progress bar("recording");
    Log best, latest(n);
    std::barrier together(static_cast<std::ptrdiff_t>(n));
    const auto body = [&](std::size_t rank) {
      std::vector<std::int64_t> in(static_cast<std::size_t>(words()), 1), all(in.size() * n, 1);
      for (std::int64_t i = 0; i < repeat_; ++i) {
        together.arrive_and_wait();
        call(*comms[rank], in, all);
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

  std::string collective_;
  std::int64_t threads_ = 4;
  std::int64_t bytes_ = 64;
  std::string method_;
  std::string used_;
  std::optional<std::string> machine_;
  std::int64_t repeat_ = 50;
  std::string out_ = "run.json";
  std::shared_ptr<const Profile> profile_;
};

}  // namespace

CommandPtr make_record_command() { return std::make_unique<RecordCommand>(); }

}  // namespace chasqui::cli
