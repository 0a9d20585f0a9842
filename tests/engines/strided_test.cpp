// SPDX-License-Identifier: MIT
// Typed collectives on elements that lie apart: input and output with strides of their own, other ones on other ranks, begun or to
// their end; what lies between the elements stays.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
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
    std::string heard;
    try {
      comm.broadcast(Strided<long>{data.first(), 25, 0});
    } catch (const Error& error) {
      heard = error.what();
    }
    if (heard.find("a stride of 0") == std::string::npos) throw Error("heard: {}", heard);
    comm.barrier();
  });
}

/// Input and output begin at the same element and lie apart differently: all is read before anything is written.
struct TwoColumns {
  std::vector<long> memory, before;
  std::int64_t middle;

  TwoColumns(int rank, std::int64_t elements, std::int64_t widest) : middle(elements * widest) {
    for (std::int64_t i = 0; i <= 2 * middle; ++i) memory.push_back(1'000'000L * rank + i);
    before = memory;
  }
  long* first() { return memory.data() + middle; }
  void check(const char* what, std::int64_t count, std::int64_t stride,
             const std::function<long(std::int64_t)>& right) {
    for (std::int64_t i = 0; i < count; ++i) before[static_cast<std::size_t>(middle + i * stride)] = right(i);
    if (memory != before) throw Error("{} of {} elements in place, {} apart, is wrong", what, count, stride);
  }
};

void every_collective_in_place(Comm& comm, std::int64_t n, std::int64_t in_stride, std::int64_t out_stride,
                               bool begun) {
  const int rank = comm.rank(), size = comm.size(), root = size - 1;
  const std::int64_t widest = std::max(std::abs(in_stride), std::abs(out_stride));
  const auto middle = n * size * widest;
  const auto given = [&](int r, std::int64_t i) { return 1'000'000L * r + middle + i * in_stride; };
  const auto sum_to = [&](int end, std::int64_t i) { return 1'000'000L * end * (end - 1) / 2 + end * given(0, i); };
  const auto block = [&](auto i) { return given(static_cast<int>(i / n), i % n); };
  const auto all = n * size;
  const auto data = [&] { return TwoColumns(rank, all, widest); };
  const auto in = [&](TwoColumns& d, std::int64_t count) { return Strided<const long>{d.first(), count, in_stride}; };
  const auto out = [&](TwoColumns& d, std::int64_t count) { return Strided<long>{d.first(), count, out_stride}; };

  auto a = data();
  CHASQUI_BOTH(begun, allreduce, in(a, n), out(a, n));
  a.check("allreduce", n, out_stride, [&](auto i) { return sum_to(size, i); });
  auto b = data();
  CHASQUI_BOTH(begun, reduce, in(b, n), out(b, n), root);
  b.check("reduce", rank == root ? n : 0, out_stride, [&](auto i) { return sum_to(size, i); });
  auto c = data();
  CHASQUI_BOTH(begun, scan, in(c, n), out(c, n));
  c.check("scan", n, out_stride, [&](auto i) { return sum_to(rank + 1, i); });
  auto d = data();
  CHASQUI_BOTH(begun, exclusive_scan, in(d, n), out(d, n));
  d.check("exclusive scan", rank == 0 ? 0 : n, out_stride, [&](auto i) { return sum_to(rank, i); });
  auto e = data();
  CHASQUI_BOTH(begun, allgather, in(e, n), out(e, all));
  e.check("allgather", all, out_stride, block);
  auto f = data();
  CHASQUI_BOTH(begun, gather, in(f, n), out(f, all), root);
  f.check("gather", rank == root ? all : 0, out_stride, block);
  auto g = data();
  CHASQUI_BOTH(begun, scatter, in(g, all), out(g, n), root);
  g.check("scatter", n, out_stride, [&](auto i) { return given(root, n * rank + i); });
}

TEST(Strided, InPlaceWithTwoStrides) {
  for (const int ranks : {1, 2, 3}) {
    threads::Team(ranks).run([](Comm& comm) {
      for (const std::int64_t n : {0, 1, 7, 300, 9'000}) {
        for (const bool begun : {false, true}) {
          every_collective_in_place(comm, n, 3, 2, begun);
          every_collective_in_place(comm, n, 1, 2, begun);
          every_collective_in_place(comm, n, 2, 1, begun);
          every_collective_in_place(comm, n, -1, 1, begun);
          every_collective_in_place(comm, n, 2, -2, begun);
        }
      }
    });
  }
}

/// In place by a missing buffer, with gaps: what this rank gives stands where its own block comes to lie.
TEST(Strided, InPlaceWithoutTheOtherBuffer) {
  threads::Team(3).run([](Comm& comm) {
    const int root = 1;
    for (const std::int64_t n : {1, 7, 9'000}) {
      const Layout apart{.stride = 2 * sizeof(long)};
      for (const Kind kind : {Kind::gather, Kind::allgather}) {
        const bool gets = kind == Kind::allgather || comm.rank() == root;
        Column all(n * 3, 2), own(n, 3);
        for (std::int64_t i = 0; i < n; ++i) all.at(n * comm.rank() + i) = own.at(i) = 100 * comm.rank() + i;
        comm.run({.kind = kind,
                  .in = gets ? nullptr : own.first(),
                  .out = gets ? all.first() : nullptr,
                  .count = n,
                  .element = sizeof(long),
                  .in_layout = {.stride = 3 * sizeof(long)},  // not looked at where `in` is missing
                  .out_layout = apart,
                  .root = root});
        if (gets) all.check("gather in place", [&](auto i) { return 100 * (i / n) + i % n; });
      }
      Column all(n * 3, 2), part(n, 3);
      for (std::int64_t i = 0; i < n * 3; ++i) all.at(i) = i;
      comm.run({.kind = Kind::scatter,
                .in = comm.rank() == root ? all.first() : nullptr,
                .out = comm.rank() == root ? nullptr : part.first(),
                .count = n,
                .element = sizeof(long),
                .in_layout = apart,
                .out_layout = {.stride = 3 * sizeof(long)},
                .root = root});
      if (comm.rank() != root) part.check("scatter in place", [&](auto i) { return n * comm.rank() + i; });
      else all.check("scatter in place", [](auto i) { return i; });
    }
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
