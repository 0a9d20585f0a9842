// SPDX-License-Identifier: MIT
#include "suite.hpp"

#include <array>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>

#include "chasqui/bsp/variable.hpp"

namespace chasqui::bsp::suite {

namespace {

void expect(bool holds, const char* what, const World& w) {
  if (!holds) throw std::runtime_error(fmt::format("rank {} of {}: {}", w.rank(), w.size(), what));
}

void ring(World& w) {
  const int right = (w.rank() + 1) % w.size(), left = (w.rank() + w.size() - 1) % w.size();
  for (int round = 0; round < 5; ++round) {
    w.send(right, 100 * round + w.rank());
    w.sync();
    expect(w.received<int>().size() == 1, "one message", w);
    const auto message = *w.received<int>().begin();
    expect(message.from == left && message.value() == 100 * round + left, "from the left", w);
  }
  w.sync();
  expect(w.received<int>().empty(), "messages last one superstep", w);
}

void order_of_delivery(World& w) {
  for (int i = 0; i < 7; ++i) {
    for (int to = w.size() - 1; to >= 0; --to) w.send(to, std::array<int, 2>{w.rank(), i});
  }
  w.sync();
  int expected = 0;
  for (const auto& message : w.received<std::array<int, 2>>()) {
    expect(message.from == expected / 7, "senders in rank order", w);
    expect(message.value()[0] == message.from && message.value()[1] == expected % 7, "then in order of sending", w);
    ++expected;
  }
  expect(expected == 7 * w.size(), "all of them", w);
}

static_assert(!Sendable<int*> && !Sendable<std::span<int>> && !Sendable<std::string_view>,
              "places in memory do not travel");

void spans_and_queues(World& w) {
  Queue<double> doubles(w);
  Queue<int> first(w), second(w);
  std::vector<int> values(static_cast<std::size_t>(w.rank() + 3));
  std::iota(values.begin(), values.end(), 10 * w.rank());
  first.send(0, values);
  first.send(0, std::span<const int>{});
  second.send(0, 5);
  doubles.send(0, 0.5 * w.rank());
  w.send(0, std::span(values));  // of values that are not const
  w.sync();
  int from = 0;
  if (w.rank() == 0) {
    for (const auto& message : first) {
      const int sender = from / 2;
      expect(message.from == sender, "sender", w);
      if (from % 2 == 0)
        expect(message.values.size() == static_cast<std::size_t>(sender + 3) && message.value() == 10 * sender, "span",
               w);
      else expect(message.values.empty(), "an empty span is a message", w);
      ++from;
    }
    expect(from == 2 * w.size(), "two messages from each", w);
    expect(second.received().size() == static_cast<std::size_t>(w.size()), "the second queue", w);
    double sum = 0;
    for (const auto& message : doubles) sum += message.value();
    expect(sum == 0.25 * w.size() * (w.size() - 1), "doubles", w);
    expect(w.received<int>().values().size() == static_cast<std::size_t>(3 * w.size() + w.size() * (w.size() - 1) / 2),
           "values()", w);
  } else {
    expect(first.received().empty(), "nothing for the others", w);
  }
}

void blocks_of_any_size(World& w) {
  for (const std::int64_t bytes : {1, 64, 1 << 20}) {
    w.set_block_bytes(bytes);
    expect(w.block_bytes() == bytes, "block size", w);
    for (int i = 0; i < 50; ++i) w.send((w.rank() + i) % w.size(), i);
    w.sync();
    int count = 0, before = -1;
    for (const auto& message : w.received<int>()) {
      expect(message.from >= before, "order does not depend on the block size", w);
      before = message.from;
      ++count;
    }
    expect(count == 50, "fifty in, fifty out", w);
  }
}

void puts_and_gets(World& w) {
  Array<std::int64_t> table(w, static_cast<std::size_t>(w.size()), -1);
  Var<int> mine(w, w.rank() * w.rank());
  for (int to = 0; to < w.size(); ++to) table.put(to, static_cast<std::size_t>(w.rank()), w.rank() * 1000 + to);
  const auto before = table.get((w.rank() + 1) % w.size(), 0, table.size());
  const auto square = mine.get((w.rank() + 1) % w.size());
  bool early = false;
  try {
    (void)square.value();
  } catch (const MachineError& error) {
    early = error.fault() == Fault::not_ready;
  }
  expect(early, "a get is not there before sync", w);
  w.sync();
  for (const std::int64_t value : before.values()) expect(value == -1, "gets see the values of before the puts", w);
  const int right = (w.rank() + 1) % w.size();
  expect(square.value() == right * right, "get", w);
  for (int from = 0; from < w.size(); ++from)
    expect(table[static_cast<std::size_t>(from)] == from * 1000 + w.rank(), "put", w);
  for (int i = 0; i < 3; ++i) mine.put(0, w.rank() * 10 + i);
  w.sync();
  if (w.rank() == 0) expect(mine.value() == (w.size() - 1) * 10 + 2, "the last put of the last rank wins", w);
}

void arrays_of_different_lengths(World& w) {
  Array<int> a(w, static_cast<std::size_t>(w.rank()), w.rank());
  const int right = (w.rank() + 1) % w.size();
  const auto all = a.get(right, 0, static_cast<std::size_t>(right));
  w.sync();
  expect(all.values().size() == static_cast<std::size_t>(right), "length", w);
  for (const int value : all.values()) expect(value == right, "content", w);
}

struct Affine {  // x -> a x + b: composition does not commute
  std::uint32_t a = 1, b = 0;
};

void collectives(World& w) {
  const auto compose = [](const Affine& f, const Affine& g) { return Affine{f.a * g.a, g.a * f.b + g.b}; };
  const auto mine = [](int r) {
    return Affine{static_cast<std::uint32_t>(2 * r + 3), static_cast<std::uint32_t>(r + 1)};
  };
  Affine all, before, until;
  for (int r = 0; r < w.size(); ++r) {
    if (r < w.rank()) before = compose(before, mine(r));
    if (r <= w.rank()) until = compose(until, mine(r));
    all = compose(all, mine(r));
  }
  const auto same = [](Affine f, Affine g) { return f.a == g.a && f.b == g.b; };
  for (const int root : {0, w.size() / 2, w.size() - 1}) {
    expect(w.broadcast(w.rank() == root ? 77 + root : -1, root) == 77 + root, "broadcast", w);
    const Affine folded = w.reduce(mine(w.rank()), compose, root);
    if (w.rank() == root) expect(same(folded, all), "reduce", w);
    const auto gathered = w.gather(w.rank() * 3L, root);
    expect(gathered.size() == (w.rank() == root ? static_cast<std::size_t>(w.size()) : 0), "gather", w);
    for (std::size_t r = 0; r < gathered.size(); ++r) expect(gathered[r] == 3 * static_cast<long>(r), "gathered", w);
  }
  expect(same(w.allreduce(mine(w.rank()), compose), all), "allreduce", w);
  expect(same(w.scan(mine(w.rank()), compose), until), "scan", w);
  expect(same(w.exclusive_scan(mine(w.rank()), compose, Affine{}), before), "exclusive scan", w);
  // Collectives and supersteps do not disturb each other.
  w.send(0, 1);
  expect(w.allreduce(1, std::plus<>{}) == w.size(), "all-reduce inside a superstep", w);
  w.sync();
  if (w.rank() == 0)
    expect(w.received<int>().size() == static_cast<std::size_t>(w.size()), "the superstep's messages", w);
}

void submachines(World& w) {
  const int parts = w.size() >= 3 ? 3 : 1;
  for (int round = 0; round < 2; ++round) {
    World part = w.split(parts);
    expect(part.allreduce(1, std::plus<>{}) == part.size(), "size of the part", w);
    // Parts make different numbers of supersteps.
    for (int i = 0; i <= w.part(parts); ++i) {
      part.send((part.rank() + 1) % part.size(), i);
      part.sync();
      expect(part.received<int>().begin()->value() == i, "inside the part", w);
    }
    World half = part.split(part.size() > 1 ? 2 : 1);
    half.send(0, w.rank());
    half.sync();
    if (half.rank() == 0) expect(half.received<int>().size() == static_cast<std::size_t>(half.size()), "nested", w);
    Array<int> local(half, 2, half.rank());
    local.put(0, 1, 9);
    half.sync();
    if (half.rank() == 0) expect(local[1] == 9, "a variable of a submachine", w);
  }
  w.send(0, 1);
  w.sync();
  if (w.rank() == 0) expect(w.received<int>().size() == static_cast<std::size_t>(w.size()), "joined again", w);
}

void submachines_by_size_and_color(World& w) {
  if (w.size() >= 2) {
    const std::array<int, 2> sizes{1, w.size() - 1};
    World part = w.split(sizes);
    expect(part.size() == (w.rank() == 0 ? 1 : w.size() - 1), "by size", w);
    part.sync();
  }
  World parity = w.split_by(w.rank() % 2);
  expect(parity.rank() == w.rank() / 2, "rank by color", w);
  parity.send(0, w.rank());
  parity.sync();
  for (const auto& message : parity.received<int>())
    expect(message.value() % 2 == w.rank() % 2, "only the same color", w);
  World rest = parity.split(parity.size() > 1 ? 2 : 1);
  rest.send(rest.size() - 1, 4);
  rest.sync();
}

void subset_sync(World& w) {
  std::vector<int> even;
  for (int r = 0; r < w.size(); r += 2) even.push_back(r);
  w.send(0, w.rank());
  if (w.size() > 1) w.send(1, -1);
  if (w.rank() % 2 == 0) {
    w.sync(even);
    if (w.rank() == 0) expect(w.received<int>().size() == even.size(), "messages inside the subset", w);
    w.send(0, 1000);
    w.sync(even);
    if (w.rank() == 0) expect(w.received<int>().begin()->value() == 1000, "a second time", w);
  }
  w.sync();
  if (w.rank() == 0)
    expect(w.received<int>().size() == static_cast<std::size_t>(w.size() / 2), "the others' messages later", w);
  if (w.rank() == 1)
    expect(w.received<int>().size() == static_cast<std::size_t>(w.size()), "messages out of the subset later", w);
}

void oblivious_sync(World& w) {
  // A pipeline: rank r hears from r-1 only; nobody waits for everybody.
  for (int round = 0; round < 4; ++round) {
    if (w.rank() + 1 < w.size()) w.send(w.rank() + 1, round * 10 + w.rank());
    w.sync(w.rank() > 0 ? 1 : 0);
    for (const auto& message : w.received<int>())
      expect(message.value() == round * 10 + w.rank() - 1, "in its own superstep", w);
  }
  Array<int> a(w, 1, 0);
  a.put((w.rank() + 1) % w.size(), 0, 5);
  w.sync(1);
  expect(a[0] == 5, "puts count as messages", w);
  w.sync();
}

void many_supersteps(World& w) {
  std::int64_t sum = 0;
  for (int i = 0; i < 200; ++i) {
    w.send((w.rank() * 7 + i) % w.size(), i);
    w.sync();
    for (const auto& message : w.received<int>()) sum += message.value();
  }
  expect(w.allreduce(sum, std::plus<>{}) == 19900LL * w.size(), "nothing lost", w);
  expect(w.superstep() == 200, "superstep count", w);
}

void costs(World& w) {
  const std::int64_t p = w.size();
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i <= w.rank(); ++i) w.send((w.rank() + 1) % w.size(), i);
    w.charge(w.rank());
    w.sync();
  }
  w.send((w.rank() + 1) % w.size(), 1);
  w.sync(1);
  w.sync();
  const auto steps = w.costs().machines.front().supersteps;
  expect(steps.size() == 5, "five supersteps", w);
  for (std::size_t step = 0; step < 3; ++step) {
    expect(steps[step].messages == p && steps[step].work == p - 1, "the most of all", w);
    expect(steps[step].total_messages == p * (p + 1) / 2, "each counted once", w);
    expect(steps[step].total_bytes == 4 * steps[step].total_messages, "bytes", w);
  }
  expect(steps[3].total_messages == p, "a superstep without a barrier", w);
}

