// SPDX-License-Identifier: MIT
// Typed collectives on elements that lie apart: input and output with strides of their own, other ones on other ranks, begun or to
// their end; what lies between the elements stays.
#include <gtest/gtest.h>

#include <vector>

#include "chasqui/threads/team.hpp"

namespace chasqui::run {
namespace {

constexpr long kUntouched = -99;

/// `count` elements; negative strides begin at the end.
struct Column {
  std::vector<long> memory;
  std::int64_t count, stride;

  Column(std::int64_t n, std::int64_t apart)
      : memory(static_cast<std::size_t>(n * std::abs(apart)), kUntouched), count(n), stride(apart) {}
  long* first() { return memory.data() + (stride < 0 && count > 0 ? (count - 1) * -stride : 0); }
  Strided<long> view() { return {first(), count, stride}; }
  long& at(std::int64_t i) { return first()[i * stride]; }
  /// Everything between the elements is as it was, and element i is right(i).
  template <typename Right>
  void check(const char* what, Right&& right) {
    std::vector<long> wanted(memory.size(), kUntouched);
    for (std::int64_t i = 0; i < count; ++i) wanted[static_cast<std::size_t>(&at(i) - memory.data())] = right(i);
    if (memory != wanted) throw Error("{} of {} elements, {} apart, is wrong", what, count, stride);
  }
};

/// Calls the blocking form, or starts the other one and waits.
#define CHASQUI_BOTH(begun, name, ...) ((begun) ? comm.i##name(__VA_ARGS__).wait() : comm.name(__VA_ARGS__))

void every_collective(Comm& comm, std::int64_t n, std::int64_t in_stride, std::int64_t out_stride, bool begun) {
  const int rank = comm.rank(), size = comm.size(), root = size - 1;
  const auto given = [](int r, std::int64_t i) { return 1000L * r + i; };
  const auto sum_to = [&](int end, std::int64_t i) { return 1000L * end * (end - 1) / 2 + end * i; };
  Column in(n, in_stride);
  for (std::int64_t i = 0; i < n; ++i) in.at(i) = given(rank, i);

  Column data(n, out_stride);
  for (std::int64_t i = 0; i < n; ++i) data.at(i) = given(rank, i);
  CHASQUI_BOTH(begun, broadcast, data.view(), root);
  data.check("broadcast", [&](auto i) { return given(root, i); });

  Column all(n, out_stride);
  CHASQUI_BOTH(begun, allreduce, in.view(), all.view());
  all.check("allreduce", [&](auto i) { return sum_to(size, i); });
  CHASQUI_BOTH(begun, allreduce, in.view(), all.view(), [size](long a, long b) { return a + b + 0 * size; });
  all.check("allreduce in order", [&](auto i) { return sum_to(size, i); });

  Column one(n, out_stride);
  CHASQUI_BOTH(begun, reduce, in.view(), one.view(), root);
  one.check("reduce", [&](auto i) { return rank == root ? sum_to(size, i) : kUntouched; });
  CHASQUI_BOTH(begun, scan, in.view(), one.view());
  one.check("scan", [&](auto i) { return sum_to(rank + 1, i); });
  Column before(n, out_stride);
  CHASQUI_BOTH(begun, exclusive_scan, in.view(), before.view());
  before.check("exclusive scan", [&](auto i) { return rank == 0 ? kUntouched : sum_to(rank, i); });

  Column whole(n * size, out_stride);
  CHASQUI_BOTH(begun, allgather, in.view(), whole.view());
  const auto block = [&](auto i) { return given(static_cast<int>(i / n), i % n); };
  whole.check("allgather", block);
  Column gathered(rank == root ? n * size : 0, out_stride);
  CHASQUI_BOTH(begun, gather, in.view(), gathered.view(), root);
  gathered.check("gather", block);
  std::vector<long> packed(rank == root ? static_cast<std::size_t>(n * size)
                                        : 0);  // lies side by side, and the input does not
  CHASQUI_BOTH(begun, gather, in.view(), packed, root);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    if (packed[i] != block(static_cast<std::int64_t>(i))) throw Error("gather into a vector: {} at {}", packed[i], i);
  }
  Column part(n, in_stride);
  CHASQUI_BOTH(begun, scatter, whole.view(), part.view(), root);
  part.check("scatter", [&](auto i) { return given(rank, i); });
}

TEST(Strided, EveryCollective) {
  for (const int ranks : {1, 2, 3, 5}) {
    threads::Team(ranks).run([](Comm& comm) {
      for (const std::int64_t n : {0, 1, 7, 300, 20'000}) {
        for (const bool begun : {false, true}) {
          every_collective(comm, n, 3, 2, begun);
          every_collective(comm, n, 2, 1, begun);
          every_collective(comm, n, 1, -2, begun);
          every_collective(comm, n, 2 + comm.rank(), comm.rank() % 2 == 0 ? 1 : -1, begun);  // each rank its own
        }
      }
    });
  }
}

TEST(Strided, InPlace) {
  threads::Team(3).run([](Comm& comm) {
    Column data(50, 4);
    for (std::int64_t i = 0; i < 50; ++i) data.at(i) = comm.rank() + i;
    comm.allreduce(data.view(), data.view());
    data.check("allreduce in place", [](auto i) { return 3 + 3 * i; });
    Strided<const long> other{data.first(), 25, 8};
    std::string heard;
    try {
      comm.allreduce(other, Strided<long>{data.first(), 25, 4});
    } catch (const Error& error) {
      heard = error.what();
    }
    if (heard.find("two different strides") == std::string::npos) throw Error("heard: {}", heard);
    heard.clear();
    try {
      comm.broadcast(Strided<long>{data.first(), 25, 0});
    } catch (const Error& error) {
      heard = error.what();
    }
    if (heard.find("a stride of 0") == std::string::npos) throw Error("heard: {}", heard);
    comm.barrier();
  });
}

TEST(Strided, SingleValues) {
  static_assert(!Target<Strided<const long>> && Source<Strided<const long>> && !Value<Strided<long>>);
  threads::Team(4).run([](Comm& comm) {
    const long own = comm.rank() + 1;
    if (comm.scan(own) != own * (own + 1) / 2) throw Error("scan");
    if (comm.exclusive_scan(own) != own * (own - 1) / 2) throw Error("exclusive scan");
    if (comm.exclusive_scan(own, Maximum{}, -7) != (comm.rank() == 0 ? -7 : own - 1))
      throw Error("exclusive scan of the largest");
    if (comm.allgather(own) != std::vector<long>{1, 2, 3, 4}) throw Error("allgather");
  });
}

}  // namespace
}  // namespace chasqui::run
