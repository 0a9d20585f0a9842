// SPDX-License-Identifier: MIT
// Random programs on all engines of one process: every processor sees what a few loops say it must, and all ledgers count the same. What goes
// wrong on one processor ends the program on all.
//   CHASQUI_SEEDS=FIRST:COUNT test_…: other programs, or more
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "patience.hpp"
#include "random_program.hpp"

namespace chasqui::bsp {
namespace {

using namespace random_program;

struct Way {
  const char* name;
  Options options;
};
const Way kWays[] = {
    {"threads", {.engine = Engine::threads}},
    {"spinning threads", {.engine = Engine::threads, .cores = 100}},
    {"virtual processors", {.engine = Engine::virtual_processors, .carriers = 3}},
    {"virtual processors that stay", {.engine = Engine::virtual_processors, .carriers = 2, .migrate = false}},
    {"one carrier", {.deterministic = true}},
    {"spilling", {.spill = "."}},
};

struct Seeds {
  std::uint64_t first = 1, count = kSanitized ? 6 : 60;
};
Seeds seeds() {
  Seeds wanted;
  unsigned long first = 0, count = 0;
  if (const char* said = std::getenv("CHASQUI_SEEDS");
      said != nullptr && std::sscanf(said, "%lu:%lu", &first, &count) == 2)
    wanted = {first, count};
  return wanted;
}

/// Empty: it is as it must be.
std::string wrong_in(const RandomProgram& program, const Options& options) {
  RandomProgram copy = program;
  const Seen right = settle(copy);
  Seen seen(right.size());
  try {
    const Ledger ledger = run(
        copy.processors, [&](World& w) { execute(w, copy, seen[static_cast<std::size_t>(w.rank())]); }, options);
    Seen again(right.size());
    const Ledger plain =
        run(copy.processors, [&](World& w) { execute(w, copy, again[static_cast<std::size_t>(w.rank())]); },
            {.deterministic = true});
    if (counted(ledger) != counted(plain)) return "the ledger counts otherwise than that of one carrier";
  } catch (const std::exception& error) {
    return error.what();
  }
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    if (seen[rank] != right[rank]) return fmt::format("rank {} sees something else", rank);
  }
  return "";
}

/// What is tried now: said where it does not end.
char doing[200] = "";
extern "C" void say_what_hangs(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  _exit(1);
}

class RandomPrograms : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGALRM, say_what_hangs); }
  /// A hang is a failure.
  void begin(const std::string& what) {
    std::snprintf(doing, sizeof doing, "HANGS: %s\n", what.c_str());
    alarm(60 * kPatience);
  }
  void TearDown() override { alarm(0); }
};

TEST_F(RandomPrograms, AllEnginesSeeTheSame) {
  const auto [first, count] = seeds();
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    for (const int p : {1, 2, 3, 4, 7}) {
      RandomProgram program = make(seed, p);
      settle(program);
      for (const Way& way : kWays) {
        begin(fmt::format("seed {}, {} processors, {}", seed, p, way.name));
        const std::string wrong = wrong_in(program, way.options);
        if (wrong.empty()) continue;
        const RandomProgram small = shrink(program, [&](const RandomProgram& less) {
          alarm(60 * kPatience);
          return !wrong_in(less, way.options).empty();
        });
        FAIL() << "seed " << seed << ", " << p << " processors, " << way.name << ": " << wrong << "; smaller:\n"
               << to_string(small.steps) << wrong_in(small, way.options);
      }
    }
  }
}

TEST_F(RandomPrograms, WhatGoesWrongOnOneProcessorEndsThemAll) {
  const auto [first, count] = seeds();
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    for (const int p : {2, 3, 7}) {
      RandomProgram program = make(seed, p);
      settle(program);
      Sabotage sabotage{Sabotage::What::throws, static_cast<int>(seed) % p, 0};
      for (const auto what : {Sabotage::What::throws, Sabotage::What::skips, Sabotage::What::leaves}) {
        sabotage.what = what;
        sabotage.step = static_cast<int>((seed * 7 + static_cast<std::uint64_t>(p)) % program.steps.size());
        for (const Way& way : kWays) {
          begin(fmt::format("seed {}, {} processors, {}, sabotage {} in step {} of rank {}", seed, p, way.name,
                            static_cast<int>(what), sabotage.step, sabotage.rank));
          Seen seen(static_cast<std::size_t>(p));
          const auto all = [&] {
            run(
                p, [&](World& w) { execute(w, program, seen[static_cast<std::size_t>(w.rank())], sabotage); },
                way.options);
          };
          if (what == Sabotage::What::throws) {
            EXPECT_THROW(all(), std::exception);
            continue;
          }
          try {
            all();  // nobody may have missed it
          } catch (const std::exception&) {
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace chasqui::bsp
