// SPDX-License-Identifier: MIT
// Programs of all families, played for all ranks together by one thread over channels. Values are sequences of ranks, so
// that a result shows every contribution it holds, and in which order; inputs must stay as they are.
#include "run/messages/program.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/sum.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"
#include "threads/channels.hpp"

namespace chasqui::run {
namespace {

constexpr int kMostRanks = 31;

/// Element `index` of a fold of contributions.
struct Value {
  std::uint16_t index = 0;
  std::uint16_t length = 0;
  std::array<std::uint8_t, kMostRanks + 1> ranks{};

  std::vector<int> list() const { return {ranks.begin(), ranks.begin() + length}; }
  friend bool operator==(const Value&, const Value&) = default;
};

Value value_of(int rank, std::size_t index) {
  Value value{static_cast<std::uint16_t>(index), 1, {}};
  value.ranks[0] = static_cast<std::uint8_t>(rank);
  return value;
}

struct Join {
  Value operator()(Value a, const Value& b) const {
    EXPECT_EQ(a.index, b.index) << "elements of different places";
    EXPECT_LE(a.length + b.length, kMostRanks) << "a contribution twice";
    for (int i = 0; i < b.length && a.length < kMostRanks; ++i)
      a.ranks[a.length++] = b.ranks[static_cast<std::size_t>(i)];
    return a;
  }
};

Level network(double L, double o, double g, bool shared = false) {
  Level level;
  level.L = Estimate::exactly(L);
  level.o_s = level.o_r = Estimate::exactly(o);
  level.g = Estimate::exactly(g);
  level.G = Estimate::exactly(0.01);
  level.shares_bandwidth = shared;
  return level;
}

/// One rank's memory.
struct Part {
  std::vector<Value> in, out;
  Buffers buffers;
};

/// All ranks take turns. False: somebody waits for ever.
bool take_turns(const std::vector<Program>& programs, const std::vector<Buffers>& buffers, const Operator& op) {
  const auto size = static_cast<int>(programs.size());
  const auto memory = std::make_shared<threads::ChannelMemory>(size);
  std::vector<std::unique_ptr<threads::ChannelTransport>> transports;
  std::vector<Group> groups;
  std::vector<Scratch> scratch(programs.size());
  for (int r = 0; r < size; ++r) {
    transports.push_back(std::make_unique<threads::ChannelTransport>(memory, r));
    groups.push_back({transports.back().get(), {}, r, size, 7});
    scratch[static_cast<std::size_t>(r)].fit(programs[static_cast<std::size_t>(r)]);
  }
  for (int repeated = 0; repeated < 2; ++repeated) {  // the second time in the memory of the first
    std::vector<std::unique_ptr<Player>> players;
    for (std::size_t r = 0; r < programs.size(); ++r)
      players.push_back(std::make_unique<Player>(programs[r], groups[r], buffers[r], op, scratch[r]));
    std::vector<bool> ended(programs.size());
    for (int turns = 0; std::find(ended.begin(), ended.end(), false) != ended.end(); ++turns) {
      if (turns > 2'000'000) return false;
      for (std::size_t r = 0; r < programs.size(); ++r) ended[r] = ended[r] || players[r]->ready();
    }
  }
  return true;
}

/// The same with whole messages, and with messages in pieces.
bool play_together(const std::vector<Program>& programs, const std::vector<Buffers>& buffers, const Operator& op) {
  std::vector<Program> cut;
  for (const Program& whole : programs) cut.push_back(in_pieces(whole, [](std::size_t bytes) { return bytes / 3; }));
  return take_turns(programs, buffers, op) && take_turns(cut, buffers, op);
}

std::vector<int> first_ranks(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Plays a collective and looks at all memory. `programs` for calls that are repeatable: reductions are not in place.
void expect_right(const Shape& call, const std::vector<Program>& programs, const std::string& what) {
  const auto size = static_cast<std::size_t>(call.size), count = call.count;
  std::vector<Part> parts(size);
  std::vector<Buffers> buffers;
  for (int r = 0; r < call.size; ++r) {
    Part& part = parts[static_cast<std::size_t>(r)];
    const bool root = r == call.root;
    const auto own = [&](std::size_t i) { return value_of(r, i); };
    switch (call.kind) {
      case Kind::broadcast:
        part.out.resize(count);
        for (std::size_t i = 0; i < count && root; ++i) part.out[i] = own(i);
        break;
      case Kind::scatter:
        part.in.resize(root ? count * size : 0);
        for (std::size_t i = 0; i < part.in.size(); ++i) part.in[i] = value_of(static_cast<int>(i / count), i % count);
        part.out.resize(count);
        break;
      case Kind::alltoall:
      case Kind::reduce_scatter:
        part.in.resize(count * size);
        for (std::size_t i = 0; i < part.in.size(); ++i) part.in[i] = own(i);
        part.out.resize(call.kind == Kind::alltoall ? count * size : count);
        break;
      default:
        part.in.resize(count);
        for (std::size_t i = 0; i < count; ++i) part.in[i] = own(i);
        part.out.resize(call.kind == Kind::allgather || (call.kind == Kind::gather && root) ? count * size
                        : call.kind == Kind::gather || (call.kind == Kind::reduce && !root) ? 0
                                                                                            : count);
    }
    buffers.push_back({part.in.data(), part.out.data()});
  }
  const auto inputs = parts;
  Join join;
  ASSERT_TRUE(play_together(programs, buffers, operator_of<Value>(join, call.commutative))) << what << " does not end";
  for (int r = 0; r < call.size; ++r) {
    const Part& part = parts[static_cast<std::size_t>(r)];
    ASSERT_EQ(part.in, inputs[static_cast<std::size_t>(r)].in) << what << ": rank " << r << " writes on its input";
    for (std::size_t i = 0; i < part.out.size(); ++i) {
      const Value& got = part.out[i];
      const auto where = what + ": rank " + std::to_string(r) + ", element " + std::to_string(i);
      switch (call.kind) {
        case Kind::broadcast: ASSERT_EQ(got, value_of(call.root, i)) << where; break;
        case Kind::scatter: ASSERT_EQ(got, value_of(r, i)) << where; break;
        case Kind::gather:
        case Kind::allgather: ASSERT_EQ(got, value_of(static_cast<int>(i / count), i % count)) << where; break;
        case Kind::alltoall:
          ASSERT_EQ(got, value_of(static_cast<int>(i / count), static_cast<std::size_t>(r) * count + i % count))
              << where;
          break;
        case Kind::scan: ASSERT_EQ(got.list(), first_ranks(call.exclusive ? r : r + 1)) << where; break;
        default: {
          auto list = got.list();
          if (call.commutative) std::sort(list.begin(), list.end());
          ASSERT_EQ(list, first_ranks(call.size)) << where;
          ASSERT_EQ(got.index, call.kind == Kind::reduce_scatter ? static_cast<std::size_t>(r) * count + i : i)
              << where;
        }
      }
    }
  }
}

struct Way {
  Method method;
  std::int64_t parts;
};
std::vector<Way> ways_of(Kind kind, bool commutative, int radix, std::int64_t items) {
  const Way tree{Method::tree, 1}, exchange{Method::exchange, radix}, cut{Method::items, items}, one{Method::items, 1};
  switch (kind) {
    case Kind::broadcast: return {tree, one, cut, exchange};
    case Kind::gather:
    case Kind::scatter: return {tree, {Method::messages, 1}};
    case Kind::allgather: return {{Method::windows, 0}, {Method::windows, radix}, {Method::messages, 1}};
    case Kind::alltoall: return {{Method::windows, radix}, {Method::messages, 1}};
    case Kind::reduce_scatter:
      if (commutative) return {exchange, {Method::windows, radix}, {Method::messages, 1}};
      return {{Method::windows, radix}, {Method::messages, 1}};
    case Kind::reduce:
    case Kind::allreduce:
      return commutative ? std::vector<Way>{tree, {Method::tree, 0}, one, cut, exchange} : std::vector<Way>{tree};
    case Kind::barrier: return {tree, one};
    default: return {tree};
  }
}

constexpr std::array kKinds = {Kind::broadcast, Kind::scatter, Kind::gather,  Kind::allgather, Kind::reduce,
                               Kind::allreduce, Kind::scan,    Kind::barrier, Kind::alltoall,  Kind::reduce_scatter};

Shape any_shape(Kind kind) {
  Shape shape{.kind = kind, .size = *rc::gen::inRange(2, 20)};
  if (has_root(kind)) shape.root = *rc::gen::inRange(0, shape.size);
  if (kind != Kind::barrier) shape.count = static_cast<std::size_t>(*rc::gen::inRange(0, 40));
  shape.element = sizeof(Value);
  shape.commutative = *rc::gen::arbitrary<bool>();
  shape.exclusive = kind == Kind::scan && *rc::gen::arbitrary<bool>();
  return shape;
}

template <typename Make>
std::vector<Program> of_all_ranks(Shape shape, const Make& make) {
  std::vector<Program> programs;
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) programs.push_back(make(shape));
  return programs;
}

RC_GTEST_PROP(EveryFamily, WholeValuesItemsAndBlocks, ()) {
  const Kind kind = *rc::gen::elementOf(kKinds);
  const Shape shape = any_shape(kind);
  const bool shared = *rc::gen::arbitrary<bool>();
  const Level level = *rc::gen::elementOf(std::vector<Level>{
      network(1e5, 5000, 5000, shared), network(1000, 300, 300, shared), network(20, 10, 40, shared)});
  Profile profile = default_profile();
  for (const Way& way : ways_of(kind, shape.commutative, *rc::gen::inRange(2, 5), *rc::gen::inRange(2, 9))) {
    const auto programs = of_all_ranks(shape, [&](const Shape& one) {
      return program_of(one, way.method, way.parts, {level, profile, one.size});
    });
    expect_right(shape, programs, fmt::format("{} by {} {}", to_string(kind), to_string(way.method), way.parts));
  }
}

RC_GTEST_PROP(EveryFamily, PlainTrees, ()) {
  const Kind kind = *rc::gen::elementOf(kKinds);
  const Shape shape = any_shape(kind);
  for (const auto tree : {plan::PlainTree::binomial, plan::PlainTree::chain, plan::PlainTree::flat}) {
    if (tree == plan::PlainTree::flat && kind == Kind::scan) continue;
    expect_right(shape, of_all_ranks(shape, [&](const Shape& one) { return plain_program(one, tree); }),
                 fmt::format("{} on a {}", to_string(kind), plan::to_string(tree)));
  }
}

RC_GTEST_PROP(EveryFamily, PlacedSums, ()) {
  const LogP machine{*rc::gen::inRange(1, 20), Time{*rc::gen::inRange(1, 9)}, Time{*rc::gen::inRange(0, 3)},
                     Time{*rc::gen::inRange(1, 5)}};
  const std::int64_t n = *rc::gen::inRange(1, 300);
  const auto plan = plan::sum_operands(machine, n, false);
  const auto size = static_cast<std::size_t>(machine.P);
  using Interval = std::pair<std::int64_t, std::int64_t>;  // operands from … to, exclusive
  std::vector<std::vector<Interval>> mine(size);
  std::vector<Interval> totals(size);
  std::vector<Program> programs;
  std::vector<Buffers> buffers;
  for (std::size_t r = 0; r < size; ++r) {
    const Rank rank{static_cast<std::int32_t>(r)};
    for (const auto& range : plan->placement(rank)) {
      for (std::int64_t i = 0; i < range.count; ++i) mine[r].push_back({range.position + i, range.position + i + 1});
    }
    programs.push_back(sum_program(plan->local(rank), sizeof(Interval)));
    buffers.push_back({mine[r].data(), &totals[r]});
  }
  Operator op;
  op.combine = [](void*, const void* left, const void* right, void* to, std::size_t count) {
    Interval total = *static_cast<const Interval*>(right);
    for (const auto* first = static_cast<const Interval*>(left); count > 0; --count) {
      EXPECT_EQ(first[count - 1].second, total.first) << "out of order";
      total.first = first[count - 1].first;
    }
    *static_cast<Interval*>(to) = total;
  };
  RC_ASSERT(play_together(programs, buffers, op));
  RC_ASSERT(totals[0] == Interval(0, n));
}

/// Shapes that random ones seldom have: many ranks, each machine.
TEST(EveryMachine, FoldsHoldEveryContributionOnce) {
  for (const Level& level : {network(1e6, 5000, 5000), network(1000, 300, 300), network(20, 10, 40)}) {
    for (const int ranks : {2, 3, 5, 8, 13, 16, 31}) {
      for (const bool commutative : {true, false}) {
        for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::scan, Kind::broadcast}) {
          Shape shape{.kind = kind, .size = ranks, .root = ranks / 2, .count = 1, .element = sizeof(Value)};
          if (!has_root(kind)) shape.root = 0;
          shape.commutative = commutative;
          shape.exclusive = kind == Kind::scan && commutative;
          const Profile profile = default_profile();
          for (const Way& way : ways_of(kind, commutative, 2, 1)) {
            const auto programs = of_all_ranks(shape, [&](const Shape& one) {
              return program_of(one, way.method, way.parts, {level, profile, one.size});
            });
            expect_right(shape, programs, fmt::format("{} on {}", to_string(kind), ranks));
          }
        }
      }
    }
  }
}

