// SPDX-License-Identifier: MIT
// Sample sort: sort locally, agree on splitters from regular samples, exchange, merge. Four supersteps.
#include <algorithm>
#include <cstdio>
#include <random>

#include "chasqui/bsp/ledger_file.hpp"
#include "chasqui/bsp/run.hpp"

using chasqui::bsp::World;

std::vector<long> sample_sort(World& w, std::vector<long> mine) {
  const auto p = static_cast<std::size_t>(w.size());
  std::sort(mine.begin(), mine.end());
  std::vector<long> samples;
  for (std::size_t i = 1; i < p && !mine.empty(); ++i) samples.push_back(mine[mine.size() * i / p]);
  w.send(0, samples);
  w.sync();
  samples = w.received<long>().values();
  std::sort(samples.begin(), samples.end());
  std::vector<long> splitters;
  for (std::size_t i = 1; i < p && !samples.empty(); ++i) splitters.push_back(samples[samples.size() * i / p]);
  if (w.rank() == 0) {
    for (int to = 0; to < w.size(); ++to) w.send(to, splitters);
  }
  w.sync();
  splitters = w.received<long>().values();
  auto begin = mine.begin();
  for (std::size_t to = 0; to < p; ++to) {
    const auto end = to < splitters.size() ? std::upper_bound(begin, mine.end(), splitters[to]) : mine.end();
    w.send(static_cast<int>(to), std::span<const long>(begin, end));
    begin = end;
  }
  w.sync();
  mine = w.received<long>().values();
  std::sort(mine.begin(), mine.end());
  return mine;
}

int main() {
  bool sorted = true;
  const auto ledger = chasqui::bsp::run(8, [&](World& w) {
    std::mt19937_64 random(static_cast<unsigned>(w.rank()));
    std::vector<long> mine(20000);
    for (long& value : mine) value = static_cast<long>(random() % 1'000'000);
    mine = sample_sort(w, std::move(mine));
    // Everybody's first must not be smaller than the last of the one before.
    if (w.rank() + 1 < w.size()) w.send(w.rank() + 1, mine.back());
    w.sync();
    for (const auto& last : w.received<long>()) {
      if (last.value() > mine.front()) sorted = false;
    }
  });
  std::printf("%s", to_table(ledger, {chasqui::Bsp{8, 4, 1000}, chasqui::BspStar{8, 1, 1000, 64}}).c_str());
  return sorted ? 0 : 1;
}
