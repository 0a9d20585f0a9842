// SPDX-License-Identifier: MIT
// OwnBuffers that do not count on a rank: the root's of a gather, elsewhere. Their pointers may be anything, so nothing may be
// done through them, however the data lies.
#include <gtest/gtest.h>

#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/threads/team.hpp"

namespace chasqui::run {
namespace {

void* const kNowhere = reinterpret_cast<void*>(8);  // not null, and nobody's

Layout layout_of(int way) {
  if (way == 0) return {};
  if (way == 1) return {.stride = 2 * sizeof(long)};
  return {.pack =
              [](void*, const void* from, std::size_t first, std::size_t count, void* packed) {
                for (std::size_t i = 0; i < count; ++i)
                  static_cast<long*>(packed)[i] = static_cast<const long*>(from)[2 * (first + i)];
              },
          .unpack =
              [](void*, void* to, std::size_t first, std::size_t count, const void* packed) {
                for (std::size_t i = 0; i < count; ++i)
                  static_cast<long*>(to)[2 * (first + i)] = static_cast<const long*>(packed)[i];
              }};
}

struct OwnBuffers {
  std::vector<long> in, out;
  Call call;
  std::int64_t apart;

  OwnBuffers(Comm& comm, Kind kind, std::int64_t count, int way, Sum& sum) : apart(way == 0 ? 1 : 2) {
    const bool at_root = comm.rank() == 1;
    in.resize(static_cast<std::size_t>(2 * count * comm.size()), 1);
    out.resize(in.size(), -1);
    call = {.kind = kind,
            .in = in.data(),
            .out = out.data(),
            .count = count,
            .element = sizeof(long),
            .in_layout = layout_of(way),
            .out_layout = layout_of(way),
            .op = operator_of<long>(sum, true),
            .root = 1};
    if (at_root) return;
    if (kind == Kind::scatter) call.in = kNowhere;
    else call.out = kNowhere;
  }
  void check(Comm& comm) const {
    const bool gets = comm.rank() == 1 || call.kind == Kind::scatter;
    const std::int64_t most = !gets ? 0 : call.kind == Kind::gather ? call.count * comm.size() : call.count;
    const long right = call.kind == Kind::reduce ? comm.size() : 1;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(out.size()); ++i) {
      const bool filled = i < most * apart && i % apart == 0;
      if (out[static_cast<std::size_t>(i)] != (filled ? right : -1)) {
        throw Error("{} of {}: {} at {}", to_string(call.kind), call.count, out[static_cast<std::size_t>(i)], i);
      }
    }
  }
};

TEST(Insignificant, BuffersOfTheOtherRanksAreNotTouched) {
  for (const bool board : {true, false}) {
    for (const Kind kind : {Kind::reduce, Kind::gather, Kind::scatter}) {
      for (const std::int64_t count : {1, 3, 1000, 40'000}) {
        for (const int way : {0, 1, 2}) {
          auto comms = threads::make_comms(3, nullptr, board);
          Sum sum;
          std::vector<OwnBuffers> buffers;
          std::vector<Request> requests;
          for (auto& comm : comms) buffers.emplace_back(*comm, kind, count, way, sum);
          for (std::size_t r = 0; r < 3; ++r) requests.push_back(comms[r]->start(buffers[r].call));
          for (Request& request : requests) request.wait();
          for (std::size_t r = 0; r < 3; ++r)
            ASSERT_NO_THROW(buffers[r].check(*comms[r])) << to_string(kind) << ' ' << count << ' ' << way;
        }
      }
    }
  }
}

TEST(Insignificant, TheRootsDataIsNotWrittenAndRankZeroKeepsItsOwn) {
  static int unpacked;
  auto comms = threads::make_comms(2, nullptr);
  Layout layout = layout_of(2);
  layout.unpack = [](void*, void*, std::size_t, std::size_t, const void*) { ++unpacked; };
  std::vector<long> data(20, 3);
  Sum sum;
  std::vector<Request> requests;
  unpacked = 0;
  for (auto& comm : comms)
    requests.push_back(comm->start(
        {.kind = Kind::broadcast, .out = data.data(), .count = 5, .element = sizeof(long), .out_layout = layout}));
  for (Request& request : requests) request.wait();
  EXPECT_EQ(unpacked, 1);
  requests.clear();
  unpacked = 0;
  for (auto& comm : comms) {
    requests.push_back(comm->start({.kind = Kind::scan,
                                    .in = data.data(),
                                    .out = data.data(),
                                    .count = 5,
                                    .element = sizeof(long),
                                    .in_layout = layout,
                                    .out_layout = layout,
                                    .op = operator_of<long>(sum, true),
                                    .exclusive = true}));
  }
  for (Request& request : requests) request.wait();
  EXPECT_EQ(unpacked, 1);
}

TEST(Insignificant, HalfALayoutIsRefused) {
  threads::Team(2).run([](Comm& comm) {
    for (const bool packs : {true, false}) {
      Layout layout = layout_of(2);
      if (packs) layout.unpack = nullptr;
      else layout.pack = nullptr;
      long value[2] = {};
      std::string heard;
      try {
        comm.run({.kind = Kind::broadcast, .out = value, .count = 1, .element = sizeof(long), .out_layout = layout});
      } catch (const Error& error) {
        heard = error.what();
      }
      if (heard.find("set both") == std::string::npos) throw Error("heard: {}", heard);
    }
    comm.barrier();
  });
}

}  // namespace
}  // namespace chasqui::run
