// SPDX-License-Identifier: MIT
// Counted figures of docs/bsp.md, as CSV and SVG: `figures_bsp DIRECTORY`. No clock is involved, so every
// machine draws the same pictures.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "chasqui/bsp/broadcast.hpp"
#include "chasqui/bsp/multisearch.hpp"
#include "chasqui/bsp/predict.hpp"
#include "chasqui/bsp/run.hpp"
#include "chasqui/show/plot.hpp"

namespace chasqui::bsp {
namespace {

const Options kVirtual{.engine = Engine::virtual_processors, .stack_bytes = 32 * 1024};

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  fmt::print("wrote {}\n", path);
}

void add(show::Curve& curve, double x, double y) { curve.points.push_back({x, y, y, y}); }

/// Root(p) against doubling on the D-BSP hypercube: exact costs.
void broadcasts(const std::string& folder) {
  show::Curve plain{"doubling: (log p)^2 + log p", {}}, root{"Root(p)", {}},
      model{"log p (log log p + 3) - 1", {}, true};
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
    add(plain, p, cost_a);
    add(root, p, cost_b);
    if (k == 1 || k == 2 || k == 4 || k == 8 || k == 16) {  // squares of squares: the recurrence in closed form
      add(model, p, k * (std::log2(k) + 3) - 1);
    }
  }
  write(folder + "/bsp-broadcast.csv", csv);
  write(folder + "/bsp-broadcast.svg",
        show::plot_svg(
            {"Broadcast on a D-BSP hypercube", "processors", "counted cost; L(2^k) = k, g = 1", {plain, root, model}}));
}

struct Counted {
  int levels = 0;
  std::int64_t small_blocks = 0;
  Ledger descent;       ///< the rounds, without building the tree and without sending the answers home
  Ledger small_rounds;  ///< those after the last large job
  int small_levels = 0;
};

Ledger slice(const Ledger& ledger, std::uint64_t begin, std::uint64_t end) {
  Ledger part = ledger;
  part.machines.resize(1);
  auto& steps = part.machines.front().supersteps;
  steps.resize(std::min<std::size_t>(steps.size(), end));
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(begin, steps.size())));
  return part;
}

/// n random queries among m segments on p processors; jobs up to `small` are small (0: the square root of
/// n/p).
Counted search(int p, std::int64_t n, std::int64_t m, int d, int z, int k, std::int64_t small) {
  Counted counted;
  std::mutex mutex;
  std::vector<std::uint64_t> rounds;
  const Ledger ledger = run(
      p,
      [&](World& w) {
        const std::int64_t first = (m - 1) * w.rank() / p, last = (m - 1) * (w.rank() + 1) / p;
        std::vector<std::int64_t> splitters;
        for (std::int64_t i = first; i < last; ++i) splitters.push_back(2 * i + 1);
        std::mt19937_64 random(static_cast<std::uint64_t>(w.rank()) * 7919 + 1);
        std::vector<std::int64_t> queries(static_cast<std::size_t>(n / p));
        for (auto& query : queries) query = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * m));
        Multisearch<std::int64_t, std::int64_t> tree(w, splitters, {.d = d, .z = z, .small = small, .k = k});
        tree.search(w, queries);
        const std::lock_guard lock(mutex);
        rounds = tree.counts().rounds;
        counted.levels = tree.counts().levels;
        counted.small_blocks = std::max(counted.small_blocks, tree.counts().most_small_blocks);
      },
      kVirtual);
  counted.descent = slice(ledger, rounds.front(), rounds.back());
  // A round without large jobs is one superstep; the first such round still scans, to learn that there are
  // none.
  std::size_t last = rounds.size() - 1;
  while (last > 0 && rounds[last] - rounds[last - 1] <= 1) --last;
  counted.small_levels = static_cast<int>(rounds.size() - 1 - last);
  counted.small_rounds = slice(ledger, rounds[last], rounds.back());
  // The last round's searches are charged to the superstep that sends the answers home: keep its work only.
  Superstep searches;
  searches.work = ledger.machines.front().supersteps.at(rounds.back()).work;
  counted.descent.machines.front().supersteps.push_back(searches);
  counted.small_rounds.machines.front().supersteps.push_back(searches);
  return counted;
}

constexpr int kP = 1024, kD = 4, kZ = 16, kK = 8;
constexpr std::int64_t kM = std::int64_t{1} << 20;

class MultisearchFigures {
 public:
  explicit MultisearchFigures(std::string folder) : folder_(std::move(folder)) {}

  void draw() {
    over_queries();
    over_z();
    over_p();
    for (const int d : {2, 8, 16, 64}) count(kP, 256 * kP, d, std::min(kP, 4 * d));
    write(folder_ + "/bsp-multisearch.csv", csv_);
  }

