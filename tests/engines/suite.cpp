// SPDX-License-Identifier: MIT
#include "suite.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

#include "chasqui/base/error.hpp"
#include "measure/bench/rivals.hpp"
#include "run/comm/fabric.hpp"
#include "sweep.hpp"

namespace chasqui::engines {
namespace {

void verify(const Recipe& recipe, const Case& result) {
  if (const auto wrong = result.check(); !wrong.empty()) throw std::runtime_error(recipe.name + ": " + wrong);
}

/// All ranks make the same mistake: each gets an Error, and the communicator goes on.
void expect_refusal(run::Comm& comm, const run::Call& call, const std::string& word) {
  try {
    comm.run(call);
  } catch (const Error& error) {
    if (std::string(error.what()).find(word) == std::string::npos) {
      throw std::runtime_error(fmt::format("the refusal does not name {}: {}", word, error.what()));
    }
    return;
  }
  throw std::runtime_error("no refusal that names " + word);
}

void refusals(run::Comm& comm) {
  long value = 0;
  run::Call call;
  call.kind = Kind::broadcast;
  call.out = &value;
  call.element = sizeof value;
  call.count = 1;
  call.root = comm.size();
  expect_refusal(comm, call, "root");
  call.root = -1;
  expect_refusal(comm, call, "root");
  call.root = 0;
  call.count = -5;
  expect_refusal(comm, call, "-5");
  call.count = std::int64_t{1} << 60;
  expect_refusal(comm, call, "memory");
  call.count = 1;
  call.out = nullptr;
  expect_refusal(comm, call, "output");
  comm.barrier();
}

/// Parts by parity in reverse order, then parts of the parts.
void splits(run::Comm& comm) {
  const auto part = comm.split(comm.rank() % 2, -comm.rank());
  const int members = (comm.size() + (comm.rank() % 2 == 0 ? 1 : 0)) / 2;
  if (part->size() != members) throw std::runtime_error("split: wrong size");
  if (part->rank() != members - 1 - comm.rank() / 2) throw std::runtime_error("split: wrong order");
  run_blocking(*part, recipes(part->size(), {part->size() - 1}, {0, 1, 33}));
  const auto alone = part->split(part->rank(), 0);
  run_blocking(*alone, recipes(1, {0}, {0, 3, 700}));
  const auto some = comm.split(comm.rank() == 0 ? -1 : 7, 0);
  if ((some == nullptr) != (comm.rank() == 0)) throw std::runtime_error("split: a negative colour is no part");
  if (some != nullptr) run_blocking(*some, recipes(some->size(), {0}, {2}));
  comm.barrier();
}

}  // namespace

void run_blocking(run::Comm& comm, const std::vector<Recipe>& recipes) {
  for (const auto& recipe : recipes) {
    const auto one = recipe.make(comm.rank(), comm.size());
    try {
      comm.run(one->call);
    } catch (const std::exception& error) {
      throw std::runtime_error(recipe.name + " threw: " + error.what());
    }
    verify(recipe, *one);
  }
}

void run_in_flight(run::Comm& comm, const std::vector<Recipe>& recipes, int at_once) {
  struct Flight {
    const Recipe* recipe;
    std::unique_ptr<Case> part;
    run::Request request;
  };
  std::deque<Flight> flights;
  const auto land = [&](bool newest) {
    Flight flight = std::move(newest ? flights.back() : flights.front());
    newest ? flights.pop_back() : flights.pop_front();
    if (comm.rank() % 2 == 0) flight.request.wait();
    while (!flight.request.test()) std::this_thread::yield();
    verify(*flight.recipe, *flight.part);
  };
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    auto part = recipes[i].make(comm.rank(), comm.size());
    const auto& call = part->call;
    auto request = comm.start(call);
    flights.push_back({&recipes[i], std::move(part), std::move(request)});
    if (static_cast<int>(flights.size()) >= at_once) land(i % 3 == 0);
  }
  while (!flights.empty()) land(true);
}

