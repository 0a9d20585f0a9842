// SPDX-License-Identifier: MIT
// Is this a profile of so many ranks that a machine can have? check_profile FILE ranks
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"

namespace {

constexpr double kMinute = 60e9;

void expect(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what);
}

/// Something between nothing and a minute, inside its interval.
void sane(const chasqui::Estimate& e, const std::string& name, double largest = kMinute) {
  expect(std::isfinite(e.low) && std::isfinite(e.value) && std::isfinite(e.high), name + " is no number");
  expect(0 <= e.low && e.low <= e.value && e.value <= e.high && e.high < largest,
         fmt::format("{}: {} in {} .. {}", name, e.value, e.low, e.high));
}

void check(const chasqui::Profile& profile, std::int64_t ranks) {
  expect(!profile.host.empty() && !profile.how.empty() && profile.when.size() == 20,
         "it does not say where, how and when");
  for (const char* name : {"node", "network"}) {
    const chasqui::Level* level = profile.level(name);
    expect(level != nullptr && level->ranks == ranks, fmt::format("{}: not of {} ranks", name, ranks));
    sane(level->L, "L");
    sane(level->o_s, "o_s");
    sane(level->o_r, "o_r");
    sane(level->g, "g");
    sane(level->G, "G", 1e6);
    sane(level->B, "B", 1e18);
    expect(level->o_s.value > 0 && level->o_r.value > 0 && level->G.value > 0,
           "an overhead or the gap per byte is nothing");
    for (const std::int64_t bytes : level->switches)
      expect(64 <= bytes && bytes < 1 << 20, fmt::format("a protocol switch at {}", bytes));
  }
  sane(profile.level("node")->publish, "publish");
  expect(profile.level("node")->publish.value > 0, "publishing takes no time");
  sane(profile.level("node")->write, "write");
  sane(profile.level("node")->read, "read");
  expect(profile.level("node")->read.value > 0, "reading takes no time");
  sane(profile.bsp_g, "bsp g");
  sane(profile.bsp_L, "bsp L");
  for (const auto* table : {&profile.measured, &profile.native}) {
    for (const auto& [kind, times] : *table) {
      std::int64_t last = -1;
      for (const auto& [bytes, time] : times) {
        expect(bytes > last && time > 0 && time < kMinute, fmt::format("{} of {} bytes: {} ns", kind, bytes, time));
        last = bytes;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: check_profile FILE ranks\n");
    return 2;
  }
  try {
    check(chasqui::read_profile(argv[1]), std::atoll(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}
