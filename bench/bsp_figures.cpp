// SPDX-License-Identifier: MIT
// Counted figures of docs/bsp.md, as CSV and SVG: `figures_bsp DIRECTORY`. No clock is involved, so every
// machine draws the same pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "bsp_plot.hpp"
#include "chasqui/bsp/broadcast.hpp"
#include "chasqui/bsp/multisearch.hpp"
#include "chasqui/bsp/predict.hpp"
#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp {
namespace {

const Options kVirtual{.engine = Engine::virtual_processors, .stack_bytes = 32 * 1024};

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  fmt::print("wrote {}\n", path);
}

/// Root(p) against doubling on the D-BSP hypercube: exact costs.
void broadcasts(const std::string& folder) {
  Plot plot{"Broadcast on a D-BSP hypercube, L(2^k) = k, g = 1: counted cost", "log2 p", "cost", {}, false};
  Series plain{"doubling: (log p)^2 + log p", "#cc3311", {}}, root{"Root(p)", "#0077bb", {}},
      model{"log p (log log p + 1) + ...: 2C(sqrt p) + log p + 1", "#999999", {}};
  std::string csv = "log2p,p,doubling,root,root_supersteps\n";
  for (int k = 1; k <= 16; ++k) {
    const int p = 1 << k;
    const auto machine = DBsp::hypercube(p);
    const Ledger a = run(
        p, [](World& w) { broadcast_doubling(w, w.rank()); }, kVirtual);
    const Ledger b = run(
        p, [](World& w) { broadcast_root(w, w.rank()); }, kVirtual);
    const double cost_a = predict(a, machine, Work::charged), cost_b = predict(b, machine, Work::charged);
    csv += fmt::format("{},{},{},{},{}\n", k, p, cost_a, cost_b, totals(b).supersteps);
    plain.points.push_back({static_cast<double>(k), cost_a});
    root.points.push_back({static_cast<double>(k), cost_b});
    if (k == 1 || k == 2 || k == 4 || k == 8 ||
        k == 16) {  // squares of squares: the recurrence in closed form
      const double l = std::log2(k);
      model.points.push_back({static_cast<double>(k), k * (l + 3) - 1});
    }
  }
  model.name = "log p (log log p + 3) - 1";
  plot.series = {plain, root, model};
  write(folder + "/bsp-broadcast.csv", csv);
  write(folder + "/bsp-broadcast.svg", to_svg(plot));
}

struct Counted {
  int levels = 0;
  std::int64_t small_blocks = 0;
  Totals sum;
  Ledger ledger;
};

/// n random queries among m segments on p processors; the building of the tree is left out of the sums.
Counted search(int p, std::int64_t n, std::int64_t m, int d, int z, int k) {
  Counted counted;
  std::mutex mutex;
  std::uint64_t built = 0;
  counted.ledger = run(
      p,
      [&](World& w) {
        const std::int64_t first = (m - 1) * w.rank() / p, last = (m - 1) * (w.rank() + 1) / p;
        std::vector<std::int64_t> splitters;
        for (std::int64_t i = first; i < last; ++i) splitters.push_back(2 * i + 1);
        std::mt19937_64 random(static_cast<std::uint64_t>(w.rank()) * 7919 + 1);
        std::vector<std::int64_t> queries(static_cast<std::size_t>(n / p));
        for (auto& query : queries)
          query = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * m));
        Multisearch<std::int64_t, std::int64_t> tree(w, splitters, {.d = d, .z = z, .k = k});
        const std::uint64_t before = w.superstep();
        tree.search(w, queries);
        const std::lock_guard lock(mutex);
        built = before;
        counted.levels = tree.counts().levels;
        counted.small_blocks = std::max(counted.small_blocks, tree.counts().most_small_blocks);
      },
      kVirtual);
  auto& steps = counted.ledger.machines.front().supersteps;
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(built));
  counted.sum = totals(counted.ledger);
  return counted;
}