void rivals(run::Comm& comm) {
  if (run::fabric_of(comm).messages == nullptr) return;
  const int size = comm.size();
  for (const auto& recipe :
       recipes(size, kWholeSweeps && size <= 8 ? all_roots(size) : std::vector<int>{0, size - 1}, {0, 1, 9, 20'001})) {
    const auto one = recipe.make(comm.rank(), size);
    if (!measure::binomial(comm, one->call)) {
      if (one->call.plain()) throw std::runtime_error(recipe.name + ": no binomial tree");
      continue;
    }
    // The others are told first: nobody looks for failures inside the rival.
    const auto wrong = one->check();
    if (comm.allreduce(wrong.empty() ? 0 : 1) != 0) throw std::runtime_error("binomial " + recipe.name + ": " + wrong);
  }
}

void run_everything(run::Comm& comm, bool thorough) {
  const int size = comm.size();
  run_blocking(comm,
               recipes(size, all_roots(size), thorough || size <= 8 ? std::vector<int>{0, 1, 3} : std::vector<int>{1}));
  run_blocking(comm, recipes(size, {size - 1, size / 3}, {0, 13, 501, 901, thorough ? 70'001 : 20'001}));
  run_in_flight(comm, recipes(size, {0, size - 1}, {1, 40}), 5);
  sums(comm);
  prefixes(comm);
  rivals(comm);
  refusals(comm);
  splits(comm);
}

/// Short collectives in a row, each with values of its own. One rank sleeps now and then, while the others go ahead of it or
/// wait.
static void soak_short(run::Comm& comm, std::int64_t count, std::mt19937_64& random) {
  constexpr std::size_t kMost = 160;
  const auto size = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
  std::vector<std::uint64_t> mine(kMost * size), got(kMost * size);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t draw = random(), stamp = random();
    const auto kind = static_cast<Kind>(draw % (static_cast<unsigned>(Kind::barrier) + 1));
    const std::size_t root = (draw >> 8) % size;
    const std::size_t n = 1 + (draw >> 16) % ((draw >> 60) == 0 ? kMost : 8);
    if (draw << 32 >> 52 == 0 && stamp % size == me) {
      std::this_thread::sleep_for(std::chrono::microseconds(stamp >> 32 & 511));
    }
    const auto value = [&](std::size_t rank, std::size_t at) { return stamp + rank * 1'000'003 + at; };
    const auto sum = [&](std::size_t ranks, std::size_t at) {
      return ranks * (stamp + at) + ranks * (ranks - 1) / 2 * 1'000'003;
    };
    const std::span<std::uint64_t> in(mine.data(), n), out(got.data(), n), all(got.data(), n * size);
    for (std::size_t k = 0; k < n; ++k) in[k] = value(me, k);
    const int at = static_cast<int>(root);
    std::size_t wrong = 0;
    switch (kind) {
      case Kind::broadcast:
        comm.broadcast(in, at);
        for (std::size_t k = 0; k < n; ++k) wrong += in[k] != value(root, k);
        break;
      case Kind::scatter: {
        const std::span<std::uint64_t> parts(mine.data(), n * size);
        for (std::size_t k = 0; k < n * size; ++k) parts[k] = value(k / n, k % n);
        comm.scatter(parts, out, at);
        for (std::size_t k = 0; k < n; ++k) wrong += out[k] != value(me, k);
        break;
      }
      case Kind::gather:
      case Kind::allgather:
        if (kind == Kind::gather) comm.gather(in, all, at);
        else comm.allgather(in, all);
        for (std::size_t k = 0; (kind != Kind::gather || me == root) && k < n * size; ++k)
          wrong += all[k] != value(k / n, k % n);
        break;
      case Kind::reduce:
        comm.reduce(in, out, at);
        for (std::size_t k = 0; me == root && k < n; ++k) wrong += out[k] != sum(size, k);
        break;
      case Kind::allreduce:
        comm.allreduce(in, out);
        for (std::size_t k = 0; k < n; ++k) wrong += out[k] != sum(size, k);
        break;
      case Kind::alltoall:
      case Kind::reduce_scatter: {
        const std::span<std::uint64_t> parts(mine.data(), n * size);
        for (std::size_t k = 0; k < n * size; ++k) parts[k] = value(me, k);
        if (kind == Kind::alltoall) comm.alltoall(parts, all);
        else comm.reduce_scatter(parts, out);
        for (std::size_t k = 0; kind == Kind::alltoall && k < n * size; ++k)
          wrong += all[k] != value(k / n, me * n + k % n);
        for (std::size_t k = 0; kind != Kind::alltoall && k < n; ++k) wrong += out[k] != sum(size, me * n + k);
        break;
      }
      case Kind::scan:
        comm.scan(in, out);
        for (std::size_t k = 0; k < n; ++k) wrong += out[k] != sum(me + 1, k);
        break;
      default: comm.barrier();
    }
    if (wrong != 0)
      throw std::runtime_error(fmt::format("{} of {} words, root {}: {} are wrong", to_string(kind), n, root, wrong));
  }
}

void soak(run::Comm& comm, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);  // the same on every rank
  struct Stock {
    explicit Stock(int size)
        : usual(recipes(size, {0, size - 1}, {0, 1, 2, 7, 8, 30, 300})),
          rare(recipes(size, {size / 2}, {5001, 40'000})) {}
    std::vector<Recipe> usual, rare;
  };
  std::map<int, Stock> stocks;
  std::unique_ptr<run::Comm> part;  // of the communicator, another one from time to time
  for (std::int64_t i = 0; i < count;) {
    if (random() % 300 == 0) {
      const std::uint64_t colours = random();
      part =
          comm.split(static_cast<int>(colours >> (comm.rank() % 60) & 1), comm.rank() * ((colours & 64) != 0 ? -1 : 1));
    }
    run::Comm& where = random() % 4 == 0 && part != nullptr ? *part : comm;
    if (random() % 2 == 0) {
      const std::int64_t burst = std::min<std::int64_t>(count - i, 1000);
      soak_short(where, burst, random);
      i += burst;
      continue;
    }
    const Stock& stock = stocks.try_emplace(where.size(), where.size()).first->second;
    const auto& list = random() % 64 == 0 ? stock.rare : stock.usual;
    const std::int64_t burst = std::min<std::int64_t>(count - i, 1 + static_cast<std::int64_t>(random() % 6));
    std::vector<Recipe> some;
    for (std::int64_t k = 0; k < burst; ++k) some.push_back(list[random() % list.size()]);
    if (random() % 2 == 0) run_blocking(where, some);
    else run_in_flight(where, some, static_cast<int>(1 + random() % 4));
    i += burst;
  }
}

namespace {

/// A collective that is under way, and what comes of it.
struct Started {
  std::vector<std::uint64_t> in, out;
  std::uint64_t first = 0;  ///< what `out` begins with; each further word is one more times as many
  std::uint64_t more = 1;
  run::Request request;

  void start(run::Comm& comm, std::uint64_t number, std::uint64_t draw) {
    const auto size = static_cast<std::uint64_t>(comm.size());
    const std::size_t words = draw >> 60 == 0 ? 3000 : 1 + (draw >> 8) % 20;
    const int root = static_cast<int>((draw >> 32) % size);
    for (std::size_t k = 0; k < words; ++k) in.push_back(number * 100'000 + k);
    out.resize(words);
    switch (draw >> 16 & 3) {
      case 0:
        if (comm.rank() == root) out = in;
        request = comm.ibroadcast(out, root);
        break;
      case 1:
        more = static_cast<std::uint64_t>(comm.rank()) + 1;
        request = comm.iscan(in, out);
        break;
      default: more = size; request = comm.iallreduce(in, out);
    }
    first = number * 100'000 * more;
  }
  void check(std::uint64_t seed) const {
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (out[k] != first + k * more)
        throw std::runtime_error(
            fmt::format("seed {}: word {} of {} is {}, not {}", seed, k, out.size(), out[k], first + k * more));
    }
  }
};

}  // namespace

void stress(const std::vector<std::unique_ptr<run::Comm>>& comms, std::size_t count, int rank, std::uint64_t seed) {
  std::mt19937_64 common(seed), own(seed + 1 + static_cast<std::uint64_t>(rank));
  std::vector<std::uint64_t> draws(count);
  for (auto& draw : draws) draw = common();
  // Call i is one of communicator i % comms.size(). Which comes next is each rank's own matter, on one communicator it is not.
  std::vector<std::size_t> order(count), next(comms.size());
  for (std::size_t i = 0; i < count; ++i) order[i] = i % comms.size();
  std::shuffle(order.begin(), order.end(), own);
  for (auto& each : order) {
    const std::size_t comm = each;
    each = comm + comms.size() * next[comm]++;
  }
  std::vector<Started> calls(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = order[k];
    calls[i].start(*comms[i % comms.size()], i, draws[i]);
    if (own() % 8 == 0) static_cast<void>(calls[order[own() % (k + 1)]].request.test());
  }
  std::shuffle(order.begin(), order.end(), own);
  for (const std::size_t i : order) {
    if (own() % 4 != 0 || !calls[i].request.test()) calls[i].request.wait();
    calls[i].check(seed);
  }
}

}  // namespace chasqui::engines