// Misuse.

void message_to_a_bad_rank(World& w) {
  if (w.rank() == w.size() - 1) w.send(w.size(), 1);
  w.sync();
  w.sync();
}

void root_out_of_range(World& w) { w.broadcast(1, -1); }

void put_outside(World& w) {
  Array<int> a(w, 4);
  if (w.rank() == 0) a.put(w.size() - 1, 4, 1);
  w.sync();
  w.sync();
}

void get_outside(World& w) {
  Array<int> a(w, 4);
  const auto future = a.get(0, 2, 3);
  w.sync();
  w.sync();
}

// 2^62 ints are 2^64 bytes.
void put_far_outside(World& w) {
  Array<int> a(w, 4);
  if (w.rank() == 0) a.put(w.size() - 1, std::size_t{1} << 62, 1);
  w.sync();
  w.sync();
}

void get_far_outside(World& w) {
  Array<int> a(w, 4);
  const auto future = a.get(0, std::size_t{1} << 62);
  w.sync();
  w.sync();
}

void get_of_far_too_much(World& w) {
  Array<int> a(w, 4);
  const auto future = a.get(0, 0, std::size_t{1} << 62);
  w.sync();
}

void message_of_far_too_much(World& w) {
  Queue<int> queue(w);
  queue.room(0, std::size_t{1} << 62);
}