TEST(Misuse, AProgramStaysInsideItsMemory) {
  const Address scratch{Memory::scratch, 0}, input{Memory::input, 0}, output{Memory::output, 0};
  Program program;
  EXPECT_DEATH(program.arrive(0), "message 0 of 0 that were asked for");
  EXPECT_DEATH(program.post(1, {input, 8}), "buffer 0");
  EXPECT_DEATH(program.post(-1, {output, 8}), "rank -1");
  EXPECT_DEATH(program.send(-1, {output, 8}), "rank -1");
  EXPECT_DEATH(program.send(1, {scratch, 8}), "8 bytes at 0 in 0 bytes of scratch memory");
  EXPECT_DEATH(program.copy(input, {output, 8}), "a copy into the input");
  EXPECT_DEATH(program.fold(output, output, input, 1), "a fold into the input");
  const Address first = program.more_scratch(8);
  program.send(1, {first, 8});
  EXPECT_DEATH(program.send(1, {first + 4, 8}), "8 bytes at 4 in 8 bytes");
}

TEST(Misuse, MemoryThatDoesNotFitIsSeen) {
  threads::ChannelTransport transport(std::make_shared<threads::ChannelMemory>(2), 0);
  const Group group{&transport, {}, 0, 2, 7};
  Program program;
  program.send(1, {program.more_scratch(8), 8});
  Scratch scratch;
  EXPECT_DEATH(Player(program, group, {}, {}, scratch), "0 tickets and 0 bytes for a program that needs 1 and 8");
}

