// SPDX-License-Identifier: MIT
// Broadcasts, sorts, list ranking, Fourier transform, prefix and multisearch against sequential answers, on random inputs.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <numeric>
#include <random>
#include <set>

#include "chasqui/bsp/broadcast.hpp"
#include "chasqui/bsp/fft.hpp"
#include "chasqui/bsp/integer_sort.hpp"
#include "chasqui/bsp/list_ranking.hpp"
#include "chasqui/bsp/multisearch.hpp"
#include "chasqui/bsp/run.hpp"
#include "chasqui/bsp/sample_sort.hpp"

namespace chasqui::bsp {
namespace {

const Options kVirtual{.engine = Engine::virtual_processors, .carriers = 2};

void check(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// The part of `all` that rank r of p holds in an even distribution.
template <typename T>
std::vector<T> part_of(const std::vector<T>& all, int r, int p) {
  const auto at = [&](int i) {
    return all.begin() +
           static_cast<std::ptrdiff_t>(all.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(p));
  };
  return {at(r), at(r + 1)};
}

TEST(Broadcasts, EverybodyGetsIt) {
  for (const int p : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 50, 100, 255, 256, 257}) {
    const Ledger doubling = run(
        p, [](World& w) { check(broadcast_doubling(w, w.rank() == 0 ? 7 : 0) == 7, "doubling"); }, kVirtual);
    run(
        p, [](World& w) { check(broadcast_root(w, w.rank() == 0 ? 8 : 0) == 8, "root"); }, kVirtual);
    run(
        p, [](World& w) { check(broadcast_tree(w, w.rank() == 0 ? 9 : 0) == 9, "tree"); }, kVirtual);
    std::int64_t rounds = 0;
    while ((1 << rounds) < p) ++rounds;
    EXPECT_EQ(totals(doubling).supersteps, rounds);
    EXPECT_EQ(totals(doubling).messages, rounds);
  }
}

TEST(SampleSort, EqualsTheStableSequentialOneAndBalances) {
  struct Item {
    std::int32_t key, number;
    bool operator==(const Item&) const = default;
  };
  const auto less = [](const Item& a, const Item& b) { return a.key < b.key; };
  struct Case {
    int p, n, keys;
  };
  for (const Case& one : {Case{1, 50, 10}, {2, 1, 1}, {3, 100, 1}, {7, 3000, 5}, {8, 5000, 1 << 30}, {5, 0, 1}}) {
    const int p = one.p, n = one.n, keys = one.keys;
    SCOPED_TRACE(fmt::format("{} items with {} keys on {} processors", n, keys, p));
    std::mt19937 random(static_cast<unsigned>(n + p));
    std::vector<Item> all;
    for (int i = 0; i < n; ++i) all.push_back({static_cast<std::int32_t>(random() % static_cast<unsigned>(keys)), i});
    std::vector<std::vector<Item>> parts(static_cast<std::size_t>(p));
    const Ledger ledger = run(
        p,
        [&](World& w) { parts[static_cast<std::size_t>(w.rank())] = sample_sort(w, part_of(all, w.rank(), p), less); },
        kVirtual);
    std::vector<Item> got;
    for (const auto& part : parts) {
      got.insert(got.end(), part.begin(), part.end());
      EXPECT_LE(part.size(), static_cast<std::size_t>(2 * n / p + p));
    }
    std::stable_sort(all.begin(), all.end(), less);
    EXPECT_EQ(got, all);
    EXPECT_EQ(totals(ledger).supersteps, 3);
    for (const Superstep& step : ledger.machines[0].supersteps)
      EXPECT_LE(step.messages, std::max(p * p, 2 * n / p + p));
  }
}

TEST(ListRanking, EqualsTheWalkAlongTheLists) {
  for (const auto& one : {std::pair{1, 17}, {2, 1}, {3, 0}, {4, 64}, {7, 1000}, {8, 3}}) {
    const int p = one.first, n = one.second;
    SCOPED_TRACE(fmt::format("{} elements on {} processors", n, p));
    std::vector<std::int64_t> order(static_cast<std::size_t>(n)), next(order.size(), -1), ranks(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(n)));
    for (std::size_t i = order.size(); i-- > 0;) {
      if (i + 1 == order.size() || i == order.size() / 3) continue;  // two lists
      next[static_cast<std::size_t>(order[i])] = order[i + 1];
      ranks[static_cast<std::size_t>(order[i])] = ranks[static_cast<std::size_t>(order[i + 1])] + 1;
    }
    const std::int64_t part = std::max(1, (n + p - 1) / p);
    const Ledger ledger = run(
        p,
        [&](World& w) {
          const auto begin = static_cast<std::size_t>(std::min<std::int64_t>(n, part * w.rank()));
          const auto count = std::min(next.size() - begin, static_cast<std::size_t>(part));
          const auto got = list_ranks(w, n, std::span(next).subspan(begin, count));
          check(std::equal(got.begin(), got.end(), ranks.begin() + static_cast<std::ptrdiff_t>(begin)), "ranks");
          check(got.size() == count, "all of them");
        },
        kVirtual);
    std::int64_t rounds = 0;
    while ((std::int64_t{1} << rounds) < n) ++rounds;
    EXPECT_EQ(totals(ledger).supersteps, 2 * rounds);
    for (const Superstep& step : ledger.machines[0].supersteps) EXPECT_LE(step.messages, part);
  }
}

TEST(Fft, EqualsTheSumAndComesBack) {
  for (const auto& sizes : {std::pair{1, 1}, {1, 8}, {2, 4}, {2, 64}, {4, 16}, {4, 128}, {8, 64}}) {
    const int p = sizes.first, n = sizes.second;
    SCOPED_TRACE(fmt::format("{} numbers on {} processors", n, p));
    std::mt19937 random(7);
    std::vector<std::complex<double>> x(static_cast<std::size_t>(n)), expected(x.size());
    for (auto& one : x) one = {static_cast<double>(random() % 100), static_cast<double>(random() % 100)};
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < n; ++j)
        expected[static_cast<std::size_t>(k)] +=
            x[static_cast<std::size_t>(j)] * std::polar(1.0, -2 * std::numbers::pi * (j * k % n) / n);
    }
    const Ledger ledger = run(
        p,
        [&](World& w) {
          std::vector<std::complex<double>> mine;
          for (int i = w.rank(); i < n; i += p) mine.push_back(x[static_cast<std::size_t>(i)]);
          fft(w, mine);
          for (std::size_t i = 0; i < mine.size(); ++i)
            check(std::abs(mine[i] - expected[static_cast<std::size_t>(w.rank()) + i * static_cast<std::size_t>(p)]) <
                      1e-8 * n,
                  "fft");
          fft(w, mine, true);
          for (std::size_t i = 0; i < mine.size(); ++i)
            check(
                std::abs(mine[i] - x[static_cast<std::size_t>(w.rank()) + i * static_cast<std::size_t>(p)]) < 1e-9 * n,
                "back");
        },
        kVirtual);
    EXPECT_EQ(totals(ledger).supersteps, 2);
    EXPECT_EQ(totals(ledger).bytes, 2 * 16 * (n / p));
  }
  EXPECT_THROW(run(
                   4,
                   [](World& w) {
                     std::vector<std::complex<double>> mine(2);
                     fft(w, mine);
                   },
                   kVirtual),
               Error);
}

