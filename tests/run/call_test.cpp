// SPDX-License-Identifier: MIT
// What a call must have on which rank, as the comment of run::Call says it; and what is refused, in which words.
#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "run/call/in_range.hpp"

namespace chasqui::run {
namespace {

constexpr Kind kKinds[] = {Kind::broadcast, Kind::scatter,   Kind::gather,         Kind::allgather, Kind::alltoall,
                           Kind::reduce,    Kind::allreduce, Kind::reduce_scatter, Kind::scan,      Kind::barrier};
constexpr int kRanks = 5, kRoot = 3;

bool reads(Kind kind, bool at_root) {  // where it is missing, what is given lies in `out`
  if (kind == Kind::scatter) return at_root;
  return (kind == Kind::gather || kind == Kind::reduce) && !at_root;
}
bool writes(Kind kind, bool at_root) {
  if (kind == Kind::scatter) return !at_root;
  if (kind == Kind::gather || kind == Kind::reduce) return at_root;
  return kind != Kind::barrier;
}
bool folds(Kind kind) { return combines(kind) && kind != Kind::barrier; }

struct Sound {
  explicit Sound(Kind kind) {
    call.kind = kind;
    call.in = &in;
    call.out = &out;
    call.count = kind == Kind::barrier ? 0 : 1;
    call.element = sizeof(long);
    call.op = operator_of<long>(sum, true);
    call.root = kRoot;
  }
  long in = 1, out = 0;
  Sum sum;
  Call call;
};

std::string refusal(const Call& call, int rank) {
  std::string why;
  try {
    validate(call, rank, kRanks);
  } catch (const Error& error) {
    why = error.what();
  }
  EXPECT_EQ(in_range(call, rank, kRanks), why.empty()) << why;
  return why;
}

TEST(Call, NeedsWhatItsKindReadsWritesAndFoldsWith) {
  for (const Kind kind : kKinds) {
    for (const int rank : {kRoot, 1}) {
      const bool at_root = has_root(kind) && rank == kRoot;
      const std::string name = fmt::format("{}: ", to_string(kind));
      EXPECT_EQ(refusal(Sound(kind).call, rank), "");
      Sound without_in(kind), without_out(kind), without_op(kind);
      without_in.call.in = nullptr;
      without_out.call.out = nullptr;
      without_op.call.op = {};
      const std::string here = fmt::format(" buffer on rank {}", rank);
      EXPECT_EQ(refusal(without_in.call, rank), reads(kind, at_root) ? name + "no input" + here : "");
      EXPECT_EQ(refusal(without_out.call, rank), writes(kind, at_root) ? name + "no output" + here : "");
      EXPECT_EQ(refusal(without_op.call, rank), folds(kind) ? name + "no operator" : "");
      for (Call* empty : {&without_in.call, &without_out.call, &without_op.call}) {
        empty->count = 0;
        EXPECT_EQ(refusal(*empty, rank), "") << name;
      }
    }
  }
}

TEST(Call, NumbersOutOfRangeAreRefused) {
  for (const Kind kind : kKinds) {
    const auto with = [kind](std::int64_t count, std::size_t element, std::int64_t root) {
      Sound sound(kind);
      sound.call.count = count;
      sound.call.element = element;
      sound.call.root = root;
      return refusal(sound.call, 1);
    };
    const std::int64_t most = (std::int64_t{1} << 46) / 8 / kRanks;
    EXPECT_EQ(with(most, 8, 0), "");
    EXPECT_NE(with(most + 1, 8, 0).find("do not fit in memory"), std::string::npos);
    EXPECT_NE(with(1, 0, 0).find("do not fit in memory"), std::string::npos);
    EXPECT_NE(with(-1, 8, 0).find("negative count -1"), std::string::npos);
    for (const std::int64_t root : {-1, kRanks}) {
      const std::string why = with(1, 8, root);
      EXPECT_EQ(why.find(fmt::format("root {} is not in 0..4", root)) != std::string::npos, has_root(kind)) << why;
    }
  }
  EXPECT_NE(refusal(Sound(Kind::sum).call, 0), "");
}

TEST(Call, IsPlainWhereItsDataCanBeUsedWhereItLies) {
  const std::int64_t counts[kRanks] = {}, first[kRanks] = {};
  for (const Kind kind : kKinds) {
    const auto plain = [kind](auto change) {
      Sound sound(kind);
      change(sound.call);
      return sound.call.plain();
    };
    EXPECT_TRUE(plain([](Call&) {}));
    EXPECT_TRUE(plain([](Call& call) { call.in_layout.stride = call.out_layout.stride = 8; }));
    EXPECT_FALSE(plain([](Call& call) { call.in_layout.stride = 16; }));
    EXPECT_FALSE(plain([](Call& call) { call.out_layout.stride = -8; }));
    EXPECT_FALSE(plain([](Call& call) { call.in_layout.pack = [](auto...) {}; }));
    EXPECT_FALSE(plain([](Call& call) { call.out_layout.unpack = [](auto...) {}; }));
    EXPECT_FALSE(plain([&](Call& call) { call.in_blocks = {counts, first}; }));
    EXPECT_FALSE(plain([&](Call& call) { call.out_blocks = {counts, first}; }));
    const bool exchanges = kind == Kind::alltoall || kind == Kind::reduce_scatter;
    EXPECT_EQ(plain([](Call& call) { call.in = call.out; }), !exchanges);
    EXPECT_EQ(plain([](Call& call) { call.in = nullptr; }), !exchanges);
  }
}

}  // namespace
}  // namespace chasqui::run