void split_of_too_many(World& w) {
  constexpr int kMost = std::numeric_limits<int>::max();
  w.split(std::array{kMost, kMost, w.size() + 2});  // 2^32 too many
}

void part_that_does_not_exist(World& w) { w.first_of(w.size(), w.size()); }

void get_of_too_much(World& w) {
  Array<char> a(w, 1);
  const auto future = a.get(0, 0, std::size_t{1} << 32);
  w.sync();
}

void array_of_too_much(World& w) { Array<double> a(w, std::size_t{1} << 61); }

void array_of_less_than_nothing(World& w) { Array<char> a(w, static_cast<std::size_t>(-w.size())); }

void put_after_free(World& w) {
  Array<int> a(w, 4);
  if (w.rank() == w.size() - 1) a.free();
  w.sync();
  if (w.rank() == 0) a.put(w.size() - 1, 0, 1);
  w.sync();
  w.sync();
}

void use_after_free(World& w) {
  Array<int> a(w, 4);
  a.free();
  a[0] = 1;
}

void one_leaves_early(World& w) {
  w.sync();
  if (w.rank() == 0) return;
  w.sync();
}

void different_machines(World& w) {
  if (w.rank() == 0) {
    w.sync();
  } else {
    w.sync({0, w.rank()});
  }
}