/// The logarithm of p to the base k, rounded up.
int levels(int k, int p) {
  int count = 0;
  for (int reach = 1; reach < p; reach *= k) ++count;
  return count;
}

TEST(SegmentedPrefix, EqualsTheSequentialOne) {
  EXPECT_TRUE(rc::check("segmented prefix", [] {
    const auto n = *rc::gen::inRange(0, 60);
    const auto p = *rc::gen::inRange(1, 12);
    const auto k = *rc::gen::inRange(2, 5);
    const auto values = *rc::gen::container<std::vector<std::uint32_t>>(static_cast<std::size_t>(n),
                                                                        rc::gen::arbitrary<std::uint32_t>());
    const auto heads =
        *rc::gen::container<std::vector<char>>(static_cast<std::size_t>(n), rc::gen::inRange<char>(0, 2));
    // Affine maps packed in 32 bits: associative, not commutative.
    const auto compose = [](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t fa = a >> 16 | 1, fb = a & 0xffff, ga = b >> 16 | 1, gb = b & 0xffff;
      return ((fa * ga) & 0xffff) << 16 | ((ga * fb + gb) & 0xffff);
    };
    std::vector<std::uint32_t> start;
    for (const std::uint32_t v : values) start.push_back(v | 0x10000);
    std::vector<std::uint32_t> expected = start;
    for (std::size_t i = 1; i < expected.size(); ++i) {
      if (heads[i] == 0) expected[i] = compose(expected[i - 1], expected[i]);
    }
    std::vector<std::uint32_t> got(expected.size());
    const Ledger ledger = run(
        p,
        [&](World& w) {
          auto mine = part_of(start, w.rank(), p);
          const auto flags = part_of(heads, w.rank(), p);
          segmented_prefix(w, std::span(mine), std::span<const char>(flags), compose, k);
          std::copy(mine.begin(), mine.end(),
                    got.begin() + static_cast<std::ptrdiff_t>(got.size() * static_cast<std::size_t>(w.rank()) /
                                                              static_cast<std::size_t>(p)));
        },
        kVirtual);
    RC_ASSERT(got == expected);
    RC_ASSERT(totals(ledger).supersteps == 2 * levels(k, p));
    for (const Superstep& step : ledger.machines[0].supersteps) RC_ASSERT(step.messages <= 2 * (k - 1));
  }));
}

