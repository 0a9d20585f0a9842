// SPDX-License-Identifier: MIT
// Instructions of an 8 B call of each kind, from the typed call to its line and back: of a rank that finds everything there, so
// that no waiting is counted. One thread drives all ranks: those that come before have started theirs, the last one blocks and
// is counted; every rank is the last one in turn. Runs itself under callgrind, on one core: so nobody learns to look later.
//   cmake --preset release && ninja -C build/release count_short_calls && build/release/bin/count_short_calls
#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"
#include "chasqui/threads/team.hpp"

namespace {

using namespace chasqui;
using run::Comm;
using run::Request;

constexpr int kRounds = 64, kMostRanks = 8;

/// The buffers of one rank: a word, and a word for each rank.
struct Words {
  std::int64_t in = 1, out = 0;
  std::array<std::int64_t, kMostRanks> many_in{}, many_out{};
};
std::span<std::int64_t> all(std::array<std::int64_t, kMostRanks>& words, const Comm& comm) {
  return {words.data(), static_cast<std::size_t>(comm.size())};
}
std::span<std::int64_t> one(std::int64_t& word) { return {&word, 1}; }

struct Case {
  const char* name;
  void (*run)(Comm& comm, Words& words);
  Request (*start)(Comm& comm, Words& words);
};
constexpr Case kCases[] = {
    {"broadcast", [](Comm& c, Words& w) { c.broadcast(one(w.out)); },
     [](Comm& c, Words& w) { return c.ibroadcast(one(w.out)); }},
    {"reduce", [](Comm& c, Words& w) { c.reduce(one(w.in), one(w.out), 0); },
     [](Comm& c, Words& w) { return c.ireduce(one(w.in), one(w.out), 0); }},
    {"allreduce", [](Comm& c, Words& w) { c.allreduce(one(w.in), one(w.out)); },
     [](Comm& c, Words& w) { return c.iallreduce(one(w.in), one(w.out)); }},
    {"scan", [](Comm& c, Words& w) { c.scan(one(w.in), one(w.out)); },
     [](Comm& c, Words& w) { return c.iscan(one(w.in), one(w.out)); }},
    {"gather", [](Comm& c, Words& w) { c.gather(one(w.in), all(w.many_out, c)); },
     [](Comm& c, Words& w) { return c.igather(one(w.in), all(w.many_out, c)); }},
    {"scatter", [](Comm& c, Words& w) { c.scatter(all(w.many_in, c), one(w.out)); },
     [](Comm& c, Words& w) { return c.iscatter(all(w.many_in, c), one(w.out)); }},
    {"allgather", [](Comm& c, Words& w) { c.allgather(one(w.in), all(w.many_out, c)); },
     [](Comm& c, Words& w) { return c.iallgather(one(w.in), all(w.many_out, c)); }},
    {"alltoall", [](Comm& c, Words& w) { c.alltoall(all(w.many_in, c), all(w.many_out, c)); },
     [](Comm& c, Words& w) { return c.ialltoall(all(w.many_in, c), all(w.many_out, c)); }},
    {"reduce_scatter", [](Comm& c, Words& w) { c.reduce_scatter(all(w.many_in, c), one(w.out)); },
     [](Comm& c, Words& w) { return c.ireduce_scatter(all(w.many_in, c), one(w.out)); }},
    {"barrier", [](Comm& c, Words&) { c.barrier(); }, [](Comm& c, Words&) { return c.ibarrier(); }},
};

void one_call(const Case& each, std::vector<std::unique_ptr<Comm>>& comms, std::vector<Words>& words,
              std::size_t last) {
  std::vector<Request> requests;
  for (std::size_t r = 0; r < comms.size(); ++r) {
    if (r != last) requests.push_back(each.start(*comms[r], words[r]));
  }
  for (auto& comm : comms) comm->progress();
  CALLGRIND_TOGGLE_COLLECT;
  each.run(*comms[last], words[last]);
  CALLGRIND_TOGGLE_COLLECT;
  for (Request& request : requests) request.wait();
}

/// Instructions since the last dump, which callgrind writes now as number `dump`.
double collected(const std::string& file, int dump) {
  CALLGRIND_DUMP_STATS;
  std::ifstream counts(fmt::format("{}.{}", file, dump));
  for (std::string line; std::getline(counts, line);) {
    if (line.starts_with("totals: ") || line.starts_with("summary: ")) return std::stod(line.substr(line.find(' ')));
  }
  throw Error("{}.{}: no totals", file, dump);
}

void count(const std::string& file) {
  int dump = 0;
  std::printf("%-15s %8s %8s   instructions a call of 8 B\n", "", "2 ranks", "8 ranks");
  for (const Case& each : kCases) {
    std::printf("%-15s", each.name);
    for (const int ranks : {2, kMostRanks}) {
      auto comms = threads::make_comms(ranks, std::make_shared<const Profile>(default_profile()));
      std::vector<Words> words(comms.size());
      for (int warm = 0; warm < kRounds; ++warm) one_call(each, comms, words, 0);
      CALLGRIND_ZERO_STATS;
      for (int round = 0; round < kRounds * ranks; ++round)
        one_call(each, comms, words, static_cast<std::size_t>(round % ranks));
      std::printf(" %8.0f", collected(file, ++dump) / (kRounds * ranks));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int, char** words) try {
  if (RUNNING_ON_VALGRIND) {
    count(words[1]);
    return 0;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &cores);
  sched_setaffinity(0, sizeof cores, &cores);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("chasqui-counts-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string file = (folder / "counts").string();
  const int status = std::system(
      fmt::format("valgrind --tool=callgrind --quiet --collect-atstart=no --callgrind-out-file='{0}' '{1}' '{0}'", file,
                  words[0])
          .c_str());
  std::filesystem::remove_all(folder);
  if (status != 0) throw Error("valgrind could not run this (apt install valgrind)");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "count_short_calls: %s\n", error.what());
  return 1;
}
