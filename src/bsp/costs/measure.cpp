// SPDX-License-Identifier: MIT
#include "chasqui/bsp/measure.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/json_text.hpp"
#include "bsp/engines.hpp"
#include "chasqui/base/file.hpp"

namespace chasqui::bsp {

namespace {

/// Median wall-clock nanoseconds of `rounds` supersteps on rank 0, the first ones left out.
template <typename Fill>
double superstep_time(World& w, int rounds, const Fill& fill) {
  std::vector<double> times;
  for (int round = -2; round < rounds; ++round) {
    w.sync();
    const std::int64_t begin = clock_nanoseconds();
    fill();
    w.sync();
    if (round >= 0) times.push_back(static_cast<double>(clock_nanoseconds() - begin));
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

}  // namespace

Profile measure(const Runner& runner) {
  Profile profile;
  runner([&](World& w) {
    const int to = (w.rank() + 1) % w.size();
    const std::int64_t packed = std::int64_t{1} << 30;
    const double empty = superstep_time(w, 51, [] {});
    constexpr int kMessages = 20000, kBlocks = 500;
    constexpr std::size_t kBytes = std::size_t{1} << 20;
    w.set_block_bytes(packed);
    const double many = superstep_time(w, 7, [&] {
      for (int i = 0; i < kMessages; ++i) w.send(to, std::int64_t{i});
    });
    w.set_block_bytes(1);
    const double alone = superstep_time(w, 7, [&] {
      for (int i = 0; i < kBlocks; ++i) w.send(to, std::int64_t{i});
    });
    w.set_block_bytes(packed);
    const std::vector<std::int64_t> bulk(kBytes / 8);
    const double large = superstep_time(w, 7, [&] { w.send(to, bulk); });
    if (w.rank() != 0) return;
    profile.p = w.size();
    profile.latency = empty;
    profile.message_gap = std::max(0.0, many - empty) / kMessages;
    profile.block_cost = std::max(0.0, alone - empty) / kBlocks;
    profile.byte_gap = std::max(0.0, large - empty) / static_cast<double>(kBytes);
  });
  return profile;
}

std::string to_json(const Profile& profile) {
  return nlohmann::json{{"chasqui_bsp_profile", 1},        {"p", profile.p},
                        {"L_ns", profile.latency},         {"g_ns", profile.message_gap},
                        {"block_ns", profile.block_cost},  {"byte_ns", profile.byte_gap},
                        {"B_bytes", profile.block_bytes()}}
      .dump();
}

Profile profile_from_json(const std::string& text, const std::string& place) {
  try {
    const auto in = json_document(text, place, "write one with `chasqui bsp measure --json`");
    if (in.at("chasqui_bsp_profile").get<int>() != 1) throw Error("{}: not version 1 of a BSP profile", place);
    const Profile profile{in.at("p").get<std::int64_t>(), in.at("L_ns").get<double>(), in.at("g_ns").get<double>(),
                          in.at("block_ns").get<double>(), in.at("byte_ns").get<double>()};
    constexpr double kMost = 1e18;  // 30 years
    for (const double time : {profile.latency, profile.message_gap, profile.block_cost, profile.byte_gap}) {
      if (!(time >= 0 && time <= kMost) || profile.p < 1)
        throw Error("{}: no BSP profile: expected at least one processor and times of 0 .. {} ns", place, kMost);
    }
    return profile;
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}: no BSP profile ({}); write one with `chasqui bsp measure --json`", place, error.what());
  }
}

namespace detail {

std::int64_t default_block_bytes() {
  static const std::int64_t bytes = [] {
    constexpr std::int64_t kUnmeasured = 64 * 1024;
    const char* const path = std::getenv("CHASQUI_BSP_PROFILE");
    if (path == nullptr || *path == '\0') return kUnmeasured;
    const std::string text = read_file(path, "unset $CHASQUI_BSP_PROFILE or run `chasqui bsp measure --json`");
    const double measured = profile_from_json(text, path).block_bytes();
    return std::max<std::int64_t>(64, static_cast<std::int64_t>(std::min(measured, 1e9)));
  }();
  return bytes;
}

}  // namespace detail

}  // namespace chasqui::bsp