TEST(IntegerSort, SortsStably) {
  constexpr int kFan = 3;
  EXPECT_TRUE(rc::check("integer sort", [] {
    const auto p = *rc::gen::inRange(1, 10);
    const auto bound = *rc::gen::element<std::uint64_t>(1, 2, 10, 1000, 1ULL << 40);
    const auto bits = *rc::gen::inRange(1, 9);
    const auto keys = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, bound));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> items;
    for (std::size_t i = 0; i < keys.size(); ++i) items.emplace_back(keys[i], i);
    struct Item {
      std::uint64_t key, number;
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> got;
    std::vector<std::vector<Item>> parts(static_cast<std::size_t>(p));
    const Ledger ledger = run(
        p,
        [&](World& w) {
          std::vector<Item> mine;
          for (const auto& [key, number] : part_of(items, w.rank(), p)) mine.push_back({key, number});
          parts[static_cast<std::size_t>(w.rank())] = integer_sort(
              w, mine, [](const Item& item) { return item.key; }, bound, bits, kFan);
        },
        kVirtual);
    for (const auto& part : parts) {
      for (const Item& item : part) got.emplace_back(item.key, item.number);
    }
    std::sort(items.begin(), items.end());
    RC_ASSERT(got == items);
    const int passes = std::max(1, (static_cast<int>(std::bit_width(bound - 1)) + bits - 1) / bits);
    RC_ASSERT(totals(ledger).supersteps == passes * (2 * levels(kFan, p) + 1));
  }));
}

TEST(Permutation, IsOne) {
  for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 10ULL, 100ULL, 1000ULL, 4096ULL}) {
    const Permutation permutation(n, 5);
    std::set<std::uint64_t> images;
    for (std::uint64_t i = 0; i < n; ++i) images.insert(permutation(i));
    EXPECT_EQ(images.size(), n);
    EXPECT_EQ(*images.rbegin(), n - 1);
  }
}

TEST(ZMapping, SpreadsUpperLevelsAndClustersLowerOnes) {
  constexpr std::int64_t kP = 100, kD = 3, kZ = 7;
  const auto mapping = NodeMapping::z_mapping(kP, kD, kZ, 42);
  std::int64_t nodes = 1;
  std::vector<std::int64_t> above;
  for (int level = 0; level <= 8; ++level, nodes *= kD) {
    std::set<std::int64_t> used;
    std::vector<std::int64_t> owners;
    std::vector<std::set<std::int64_t>> targets(kP);
    for (std::int64_t i = 0; i < nodes; ++i) {
      const std::int64_t owner = mapping.owner(level, i);
      ASSERT_TRUE(owner >= 0 && owner < kP);
      used.insert(owner);
      owners.push_back(owner);
      if (level > 0) {
        const std::int64_t parent = above[static_cast<std::size_t>(i / kD)];
        EXPECT_EQ(owner, mapping.child_owner(level, i, parent));
        targets[static_cast<std::size_t>(parent)].insert(owner);
      }
    }
    if (nodes <= kP) EXPECT_EQ(static_cast<std::int64_t>(used.size()), nodes) << "level " << level;
    else
      for (const auto& set : targets) EXPECT_LE(static_cast<std::int64_t>(set.size()), kZ) << "level " << level;
    above = owners;
  }
}

TEST(Multisearch, EqualsUpperBound) {
  EXPECT_TRUE(rc::check("multisearch", [] {
    const auto p = *rc::gen::inRange(1, 14);
    const auto d = *rc::gen::inRange(2, 9);
    const auto z = *rc::gen::inRange(0, p + 1);
    const auto small = *rc::gen::element<std::int64_t>(0, 1, 3, 1000000);
    const auto k = *rc::gen::inRange(2, 5);
    const auto range = *rc::gen::element(3, 50, 100000);
    auto splitters = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, range));
    const auto queries = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1, range + 1));
    const auto holder = *rc::gen::inRange(-1, p);  // has all queries; -1: everybody has as many
    std::sort(splitters.begin(), splitters.end());
    run(
        p,
        [&](World& w) {
          const auto mine = part_of(splitters, w.rank(), p);
          const auto asked = holder < 0           ? part_of(queries, w.rank(), p)
                             : w.rank() == holder ? queries
                                                  : std::vector<int>();
          Multisearch<int, int> search(w, mine, {.d = d, .z = z, .small = small, .k = k, .seed = 9});
          for (int again = 0; again < 2; ++again) {
            const auto found = search.search(w, asked);
            check(found.size() == asked.size(), "an answer for each");
            for (std::size_t i = 0; i < asked.size(); ++i) {
              check(found[i] == std::upper_bound(splitters.begin(), splitters.end(), asked[i]) - splitters.begin(),
                    "the right segment");
            }
          }
        },
        kVirtual);
  }));
}

