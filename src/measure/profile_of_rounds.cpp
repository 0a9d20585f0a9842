// SPDX-License-Identifier: MIT
#include "measure/profile_of_rounds.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace chasqui::measure {
namespace {

std::string today() {
  char text[32];
  const std::time_t t = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

template <typename Test>
std::vector<Parameters> those(const std::vector<Parameters>& rounds, Test test) {
  std::vector<Parameters> list;
  std::copy_if(rounds.begin(), rounds.end(), std::back_inserter(list), test);
  return list;
}

}  // namespace

Profile profile_of(const std::vector<Parameters>& rounds, const CollectiveTimes& table) {
  const auto messages_of = [&](std::optional<MessageParameters> Parameters::*part) {
    std::vector<MessageParameters> found;
    for (const Parameters& round : rounds) {
      if (round.*part) found.push_back(*(round.*part));
    }
    return found;
  };
  const std::vector<MessageParameters> inside = messages_of(&Parameters::node),
                                       between = messages_of(&Parameters::network);
  const auto boards = those(rounds, [](const Parameters& r) { return r.board; });
  Profile profile;
  profile.when = today();
  Level node = inside.empty() ? *default_profile().level("node") : level_of("node", inside);
  if (!boards.empty()) {
    const Parameters& first = boards.front();
    const double others = static_cast<double>(std::max<std::int64_t>(1, first.node_ranks - 1));
    node.publish = over_rounds(boards, [](const Parameters& r) { return r.on_board.publish; });
    node.write = over_rounds(boards, [](const Parameters& r) { return r.on_board.write; });
    node.read = over_rounds(boards, [](const Parameters& r) { return r.on_board.read; });
    node.publish_per_rank = over_rounds(boards, [&](const Parameters& r) {
      return std::max(0.0, r.on_board.publish_all - r.on_board.publish) / others;
    });
    node.copy = over_rounds(boards, [](const Parameters& r) { return r.on_board.copy; });
    node.threads = first.threads;
    node.ranks = first.node_ranks;
    for (std::size_t i = 0; i < kSharedKinds; ++i) {
      const auto levels = those(boards, [i](const Parameters& r) { return r.near[i] > 0; });
      if (!levels.empty()) node.near[i] = over_rounds(levels, [i](const Parameters& r) { return r.near[i]; });
    }
  }
  node.assumed = inside.empty() && boards.empty();
  // Where there is one node only, the messages inside it stand in for the network.
  Level network = between.empty() ? node : level_of("network", between);
  network.name = "network";
  network.assumed = between.empty();
  network.threads = false;
  network.ranks = rounds.front().ranks;
  std::vector<FanIn> fan_ins;
  for (const Parameters& round : rounds) fan_ins.push_back(round.fan_in);
  network.receives_in_parallel = !between.empty() && receives_in_parallel(fan_ins, network.G.value);
  std::vector<std::vector<NodeBurst>> bursts;
  for (const Parameters& round : rounds) {
    if (!round.bursts.empty()) bursts.push_back(round.bursts);
  }
  if (!bursts.empty()) {
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

}  // namespace chasqui::measure
