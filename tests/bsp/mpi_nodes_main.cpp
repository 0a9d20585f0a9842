// SPDX-License-Identifier: MIT
// Supersteps on nodes of all sizes against the same without boards: what is received, and what the ledger counts.
//   test_bsp_nodes_… [SEED]
//   test_bsp_nodes_… many: few supersteps of many processes
//   test_bsp_nodes_… dies | exits: a rank is killed between two supersteps, or calls exit(), and the others must not wait for ever
//   test_bsp_nodes_… exits_alone: a rank alone calls exit(), which is its own business
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "chasqui/bsp/mpi.hpp"

namespace {

using namespace chasqui::bsp;

/// Everything in it is equal whatever the nodes are.
struct Outcome {
  std::vector<std::int64_t> received;
  std::vector<std::vector<std::int64_t>> counted;  ///< a superstep each

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome supersteps(unsigned seed, int node_size) {
  Outcome outcome;
  const Ledger ledger = run_mpi(
      [&](World& w) {
        std::mt19937 random(seed * 1000 + static_cast<unsigned>(w.rank()));
        const auto take = [&] {
          outcome.received.push_back(-1);
          for (const auto& message : w.received<int>()) {
            outcome.received.push_back(message.from);
            outcome.received.push_back(message.value());
          }
        };
        for (int step = 0; step < 12; ++step) {
          w.set_block_bytes(step % 2 == 0 ? 1 : 64 * 1024);
          const unsigned most = step % 3 == 0 ? 0 : step % 3 == 1 ? 3 : 40;  // idle, few, many
          const unsigned messages = most == 0 ? 0 : random() % most;
          for (unsigned i = 0; i < messages; ++i)
            w.send(static_cast<int>(random() % static_cast<unsigned>(w.size())), static_cast<int>(random() % 1000));
          w.charge(static_cast<std::int64_t>(random() % 100));
          w.sync();
          take();
        }
        // The rows of these travel with the sync after them, and are more than a slot of a board holds.
        for (int step = 0; step < 70; ++step) {
          w.send((w.rank() + 1) % w.size(), step);
          w.sync(1);
          take();
        }
        w.sync();
        {
          World part = w.split(std::min(2, w.size()));  // on one node it gets a board
          for (int step = 0; step < 10; ++step) {
            for (int to = part.rank() % 2; to < part.size(); to += 2) part.send(to, 100 * part.rank() + step);
            part.sync();
            for (const auto& message : part.received<int>()) outcome.received.push_back(message.value());
          }
        }
        w.send(0, w.rank());
        w.sync();
        take();
      },
      {.pretend_node_size = node_size});
  for (const MachineCosts& machine : ledger.machines) {
    for (const Superstep& step : machine.supersteps) {
      outcome.counted.push_back({step.work, step.messages, step.blocks, step.bytes, step.total_messages,
                                 step.total_blocks, step.total_bytes});
    }
  }
  return outcome;
}

/// Of all ranks to all, to some, to none; of parts and, last, of a collective. False: something is wrong.
bool many_processes(int node_size) {
  bool right = true;
  const Ledger ledger = run_mpi(
      [&](World& w) {
        const auto expect = [&](bool holds) { right = right && holds; };
        for (int to = 0; to < w.size(); ++to) w.send(to, 1000 * w.rank() + to);
        w.sync();
        int from = 0;
        for (const auto& message : w.received<int>()) expect(message.value() == 1000 * from++ + w.rank());
        expect(from == w.size());
        w.send((w.rank() * 7 + 1) % w.size(), w.rank());
        w.sync();
        for (const auto& message : w.received<int>()) expect((message.value() * 7 + 1) % w.size() == w.rank());
        w.sync();
        expect(w.received<int>().empty());
        {
          World part = w.split(8);
          for (int step = 0; step < 6; ++step) {
            part.send((part.rank() + 1) % part.size(), step);
            part.sync();
            expect(part.received<int>().values() == std::vector{step});
          }
        }
        expect(w.allreduce(1, std::plus<>{}) == w.size());
      },
      {.pretend_node_size = node_size});
  const auto& steps = ledger.machines.front().supersteps;
  const std::int64_t size = mpi_size();
  return right && steps.size() == 3 && steps[0].total_messages == size * size && steps[1].total_messages == size;
}

void end_in_a_superstep(bool killed) {
  run_mpi(
      [=](World& w) {
        for (int step = 0;; ++step) {
          if (step == 3 && w.rank() == w.size() - 2) {
            if (!killed) std::exit(0);
            std::printf("a rank is killed in superstep 3\n");
            std::fflush(stdout);
            std::raise(SIGKILL);
          }
          w.sync();
        }
      },
      {.pretend_node_size = 3});
}

}  // namespace

int main(int argc, char** argv) {
  const int rank = mpi_rank(), size = mpi_size();
  if (argc > 1 && (std::strcmp(argv[1], "dies") == 0 || std::strcmp(argv[1], "exits") == 0)) {
    end_in_a_superstep(std::strcmp(argv[1], "dies") == 0);
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "exits_alone") == 0) {
    run_mpi([](World&) { std::exit(7); });
  }
  if (argc > 1 && std::strcmp(argv[1], "many") == 0) {
    for (const int node_size : {0, 1, 16}) {
      if (many_processes(node_size)) continue;
      std::fprintf(stderr, "FAILED on rank %d of %d, nodes of %d\n", rank, size, node_size);
      return 1;
    }
    if (rank == 0) std::printf("right on %d processes\n", size);
    return 0;
  }
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  std::mt19937 random(seed);
  // Of 12 ranks: one node; two, and six, equal ones in which each lane is for itself; equal and unequal ones that show what came, in one
  // round and in two; one rank alone.
  std::vector<int> node_sizes = {0, -2, 2, -3, 5, -5, size - 1};
  const int each = 1 + static_cast<int>(random() % static_cast<unsigned>(size));
  node_sizes.push_back(random() % 2 == 0 ? each : -each);
  int failures = 0;
  const Outcome right = supersteps(seed, 1);
  for (const int node_size : node_sizes) {
    if (supersteps(seed, node_size) == right) continue;
    ++failures;
    std::fprintf(stderr, "FAILED on rank %d of %d, seed %u, nodes of %d: not what it is without boards\n", rank, size,
                 seed, node_size);
  }
  if (rank == 0 && failures == 0)
    std::printf("equal on %zu kinds of nodes, %d ranks, seed %u\n", node_sizes.size(), size, seed);
  return failures == 0 ? 0 : 1;
}