 private:
  Counted count(int p, std::int64_t n, int d, int z, std::int64_t small = 0) {
    Counted c = search(p, n, kM, d, z, kK, small);
    const Totals sum = totals(c.descent);
    const double tbin = c.levels * static_cast<double>(n / p) * std::log2(d);
    csv_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{},{}\n", p, n, kM, d, z, kK, small, c.levels,
                        sum.supersteps, sum.blocks, sum.bytes, sum.work, c.small_blocks,
                        static_cast<double>(sum.work) / tbin, c.small_levels, totals(c.small_rounds).blocks);
    return c;
  }

  void over_queries() {
    const auto machine_text = fmt::format("; p = {}, d = {}, m = 2^20", kP, kD);
    const char* const each_has = "queries a processor, n/p";
    show::Curve random{"random mapping", {}}, mapped{"z-mapping, z = 16", {}};
    show::Curve random_work = random, mapped_work = mapped;
    show::Curve small{"rounds of small jobs, predicted", {}}, all{"all rounds, predicted", {}},
        limit{"rounds of small jobs: ratio of blocks H", {}, true};
    for (const std::int64_t each : {16, 32, 64, 128, 256, 512}) {
      const Counted plain = count(kP, each * kP, kD, 0), star = count(kP, each * kP, kD, kZ);
      const auto x = static_cast<double>(each);
      add(random, x, static_cast<double>(plain.small_blocks));
      add(mapped, x, static_cast<double>(star.small_blocks));
      const double tbin = plain.levels * x * std::log2(kD);
      add(random_work, x, 100 * (static_cast<double>(totals(plain.descent).work) / tbin - 1));
      add(mapped_work, x, 100 * (static_cast<double>(totals(star.descent).work) / tbin - 1));
      if (each != 128) continue;
      // Small jobs early: several rounds of them.
      const Counted plain_small = count(kP, each * kP, kD, 0, each), star_small = count(kP, each * kP, kD, kZ, each);
      for (double B = 1; B <= 65536; B *= 4) {
        const BspStar machine{kP, 1, 1000, B, 8};
        add(small, B, predict(plain_small.small_rounds, machine) / predict(star_small.small_rounds, machine));
        add(all, B, predict(plain_small.descent, machine) / predict(star_small.descent, machine));
        add(limit, B,
            static_cast<double>(totals(plain_small.small_rounds).blocks) /
                static_cast<double>(totals(star_small.small_rounds).blocks));
      }
    }
    draw("blocks", {"Multisearch: blocks for small jobs",
                    each_has,
                    "most that a processor sends in a round" + machine_text,
                    {random, mapped}});
    draw("work", {"Multisearch: work above the optimum",
                  each_has,
                  "% above depth x T_bin(n/p, d)" + machine_text,
                  {random_work, mapped_work}});
    draw("gain", {"Multisearch on BSP*: plain time / z-mapped time",
                  "B (units)",
                  "factor; g* = 1, L = 1000, n/p = r = 128",
                  {small, all, limit}});
  }

  void over_z() {
    show::Curve counted{"counted", {}}, line{"z", {}, true};
    for (const int z : {4, 8, 16, 32, 64, 128, 256}) {
      add(counted, z, static_cast<double>(count(kP, 256 * kP, kD, z).small_blocks));
      add(line, z, z);
    }
    draw("z", {"Multisearch: blocks for small jobs, over z",
               "z",
               "most that a processor sends in a round; p = 1024, n/p = 256, d = 4",
               {counted, line}});
  }

  /// All queries at one leaf: every job is large, every round has its scans.
  void over_p() {
    std::vector<show::Curve> curves;
    for (const int k : {2, 4, 16}) {
      show::Curve one{fmt::format("k = {}", k), {}};
      for (int p = 4; p <= 1024; p *= 4) {
        std::vector<std::uint64_t> rounds;
        run(
            p,
            [&](World& w) {
              std::vector<std::int64_t> splitters;
              for (int i = 0; i < 16; ++i) splitters.push_back(16 * w.rank() + i);
              Multisearch<std::int64_t, std::int64_t> tree(w, splitters, {.d = 4, .k = k});
              tree.search(w, std::vector<std::int64_t>(16, 0));
              if (w.rank() == 0) rounds = tree.counts().rounds;
            },
            kVirtual);
        add(one, p, static_cast<double>(rounds[1] - rounds[0]));
      }
      curves.push_back(one);
    }
    draw("steps", {"Multisearch, all queries at one leaf", "p", "supersteps a round, O(log_k p)", curves});
  }

  void draw(const char* what, const show::Plot& plot) const {
    write(fmt::format("{}/bsp-multisearch-{}.svg", folder_, what), show::plot_svg(plot));
  }

  std::string folder_;
  std::string csv_ = "p,n,m,d,z,k,r,levels,T,H_blocks,S_bytes,W,small_blocks,W_over_Tbin,small_rounds,H_small_rounds\n";
};

}  // namespace
}  // namespace chasqui::bsp

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  chasqui::bsp::broadcasts(folder);
  chasqui::bsp::MultisearchFigures(folder).draw();
}