void different_kinds(World& w) {
  if (w.rank() == 0) w.sync();
  else w.sync(0);
  w.sync();
}

void waits_for_a_message_that_never_comes(World& w) {
  w.sync();
  w.sync(w.rank() == 0 ? 1 : 0);
  w.sync();
}

void too_many_messages(World& w) {
  w.sync();
  w.send(0, 1);
  w.send(0, 2);
  w.sync(w.rank() == 0 ? 1 : 0);
  w.sync();
}

void messages_left_over(World& w) {
  w.sync();
  w.send(0, 1);
}

void message_that_nobody_expects(World& w) {
  w.sync();
  if (w.rank() == 0) w.send(w.size() - 1, 1);
  w.sync(0);
}

void message_of_a_part_that_nobody_expects(World& w) {
  World part = w.split(1);
  if (w.rank() == w.size() - 1) part.send(0, 1);
  part.sync(0);
}

void broadcast_that_only_the_root_calls(World& w) {
  w.sync();
  if (w.rank() == 0) w.broadcast(1);
}

void syncs_with_an_open_part(World& w) {
  World part = w.split(1);
  w.sync();
}

void collective_that_one_skips(World& w) {
  if (w.rank() > 0) w.allreduce(1, std::plus<>{});
  w.sync();
}

constexpr Case kCases[] = {
    {"ring", ring},
    {"order_of_delivery", order_of_delivery},
    {"spans_and_queues", spans_and_queues},
    {"blocks_of_any_size", blocks_of_any_size},
    {"puts_and_gets", puts_and_gets},
    {"arrays_of_different_lengths", arrays_of_different_lengths},
    {"collectives", collectives},
    {"submachines", submachines},
    {"submachines_by_size_and_color", submachines_by_size_and_color},
    {"subset_sync", subset_sync},
    {"oblivious_sync", oblivious_sync},
    {"many_supersteps", many_supersteps},
    {"costs", costs},
};