void multisearch(const std::string& folder) {
  std::string csv = "p,n,m,d,z,k,levels,T,H_blocks,S_bytes,W,small_blocks,W_over_Tbin\n";
  const auto row = [&](int p, std::int64_t n, std::int64_t m, int d, int z, int k) {
    const Counted c = search(p, n, m, d, z, k);
    const double tbin = static_cast<double>(c.levels) * static_cast<double>(n / p) * std::log2(d);
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}\n", p, n, m, d, z, k, c.levels,
                       c.sum.supersteps, c.sum.blocks, c.sum.bytes, c.sum.work, c.small_blocks,
                       static_cast<double>(c.sum.work) / tbin);
    return c;
  };
  constexpr int kP = 256, kD = 4, kZ = 16, kK = 4;
  constexpr std::int64_t kM = 65536;
  // Blocks of one round of small jobs, over n/p.
  Plot blocks{
      "Multisearch, p = 256, d = 4, m = 65536: most blocks a processor sends for small jobs in a round",
      "queries a processor, n/p",
      "blocks",
      {},
      true};
  Series random{"random mapping", "#cc3311", {}}, mapped{"z-mapping, z = 16", "#0077bb", {}};
  Plot work{"Multisearch: W over depth x T_bin(n/p, d) (1 is optimal)",
            "queries a processor, n/p",
            "ratio",
            {},
            true};
  Series random_work{"random mapping", "#cc3311", {}}, mapped_work{"z-mapping, z = 16", "#0077bb", {}};
  // Predicted time over B.
  Plot predicted{
      "Multisearch on BSP*, p = 256, n/p = 256, d = 4: predicted plain time / z-mapped time (g* = 1, L = "
      "1000)",
      "B (units)",
      "factor",
      {},
      true};
  Series gain{"counted", "#0077bb", {}}, limit{"ratio of blocks H", "#999999", {}};
  for (const std::int64_t each : {16, 32, 64, 128, 256, 512, 1024}) {
    const Counted plain = row(kP, each * kP, kM, kD, 0, kK), star = row(kP, each * kP, kM, kD, kZ, kK);
    random.points.push_back({static_cast<double>(each), static_cast<double>(plain.small_blocks)});
    mapped.points.push_back({static_cast<double>(each), static_cast<double>(star.small_blocks)});
    const double tbin = static_cast<double>(plain.levels) * static_cast<double>(each) * std::log2(kD);
    random_work.points.push_back({static_cast<double>(each), static_cast<double>(plain.sum.work) / tbin});
    mapped_work.points.push_back({static_cast<double>(each), static_cast<double>(star.sum.work) / tbin});
    if (each == 256) {
      for (double B = 1; B <= 65536; B *= 4) {
        const BspStar machine{kP, 1, 1000, B, 8};
        gain.points.push_back({B, predict(plain.ledger, machine) / predict(star.ledger, machine)});
        limit.points.push_back(
            {B, static_cast<double>(plain.sum.blocks) / static_cast<double>(star.sum.blocks)});
      }
    }
  }
  blocks.series = {random, mapped};
  work.series = {random_work, mapped_work};
  predicted.series = {gain, limit};
  // Supersteps over p for several k; blocks over z; depth over d.
  Plot steps{
      "Multisearch: supersteps of a round with large jobs, over p (all queries at one leaf: every job is "
      "large)",
      "p",
      "supersteps a round",
      {},
      true};
  Series over_z{"small-job blocks", "#0077bb", {}}, line{"z", "#999999", {}};
  for (const int k : {2, 4, 16}) {
    Series one{fmt::format("k = {}", k), k == 2 ? "#cc3311" : k == 4 ? "#0077bb" : "#009988", {}};
    for (int p = 4; p <= 1024; p *= 4) {
      std::uint64_t rounds = 0, total = 0;
      run(
          p,
          [&](World& w) {
            std::vector<std::int64_t> splitters;
            for (int i = 0; i < 4; ++i) splitters.push_back(4 * w.rank() + i);
            Multisearch<std::int64_t, std::int64_t> tree(w, splitters, {.d = 4, .k = k});
            const std::uint64_t before = w.superstep();
            const std::vector<std::int64_t> queries(16, 0);
            tree.search(w, queries);
            if (w.rank() == 0)
              rounds = static_cast<std::uint64_t>(tree.counts().levels), total = w.superstep() - before;
          },
          kVirtual);
      one.points.push_back(
          {static_cast<double>(p), static_cast<double>(total) / static_cast<double>(rounds)});
    }
    steps.series.push_back(one);
  }
  Plot over{"Multisearch, p = 256, n/p = 256, d = 4: most blocks for small jobs in a round, over z",
            "z",
            "blocks",
            {},
            true};
  for (const int z : {4, 8, 16, 32, 64, 128, 256}) {
    const Counted c = row(kP, 256 * kP, kM, kD, z, kK);
    over_z.points.push_back({static_cast<double>(z), static_cast<double>(c.small_blocks)});
    line.points.push_back({static_cast<double>(z), static_cast<double>(z)});
  }
  over.series = {over_z, line};
  for (const int d : {2, 4, 8, 16, 64}) row(kP, 256 * kP, kM, d, std::min(kP, 4 * d), kK);
  write(folder + "/bsp-multisearch.csv", csv);
  write(folder + "/bsp-multisearch-blocks.svg", to_svg(blocks));
  write(folder + "/bsp-multisearch-work.svg", to_svg(work));
  write(folder + "/bsp-multisearch-gain.svg", to_svg(predicted));
  write(folder + "/bsp-multisearch-steps.svg", to_svg(steps));
  write(folder + "/bsp-multisearch-z.svg", to_svg(over));
}

}  // namespace
}  // namespace chasqui::bsp

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  chasqui::bsp::broadcasts(folder);
  chasqui::bsp::multisearch(folder);
}
