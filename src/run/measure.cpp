// SPDX-License-Identifier: MIT
#include "chasqui/run/measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>

#include "chasqui/base/error.hpp"
#include "message_probe.hpp"

namespace chasqui::run {
namespace {

constexpr double kMessages = 0.3, kBoard = 0.1, kBsp = 0.1, kTable = 0.5;  ///< shares of a round
constexpr int kWords = 32;                                                ///< of the longer superstep
constexpr int kAtLeast = 3;                                               ///< samples of everything

/// What one round found.
struct Round {
  std::optional<MessageRound> node, network;
  bool board = false, threads = false;
  std::int64_t node_ranks = 0, ranks = 0;
  double publish = 0, publish_all = 0, copy = 0;
  double superstep = 0, long_superstep = 0;
  std::map<std::string, Times> ours, native;
};

/// Takes samples for some time; rank 0 decides how many, all ranks take as many.
class Clock {
 public:
  explicit Clock(Comm& comm, double nanoseconds) : comm_(comm), budget_(nanoseconds) {
    // A common start must lie behind the time that telling it takes, which is long on wide networks.
    const double before = clock_now();
    comm.barrier();
    comm.barrier();
    lead_ = std::max(20'000.0, comm.terrain().nodes > 1 ? 2 * (clock_now() - before) : 0.0);
  }

  double median(double share, const std::function<double()>& sample) {
    if (late_) return sample();
    sample();  // warms up
    const double start = clock_now();
    std::vector<double> samples;
    double fastest = 1e18;
    for (int more = kAtLeast; more > 0;) {
      for (int i = 0; i < more; ++i) {
        const double before = clock_now();
        samples.push_back(sample());
        fastest = std::min(fastest, clock_now() - before);
      }
      // As many as fit if each took as long as the fastest, given up where the machine is too busy for that.
      const double wanted = std::min(share * budget_ / std::max(fastest, 50.0), 400.0) - static_cast<double>(samples.size());
      more = clock_now() - start > 3 * share * budget_ ? 0 : static_cast<int>(std::clamp(wanted, 0.0, 32.0));
      if (more == 0 && clock_now() - begun_ > 3 * budget_) more = kLate;
      comm_.broadcast(more, 0);
      late_ = more == kLate;
    }
    return median_of(std::move(samples)).value;
  }
  /// One collective from a common start to the latest finish.
  double together(double share, const std::function<void()>& body) {
    return median(share, [&] { return once_together(body); });
  }
  double once_together(const std::function<void()>& body) {
    double start = clock_now() + lead_;
    comm_.broadcast(start, 0);
    while (clock_now() < start) cpu_relax();
    body();
    return comm_.allreduce(clock_now(), Maximum{}) - start;
  }
  Median as_median(double share) {
    return [this, share](double part, const std::function<double()>& sample) { return median(share * part, sample); };
  }

 private:
  static constexpr int kLate = -1;

  Comm& comm_;
  double budget_;
  double begun_ = clock_now();
  double lead_ = 0;
  bool late_ = false;  ///< three times the budget is spent: one sample of everything must do
};

void measure_board(Comm& comm, Clock& clock, Round& round) {
  double value = 1;
  round.publish = clock.together(kBoard / 3, [&] { comm.broadcast(value, 0); });
  round.publish_all = clock.together(kBoard / 3, [&] { comm.allreduce(value); });
  std::vector<std::byte> data(std::size_t{1} << 20);
  const double whole = clock.together(kBoard / 3, [&] { comm.broadcast(std::span<std::byte>(data), 0); });
  round.copy = std::max(0.0, whole - round.publish) / static_cast<double>(data.size());
}

/// Supersteps in which everybody sends and gets h words, then a barrier.
double superstep(Comm& comm, Clock& clock, int h) {
  Transport& transport = *comm.messages();
  const int size = comm.size();
  return clock.together(kBsp / 2, [&] {
    std::vector<std::uint64_t> out(static_cast<std::size_t>(h)), in(out.size());
    std::vector<Transport::Ticket> tickets;
    for (int i = 0; i < h; ++i) {
      const int shift = 1 + i % (size - 1);
      const auto at = static_cast<std::size_t>(i);
      tickets.push_back(transport.receive((comm.rank() - shift + size) % size, kProbeTag + 1, &in[at], 8));
      tickets.push_back(transport.send((comm.rank() + shift) % size, kProbeTag + 1, &out[at], 8));
    }
    for (const auto ticket : tickets) finish(transport, ticket);
    comm.barrier();
  });
}

/// The collectives as they are, ours and the library's in turn, so that both see the same weather.
void measure_collectives(Comm& comm, Clock& clock, Round& round) {
  constexpr std::size_t kSizes[] = {8, 56, 64, 112, 120, 1024, 8192, 65'536, 524'288, std::size_t{2} << 20,
                                    std::size_t{4} << 20};
  constexpr std::size_t kLargest = std::size_t{8} << 20;  // of all ranks' blocks together
  constexpr double kEntries = 78;
  static const Sum sum;
  for (const Kind kind : {Kind::barrier, Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::gather,
                          Kind::scatter, Kind::scan}) {
    const std::string name(to_string(kind));
    const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter;
    const std::size_t copies = blocks ? static_cast<std::size_t>(comm.size()) : 1;
    for (const std::size_t bytes : kSizes) {
      if (bytes > kSizes[0] && (kind == Kind::barrier || bytes * copies > kLargest)) break;
      std::vector<double> in(bytes / sizeof(double) * copies, 1.0), out(in.size(), 0.0);
      Call call{.kind = kind, .in = in.data(), .out = out.data(),
                .count = kind == Kind::barrier ? 0 : static_cast<std::int64_t>(bytes / sizeof(double)),
                .layout = {.element = sizeof(double)}, .op = operator_of<double>(sum, true)};
      const auto key = static_cast<std::int64_t>(call.bytes());
      const double share = kTable / kEntries / (comm.has_native() ? 2 : 1);
      round.ours[name].emplace_back(key, clock.together(share, [&] { comm.run(call); }));
      if (!comm.has_native()) continue;
      comm.force(Choice{Method::native, 0, 1, "measured"});
      round.native[name].emplace_back(key, clock.together(share, [&] { comm.run(call); }));
      comm.force(std::nullopt);
    }
  }
}

/// The last rank on another node than rank 0's; else the last.
int distant_rank(const Comm& comm) {
  for (int r = comm.size() - 1; r > 0; --r) {
    if (comm.node_of(r) != comm.node_of(0)) return r;
  }
  return comm.size() - 1;
}

Round measure_round(Comm& comm, double seconds) {
  if (comm.size() < 2) throw Error("measuring needs two ranks or more; this communicator has {}", comm.size());
  if (comm.messages() == nullptr) throw Error("measuring needs messages between the ranks");
  Clock clock(comm, seconds * 1e9);
  Round round;
  round.ranks = comm.size();
  round.threads = comm.terrain().shares_memory;
  const auto messages_of = [](Comm& some, Clock& time) {
    MessageProbe probe(some, distant_rank(some));
    return message_round(probe, time.as_median(kMessages));
  };
  const MessageRound messages = messages_of(comm, clock);
  if (comm.terrain().nodes > 1) round.network = messages;
  else round.node = messages;
  if (comm.terrain().board && comm.terrain().nodes == 1) {
    measure_board(comm, clock, round);
    round.board = true;
    round.node_ranks = comm.size();
  } else if (comm.terrain().largest_node > 1 && comm.terrain().board) {
    const auto node = comm.split(comm.node_of(comm.rank()), comm.rank());
    if (node->size() > 1 && node->terrain().nodes == 1) {
      Clock inside(*node, seconds * 1e9);
      round.node = messages_of(*node, inside);
      measure_board(*node, inside, round);
      round.board = true;
      round.node_ranks = node->size();
    }
    comm.barrier();
  }
  round.superstep = superstep(comm, clock, 1);
  round.long_superstep = superstep(comm, clock, kWords);
  measure_collectives(comm, clock, round);
  return round;
}

std::string today() {
  char text[32];
  const std::time_t t = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

using Table = std::map<std::string, Times> Round::*;
std::map<std::string, Times> medians(const std::vector<Round>& rounds, Table table) {
  std::map<std::string, Times> all = rounds.front().*table;
  for (auto& [kind, times] : all) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      times[i].second = over_rounds(rounds, [&, kind = kind](const Round& r) { return (r.*table).at(kind)[i].second; }).value;
    }
  }
  return all;
}

Profile profile_of(const std::vector<Round>& rounds) {
  const Round& first = rounds.front();
  const auto level = [&](const char* name, std::optional<MessageRound> Round::*part) {
    std::vector<MessageRound> parts;
    for (const Round& round : rounds) parts.push_back(*(round.*part));
    return level_of(name, parts);
  };
  Profile profile;
  profile.when = today();
  Level node = first.node ? level("node", &Round::node) : *default_profile().level("node");
  if (first.board) {
    const double others = static_cast<double>(std::max<std::int64_t>(1, first.node_ranks - 1));
    node.publish = over_rounds(rounds, [](const Round& r) { return r.publish; });
    node.publish_per_rank =
        over_rounds(rounds, [&](const Round& r) { return std::max(0.0, r.publish_all - r.publish) / others; });
    node.copy = over_rounds(rounds, [](const Round& r) { return r.copy; });
    node.threads = first.threads;
  }
  node.ranks = first.node_ranks;
  // Where there is one node only, the messages inside it stand in for the network.
  Level network = first.network ? level("network", &Round::network) : node;
  network.name = "network";
  network.threads = false;
  network.ranks = first.ranks;
  profile.levels = {node, network};
  const auto per_word = [](const Round& r) { return std::max(0.0, r.long_superstep - r.superstep) / (kWords - 1); };
  profile.bsp_g = over_rounds(rounds, per_word);
  profile.bsp_L = over_rounds(rounds, [&](const Round& r) { return std::max(0.0, r.superstep - per_word(r)); });
  profile.measured = medians(rounds, &Round::ours);
  profile.native = medians(rounds, &Round::native);
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  profile.host = host;
  return profile;
}

}  // namespace

Profile measure(const Anew& anew, const MeasureOptions& options) {
  std::vector<Round> rounds;
  const double start = clock_now();
  int go = 1;
  for (int k = 0; k < kRounds && go != 0; ++k) {
    anew([&](Comm& comm) {
      if (comm.rank() == 0 && options.progress) {
        options.progress(static_cast<double>(k) / kRounds, fmt::format("round {} of {}", k + 1, kRounds));
      }
      Round round = measure_round(comm, options.seconds / kRounds);
      const bool late = clock_now() - start > options.seconds * 1e9;
      int more = k + 1 < kFewestRounds || !late ? 1 : 0;
      comm.broadcast(more, 0);
      if (comm.rank() == 0) rounds.push_back(std::move(round));
      if (comm.rank() == 0 || !comm.terrain().shares_memory) go = more;
    });
  }
  if (rounds.empty()) return {};
  if (options.progress) options.progress(1, "done");
  return profile_of(rounds);
}

}  // namespace chasqui::run
