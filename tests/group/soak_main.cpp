// SPDX-License-Identifier: MIT
// group_soak COUNT RANKS [SEED]: random collectives of a group, all results checked, on the whole, on its halves, on pairs of
// neighbours that overlap, and on parts of these that come and go, with ranks that sleep now and then.
// group_soak --kills ROUNDS RANKS [SEED]: the same without end, and one rank killed at a random moment of each round: the others
// end with an error, and nothing is left.
#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "chasqui/group/join.hpp"
#include "engines/suite.hpp"
#include "processes.hpp"

namespace {

using namespace chasqui;

void soak(int rank, int size, const std::string& where, double timeout, std::int64_t count, std::uint64_t seed) {
  group::Options options;
  options.timeout = timeout;
  options.rank = rank;
  options.size = size;
  options.rendezvous = where;
  const auto whole = group::join(options);
  const auto half = whole->split(2 * rank / size, rank), even = whole->split(rank % 2, -rank);
  // Rank r has a pair with r - 1 and one with r + 1.
  const auto one = whole->split(rank / 2, rank), other = whole->split((rank + 1) / 2, rank);
  std::mt19937_64 random(seed);  // the same on every rank
  constexpr std::int64_t kSlice = 2000;
  for (std::int64_t left = count; left > 0; left -= kSlice) {
    run::Comm* const comms[] = {whole.get(), half.get(), even.get(), one.get(), other.get()};
    run::Comm& comm = *comms[random() % 5];
    engines::soak(comm, std::min(kSlice, left), random());
  }
}

int soak_all(std::int64_t count, int size, std::uint64_t seed) {
  const group::Folder folder;
  int wrong = 0;
  for (const group::End& end : group::run_ranks(size, [&](int rank) {
         soak(rank, size, folder / "meeting", 60, count, seed);
         return std::string();
       })) {
    if (end.signal == 0 && end.status == 0) continue;
    ++wrong;
    fmt::print("signal {}, status {}: {}\n", end.signal, end.status, end.text);
  }
  return wrong;
}

/// Names of ours that lie in the folder of shared memory.
std::set<std::string> left_in_shared_memory() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().find("chasqui") == 0) names.insert(entry.path());
  }
  return names;
}

int kill_one(std::int64_t round, int size, std::mt19937_64& random) {
  const group::Folder folder;
  group::Processes processes;
  for (int rank = 0; rank < size; ++rank) {
    processes.start([&, rank] {
      soak(rank, size, folder / "meeting", 10, std::int64_t{1} << 60, static_cast<std::uint64_t>(round));
      return std::string();
    });
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
  const std::size_t victim = random() % static_cast<std::size_t>(size);
  kill(processes.process(victim), SIGKILL);
  int wrong = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) {
    const group::End end = processes.end(rank);
    // An error, and not one of a wrong result.
    if (rank == victim ? end.signal == SIGKILL : end.status == 1 && end.text.find("wrong") == std::string::npos)
      continue;
    ++wrong;
    fmt::print("round {}, rank {}: signal {}, status {}: {}\n", round, rank, end.signal, end.status, end.text);
  }
  std::filesystem::remove(folder / "meeting");  // a socket that a killed rank 0 had not yet taken away
  if (folder.empty()) return wrong;
  fmt::print("round {}: something is left at the rendezvous\n", round);
  return wrong + 1;
}

int kill_many(std::int64_t rounds, int size, std::uint64_t seed) {
  const auto before = left_in_shared_memory();
  std::mt19937_64 random(seed);
  int wrong = 0;
  for (std::int64_t round = 0; round < rounds; ++round) wrong += kill_one(round, size, random);
  for (const std::string& name : left_in_shared_memory()) {
    if (before.count(name) != 0) continue;
    fmt::print("left: {}\n", name);
    ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int words, char** word) {
  const bool kills = words > 1 && std::strcmp(word[1], "--kills") == 0;
  if (kills) {
    ++word;
    --words;
  }
  if (words < 3) {
    fmt::print(stderr, "group_soak [--kills] COUNT RANKS [SEED]\n");
    return 2;
  }
  const std::int64_t count = std::atoll(word[1]);
  const int size = std::atoi(word[2]);
  const std::uint64_t seed = words > 3 ? std::strtoull(word[3], nullptr, 10) : 1;
  const auto begin = std::chrono::steady_clock::now();
  const int wrong = kills ? kill_many(count, size, seed) : soak_all(count, size, seed);
  fmt::print("{} {} on {} ranks, seed {}: {} in {:.1f} s\n", count, kills ? "kills" : "collectives", size, seed,
             wrong == 0 ? "right" : "WRONG",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return wrong == 0 ? 0 : 1;
}