constexpr Misuse kMisuses[] = {
    {"message_to_a_bad_rank", Fault::bad_rank, "sends to rank", 1, message_to_a_bad_rank},
    {"root_out_of_range", Fault::bad_rank, "broadcasts from rank -1", 1, root_out_of_range},
    {"put_outside", Fault::bad_put, "which has 16 bytes", 1, put_outside},
    {"get_outside", Fault::bad_get, "gets bytes 8 to 20", 1, get_outside},
    {"put_far_outside", Fault::bad_put, "which has 16 bytes", 1, put_far_outside},
    {"get_far_outside", Fault::bad_get, "which has 16 bytes", 1, get_far_outside},
    {"get_of_far_too_much", Fault::resources, "at most 4294967295", 1, get_of_far_too_much},
    {"message_of_far_too_much", Fault::resources, "at most 4294967295", 1, message_of_far_too_much},
    {"split_of_too_many", Fault::bad_rank, "the sizes add up to", 1, split_of_too_many},
    {"part_that_does_not_exist", Fault::bad_rank, "between 0 and", 1, part_that_does_not_exist},
    {"get_of_too_much", Fault::resources, "at most 4294967295", 1, get_of_too_much},
    {"array_of_too_much", Fault::resources, "2305843009213693952 elements of 8 bytes", 1, array_of_too_much},
    {"array_of_less_than_nothing", Fault::resources, "too long for any memory", 1, array_of_less_than_nothing},
    {"put_after_free", Fault::freed_variable, "suite.cpp:", 1, put_after_free},
    {"use_after_free", Fault::freed_variable, "which it freed at", 1, use_after_free},
    {"one_leaves_early", Fault::sync_mismatch, "rank 0 finished", 2, one_leaves_early},
    {"different_machines", Fault::sync_mismatch, "in sync() of superstep 0 on 2 processors", 3, different_machines},
    {"different_kinds", Fault::sync_mismatch, "superstep", 2, different_kinds},
    {"waits_for_a_message_that_never_comes", Fault::deadlock, "rank 0 waits in sync(1) of superstep 1 with 0 messages",
     2, waits_for_a_message_that_never_comes},
    {"too_many_messages", Fault::lost_messages, "was told", 1, too_many_messages},
    {"messages_left_over", Fault::lost_messages, "no sync delivered", 1, messages_left_over},
    {"message_that_nobody_expects", Fault::lost_messages, "was told", 1, message_that_nobody_expects},
    {"message_of_a_part_that_nobody_expects", Fault::lost_messages, "was told", 1,
     message_of_a_part_that_nobody_expects},
    {"broadcast_that_only_the_root_calls", Fault::lost_messages, "without a collective in which rank 0 took part", 2,
     broadcast_that_only_the_root_calls},
    {"syncs_with_an_open_part", Fault::open_submachine, "suite.cpp:", 1, syncs_with_an_open_part},
    {"collective_that_one_skips", Fault::deadlock, "in a collective", 2, collective_that_one_skips},
};

}  // namespace

std::span<const Case> cases() { return kCases; }
std::span<const Misuse> misuses() { return kMisuses; }

}  // namespace chasqui::bsp::suite