TEST(Multisearch, AFewMoreChildrenSaveALevel) {
  constexpr int kP = 4, kD = 64;
  for (const int z : {0, 2}) {
    for (const std::int64_t splitters : {kD * kD - 1, kD * kD, 65 * 65 - 1, 65 * 65}) {
      run(
          kP,
          [&](World& w) {
            std::vector<std::int64_t> mine, queries;
            for (std::int64_t i = splitters * w.rank() / kP; i < splitters * (w.rank() + 1) / kP; ++i)
              mine.push_back(2 * i);
            std::mt19937_64 random(static_cast<std::uint64_t>(w.rank()));
            for (int i = 0; i < 500; ++i)
              queries.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * splitters + 2)) -
                                1);
            Multisearch<std::int64_t, std::int64_t> search(w, mine, {.d = kD, .z = z});
            check(search.counts().levels == (splitters < 65 * 65 ? 2 : 3), "two levels hold 65 * 65 - 1 splitters");
            const std::uint64_t before = w.superstep();
            const auto found = search.search(w, queries);
            check(search.counts().rounds.front() == before, "queries that are spread evenly stay where they are");
            for (std::size_t i = 0; i < queries.size(); ++i)
              check(found[i] == std::min(splitters, (queries[i] + 2) / 2), "the right segment");
          },
          kVirtual);
    }
  }
}

TEST(Multisearch, OtherTypesAndComparators) {
  struct Point {
    double x, y;
  };
  struct Line {  // y = slope x + offset, sorted upwards, not crossing for 0 <= x <= 1
    double slope, offset;
  };
  const auto below = [](const Point& point, const Line& line) { return point.y < line.slope * point.x + line.offset; };
  constexpr int kP = 6, kLines = 200;
  run(
      kP,
      [&](World& w) {
        std::vector<Line> lines;
        for (int i = kLines * w.rank() / kP; i < kLines * (w.rank() + 1) / kP; ++i)
          lines.push_back({i % 2 == 0 ? 0.5 : 0.0, static_cast<double>(i)});
        std::mt19937 random(static_cast<unsigned>(w.rank()));
        std::uniform_real_distribution<double> x(0, 1), y(-1, kLines + 1);
        std::vector<Point> points(500);
        for (Point& point : points) point = {x(random), y(random)};
        Multisearch<Point, Line, decltype(below)> search(w, lines, {.d = 4, .z = 5}, below);
        const auto found = search.search(w, points);
        for (std::size_t i = 0; i < points.size(); ++i) {
          std::int64_t expected = 0;
          for (int l = 0; l < kLines; ++l)
            expected += below(points[i], {l % 2 == 0 ? 0.5 : 0.0, static_cast<double>(l)}) ? 0 : 1;
          check(found[i] == expected, "point location");
        }
      },
      kVirtual);
}

TEST(Multisearch, SmallJobsGoToAtMostZProcessors) {
  constexpr int kP = 256, kD = 4, kZ = 16;
  std::mutex mutex;
  std::int64_t most = 0, most_random = 0;
  for (const int z : {kZ, 0}) {
    run(
        kP,
        [&](World& w) {
          std::vector<std::int64_t> splitters(256), queries(64);
          for (std::size_t i = 0; i < splitters.size(); ++i)
            splitters[i] = w.rank() * 256 + static_cast<std::int64_t>(i);
          std::mt19937_64 random(static_cast<std::uint64_t>(w.rank()));
          for (auto& query : queries) query = static_cast<std::int64_t>(random() % (kP * 256));
          Multisearch<std::int64_t, std::int64_t> search(w, splitters, {.d = kD, .z = z});
          const auto found = search.search(w, queries);
          for (std::size_t i = 0; i < queries.size(); ++i) check(found[i] == queries[i] + 1, "segment");
          const std::lock_guard lock(mutex);
          auto& into = z == 0 ? most_random : most;
          into = std::max(into, search.counts().most_small_blocks);
        },
        kVirtual);
  }
  EXPECT_LE(most, kZ);
  EXPECT_GT(most_random, 2 * kZ);  // without the mapping they scatter
}

}  // namespace
}  // namespace chasqui::bsp