TEST(Misuse, AMessageOfAnotherSizeIsAnErrorAndTheRestIsAbandoned) {
  const auto memory = std::make_shared<threads::ChannelMemory>(2);
  threads::ChannelTransport left(memory, 0), right(memory, 1);
  std::array<std::byte, 64> data{};
  Program sends, receives;
  sends.send(1, {{Memory::input, 0}, 16});
  sends.finish();
  const auto first = receives.post(0, {{Memory::output, 0}, 8});
  receives.post(0, {{Memory::output, 8}, 8});
  receives.arrive(first);
  Scratch of_left, of_right;
  of_left.fit(sends), of_right.fit(receives);
  const Group group_left{&left, {}, 0, 2, 7}, group_right{&right, {}, 1, 2, 7};
  const Operator none;
  Player sender(sends, group_left, {data.data(), nullptr}, none, of_left);
  Player receiver(receives, group_right, {nullptr, data.data()}, none, of_right);
  sender.ready();
  EXPECT_THROW(receiver.ready(), Error);
}

TEST(Pieces, OfAProgram) {
  constexpr Address input{Memory::input, 0}, output{Memory::output, 0};
  Program whole;
  const auto first = whole.post(3, {output, 10}), second = whole.post(4, {output + 10, 0});
  whole.send(5, {input, 9});
  whole.arrive(second);
  whole.arrive(first);
  const Program cut = in_pieces(whole, [](std::size_t) { return std::size_t{4}; });
  using What = Instruction::What;
  struct Expected {
    What what;
    std::int32_t other;
    std::size_t size;
  };
  const std::vector<Expected> expected = {{What::post, 3, 4},   {What::post, 3, 4},   {What::post, 3, 2},
                                          {What::post, 4, 0},   {What::send, 5, 4},   {What::send, 5, 4},
                                          {What::send, 5, 1},   {What::arrive, 3, 0}, {What::arrive, 0, 0},
                                          {What::arrive, 1, 0}, {What::arrive, 2, 0}};
  ASSERT_EQ(cut.list.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(cut.list[i].what, expected[i].what) << i;
    EXPECT_EQ(cut.list[i].other, expected[i].other) << i;
    EXPECT_EQ(cut.list[i].size, expected[i].size) << i;
  }
  EXPECT_EQ(cut.list[2].to, output + 8);
  EXPECT_EQ(cut.posts, 4);
  EXPECT_EQ(cut.sends, 3);
  EXPECT_EQ(in_pieces(whole, {}).list.size(), whole.list.size());
}

}  // namespace
}  // namespace chasqui::run
