// SPDX-License-Identifier: MIT
// group_soak COUNT RANKS [SEED]: random collectives of a group, all results checked, on the whole, on its halves, on pairs of
// neighbours that overlap, and on parts of these that come and go, with ranks that sleep now and then.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "chasqui/group/join.hpp"
#include "engines/suite.hpp"
#include "processes.hpp"

namespace {

using namespace chasqui;

std::string soak(int rank, int size, const std::string& where, std::int64_t count, std::uint64_t seed) {
  group::Options options;
  options.rank = rank;
  options.size = size;
  options.rendezvous = where;
  const auto whole = group::join(options);
  const auto half = whole->split(2 * rank / size, rank), even = whole->split(rank % 2, -rank);
  // Rank r has a pair with r - 1 and one with r + 1.
  const auto one = whole->split(rank / 2, rank), other = whole->split((rank + 1) / 2, rank);
  std::mt19937_64 random(seed);  // the same on every rank
  constexpr std::int64_t kSlice = 2000;
  std::int64_t done = 0;
  for (; done < count; done += kSlice) {
    run::Comm* const comms[] = {whole.get(), half.get(), even.get(), one.get(), other.get()};
    engines::soak(*comms[random() % 5], std::min(kSlice, count - done), random());
  }
  return fmt::format("{}", count);
}

}  // namespace

int main(int words, char** word) {
  if (words < 3) {
    fmt::print(stderr, "group_soak COUNT RANKS [SEED]\n");
    return 2;
  }
  const std::int64_t count = std::atoll(word[1]);
  const int size = std::atoi(word[2]);
  const std::uint64_t seed = words > 3 ? std::strtoull(word[3], nullptr, 10) : 1;
  const auto begin = std::chrono::steady_clock::now();
  const group::Folder folder;
  int wrong = 0;
  for (const group::End& end :
       group::run_ranks(size, [&](int rank) { return soak(rank, size, folder / "meeting", count, seed); })) {
    if (end.signal == 0 && end.status == 0) continue;
    ++wrong;
    fmt::print("signal {}, status {}: {}\n", end.signal, end.status, end.text);
  }
  fmt::print("{} collectives on {} ranks, seed {}: {} in {:.1f} s\n", count, size, seed, wrong == 0 ? "right" : "WRONG",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return wrong == 0 ? 0 : 1;
}
