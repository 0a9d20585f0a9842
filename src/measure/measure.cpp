// SPDX-License-Identifier: MIT
#include "chasqui/measure/measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/collective_times.hpp"
#include "measure/message_probe.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr double kParameters = 0.6;  ///< of the time at most; the rest is the table's
constexpr int kFew = 3;              ///< rounds that are worth all of the time: an interval needs them

std::string today() {
  char text[32];
  const std::time_t t = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Profile profile_of(const std::vector<Parameters>& rounds, const CollectiveTimes& table) {
  const Parameters& first = rounds.front();
  const auto level = [&](const char* name, std::optional<MessageParameters> Parameters::*part) {
    std::vector<MessageParameters> parts;
    for (const Parameters& round : rounds) parts.push_back(*(round.*part));
    return level_of(name, parts);
  };
  Profile profile;
  profile.when = today();
  Level node = first.node ? level("node", &Parameters::node) : *default_profile().level("node");
  if (first.board) {
    const double others = static_cast<double>(std::max<std::int64_t>(1, first.node_ranks - 1));
    node.publish = over_rounds(rounds, [](const Parameters& r) { return r.on_board.publish; });
    node.write = over_rounds(rounds, [](const Parameters& r) { return r.on_board.write; });
    node.read = over_rounds(rounds, [](const Parameters& r) { return r.on_board.read; });
    node.publish_per_rank = over_rounds(rounds, [&](const Parameters& r) {
      return std::max(0.0, r.on_board.publish_all - r.on_board.publish) / others;
    });
    node.copy = over_rounds(rounds, [](const Parameters& r) { return r.on_board.copy; });
    node.threads = first.threads;
    if (first.near > 0) node.near = over_rounds(rounds, [](const Parameters& r) { return r.near; });
  }
  node.ranks = first.node_ranks;
  node.assumed = !first.node && !first.board;
  // Where there is one node only, the messages inside it stand in for the network.
  Level network = first.network ? level("network", &Parameters::network) : node;
  network.name = "network";
  network.assumed = !first.network;
  network.threads = false;
  network.ranks = first.ranks;
  std::vector<FanIn> fan_ins;
  for (const Parameters& round : rounds) fan_ins.push_back(round.fan_in);
  network.receives_in_parallel = first.network && receives_in_parallel(fan_ins, network.G.value);
  if (!first.bursts.empty()) {
    std::vector<std::vector<NodeBurst>> bursts;
    for (const Parameters& round : rounds) bursts.push_back(round.bursts);
    network.lane_gaps = lane_gaps(bursts);
    network.node_g = node_gap(network.lane_gaps);
    network.node_G = node_gap_per_byte(network.lane_gaps);
    network.G = gap_per_byte_among_others(network.G, network.lane_gaps);
  }
  profile.levels = {node, network};
  profile.bsp_g = word_gap(rounds, network);
  profile.bsp_L = over_rounds(rounds, [&](const Parameters& r) { return std::max(0.0, r.superstep - per_word(r)); });
  profile.bsp_G = over_rounds(rounds, [&](const Parameters& r) {
    const int h = blocks_sent(r.ranks);
    return std::max(0.0, r.block_superstep - r.superstep - (h - 1) * per_word(r)) / (h * static_cast<double>(kBlock));
  });
  profile.measured = table.ours();
  profile.cross_memory = table.cross_memory();
  profile.native = table.native();
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  profile.host = host;
  return profile;
}

/// How many rounds more, when the next ones take `least` nanoseconds with one sample of each parameter.
int rounds_to_come(int made, double left, double least) {
  const double fit = (made < kFew ? 1 : kParameters) * left / std::max(least, 1.0);
  return std::clamp(static_cast<int>(std::min<double>(fit, kRounds)), 0, kRounds - made);
}

}  // namespace

Measurement measure(const WithComm& with_comm, const MeasureOptions& options) {
  Measurement result;
  result.stated = options.seconds;
  std::vector<Parameters> rounds;  // on rank 0
  CollectiveTimes table;
  const double start = clock_now(), end = start + options.seconds * 1e9;
  int to_come = kRounds;
  double least = 0;  // of all rounds together
  for (int k = 0; to_come > 0; ++k) {
    const double before = clock_now();
    with_comm([&](Comm& comm) {
      const bool tells = comm.rank() == 0;
      const double begun = clock_now(), making = begun - before;
      int more = to_come;
      RoundBudget budget{begun, (end - begun - making * (more - 1)) / more, {}};
      if (tells && options.progress) {
        budget.progress = [&](const char* what) {
          const double share = std::clamp((clock_now() - start) / (end - start), 0.0, 1.0);
          options.progress(share, fmt::format("round {} of {}: {}", k + 1, k + more, what));
        };
      }
      const Parameters round = measure_parameters(comm, budget);
      if (tells) {
        rounds.push_back(round);
        least += making + (round.cut ? clock_now() - begun : round.least);
        more = std::min(more - 1, rounds_to_come(k + 1, end - clock_now(), least / (k + 1)));
        if (more == 0) budget.nanoseconds = end - begun;  // the table has the rest
      }
      if (options.tables) table.measure(comm, budget);
      comm.broadcast(more, 0);
      if (tells || !comm.topology().shares_memory) to_come = more;
    });
  }
  result.taken = (clock_now() - start) / 1e9;
  if (rounds.empty()) return result;
  if (options.progress) options.progress(1, "done");
  result.profile = profile_of(rounds, table);
  result.rounds = static_cast<int>(rounds.size());
  result.hasty =
      static_cast<int>(std::count_if(rounds.begin(), rounds.end(), [](const Parameters& round) { return round.cut; }));
  for (const Parameters& round : rounds) result.clocks = std::max(result.clocks, round.clocks);
  result.timed = table.timed();
  result.collectives = table.entries();
  return result;
}

std::string to_text(const Measurement& m) {
  std::string cut;
  if (m.rounds < kRounds)
    cut += fmt::format("cut short: {} of {} rounds; the intervals are wider\n", m.rounds, kRounds);
  if (m.hasty > 0)
    cut += fmt::format("cut short: in {} of {} rounds some parameter has one sample only\n", m.hasty, m.rounds);
  if (m.timed < m.collectives) cut += "cut short: collectives that were not timed are predicted from the others\n";
  if (!cut.empty()) cut += "more --seconds, or fewer programs beside it, give the rest\n";
  return fmt::format("stated {:.3g} s, taken {:.3g} s; rounds: {}; collectives timed: {} of {}\n", m.stated, m.taken,
                     m.rounds, m.timed, m.collectives) +
         (m.clocks > 0
              ? fmt::format("the hosts' clocks were compared: times may be off by {:.1f} us at most\n", m.clocks / 1000)
              : "") +
         cut;
}

}  // namespace chasqui::measure
