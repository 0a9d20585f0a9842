// SPDX-License-Identifier: MIT
// The typed face: which calls compile, what they mean, and how long their operators live.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/run/sum.hpp"
#include "chasqui/threads/team.hpp"

namespace chasqui::run {
namespace {

template <typename T>
concept Broadcasts = requires(Comm& comm, T& value) {
  comm.broadcast(value);
};
template <typename In, typename Out>
concept StartsAllreduce = requires(Comm& comm, In&& in, Out&& out) {
  comm.iallreduce(std::forward<In>(in), std::forward<Out>(out));
};

TEST(Typed, AViewIsNotAValueAndAPointerIsNone) {
  static_assert(Broadcasts<int> && Broadcasts<std::vector<int>> && Broadcasts<std::array<int, 3>> &&
                Broadcasts<std::span<int>>);
  static_assert(!Broadcasts<int*> && !Broadcasts<std::string_view> && !Broadcasts<std::span<const int>> &&
                !Broadcasts<std::vector<std::vector<int>>>);
  static_assert(!Value<std::span<int, 4>> && !Value<char*> && Value<std::array<int, 4>>);
  threads::Team(2).run([](Comm& comm) {
    std::array<int, 4> mine{comm.rank(), comm.rank(), comm.rank(), comm.rank()};
    std::span<int, 4> fixed(mine);
    comm.broadcast(fixed, 1);
    if (fixed.data() != mine.data() || mine[3] != 1) throw Error("the span was broadcast, not what it shows");
  });
}

TEST(Typed, WhatAStartedCollectiveUsesMustLast) {
  static_assert(StartsAllreduce<std::vector<int>&, std::vector<int>&> &&
                StartsAllreduce<std::span<int>, std::span<int>>);
  static_assert(!StartsAllreduce<std::vector<int>, std::vector<int>&> &&
                !StartsAllreduce<std::vector<int>&, std::vector<int>>);
}

TEST(Typed, RangesOfAnyKind) {
  threads::Team(3).run([](Comm& comm) {
    const std::vector<long> in{comm.rank() + 1L, 10};
    std::vector<long> out(2), all(6);
    std::array<long, 2> part{};
    comm.allreduce(in, out);
    if (out != std::vector<long>{6, 30}) throw Error("allreduce of vectors");
    comm.allreduce(out, out, std::plus<>());
    if (out != std::vector<long>{18, 90}) throw Error("in place");
    comm.allgather(in, all);
    if (all != std::vector<long>{1, 10, 2, 10, 3, 10}) throw Error("allgather of vectors");
    comm.scatter(all, part, 2);
    if (part != std::array<long, 2>{comm.rank() + 1L, 10}) throw Error("scatter into an array");
    long both[2] = {};
    comm.scan(part, both);
    if (both[1] != 10 * (comm.rank() + 1)) throw Error("scan into a plain array");
  });
}

long modular(long a, long b) { return (a + b) % 7; }

TEST(Typed, BlocksForEveryRank) {
  threads::Team(3).run([](run::Comm& comm) {
    const long me = comm.rank();
    const std::vector<long> in = {10 * me, 10 * me + 1, 10 * me + 2};
    std::vector<long> out(3);
    comm.alltoall(in, out);
    if (out != std::vector<long>{me, 10 + me, 20 + me}) throw Error("alltoall");
    std::vector<long> place = in;
    comm.alltoall(place, place);
    if (place != out) throw Error("alltoall in place");
    long one = -1;
    comm.reduce_scatter(in, std::span<long>(&one, 1));
    if (one != 30 + 3 * me) throw Error("reduce_scatter");
    place = in;
    comm.reduce_scatter(place, place, run::Maximum{});
    if (place[0] != 20 + me) throw Error("reduce_scatter in place");
    out.assign(3, -1);
    comm.ialltoall(std::span<const long>(in), std::span<long>(out)).wait();
    if (out[2] != 20 + me) throw Error("ialltoall");
    comm.ireduce_scatter(std::span<const long>(in), std::span<long>(&one, 1), run::Minimum{}).wait();
    if (one != me) throw Error("ireduce_scatter");
  });
}

/// Rank p has q elements for rank q, all of them p.
TEST(Typed, BlocksOfDifferentLengths) {
  threads::Team(3).run([](run::Comm& comm) {
    const long me = comm.rank();
    const std::vector<long> in(3, me);
    const std::vector<std::int64_t> in_counts = {0, 1, 2}, out_counts(3, me);
    std::vector<long> out(static_cast<std::size_t>(3 * me)), expected;
    for (long p = 0; p < 3; ++p) expected.insert(expected.end(), static_cast<std::size_t>(me), p);
    comm.alltoallv(in, in_counts, out, out_counts);
    if (out != expected) throw Error("alltoallv");
    out.assign(out.size(), -1);
    comm.ialltoallv(std::span<const long>(in), in_counts, std::span<long>(out), out_counts).wait();
    if (out != expected) throw Error("ialltoallv");
    const std::vector<long> numbers = {1, 20 + me, 300 + me};
    std::vector<long> sums(static_cast<std::size_t>(me), -1);
    comm.reduce_scatterv(numbers, in_counts, sums);
    if (sums != (me == 0 ? std::vector<long>{} : me == 1 ? std::vector<long>{3 * 1} : std::vector<long>{63, 903}))
      throw Error("reduce_scatterv");
  });
  // A rank that gives nothing may have no input, or call its output that: it is not in place.
  threads::Team(3).run([](run::Comm& comm) {
    const std::vector<std::int64_t> two(3, 2), none(3, 0), from_root = {2, 0, 0};
    std::vector<long> out(2);
    const std::vector<long> in = comm.rank() == 0 ? std::vector<long>{0, 1, 10, 11, 20, 21} : std::vector<long>{};
    const std::vector<long> expected = {10L * comm.rank(), 10L * comm.rank() + 1};
    comm.alltoallv(in, comm.rank() == 0 ? two : none, out, from_root);
    if (out != expected) throw Error("alltoallv without an input");
    out.assign(2, -1);
    const std::span<const long> given = comm.rank() == 0 ? std::span<const long>(in) : std::span<const long>(out);
    comm.ialltoallv(given, comm.rank() == 0 ? two : none, std::span(out), from_root).wait();
    if (out != expected) throw Error("alltoallv of nothing from where the output is");
  });
  // Counts that do not fit are everybody's error, and the communicator goes on.
  threads::Team(2).run([](run::Comm& comm) {
    std::vector<long> in(4), out(4);
    const std::vector<std::int64_t> good = {1, 1}, few = {1}, long_ones = {3, 3}, negative = {1, -1};
    const auto refused = [&](const auto& in_counts, const auto& out_counts, const char* word) {
      try {
        comm.alltoallv(in, in_counts, out, out_counts);
      } catch (const Error& error) {
        return std::string(error.what()).find(word) != std::string::npos;
      }
      return false;
    };
    if (!refused(few, good, "1 input counts for 2 ranks")) throw Error("few counts");
    if (!refused(good, long_ones, "output blocks of 6 elements together in a buffer of 4")) throw Error("long blocks");
    if (!refused(negative, good, "negative count -1")) throw Error("negative counts");
    const std::vector<std::int64_t> huge(2, std::numeric_limits<std::int64_t>::max());
    if (!refused(huge, good, "elements together in a buffer of 4")) throw Error("counts whose sum fits no integer");
    std::vector<long> odd(3);
    try {
      comm.alltoall(odd, odd);
      throw std::runtime_error("an odd number of elements for two ranks");
    } catch (const Error& error) {
      if (std::string(error.what()).find("3 elements in") == std::string::npos) throw;
    }
    comm.alltoallv(in, good, out, good);
  });
}

TEST(Typed, AFunctionIsAnOperator) {
  threads::Team(4).run([](Comm& comm) {
    if (comm.allreduce(long{5}, modular) != 20 % 7) throw Error("allreduce with a function");
    std::vector<long> data{5};
    comm.iallreduce(data, data, modular).wait();
    if (data[0] != 20 % 7) throw Error("iallreduce with a function");
  });
}

/// A temporary operator with state is gone before the collective is complete; AddressSanitizer sees it if no copy is kept.
TEST(Typed, StartedCollectivesKeepTheirOperator) {
  threads::Team(3).run([](Comm& comm) {
    std::vector<long> in(1000, comm.rank() + 4L), out(1000);
    auto request = [&] {
      const std::vector<long> modulus{7};
      return comm.iallreduce(in, out, [modulus](long a, long b) { return (a + b) % modulus[0]; });
    }();
    request.wait();
    if (out != std::vector<long>(1000, (4 + 5 + 6) % 7)) throw Error("the operator was gone");
    const auto plan = plan::sum_operands(LogP{3, Time{3}, Time{1}, Time{2}}, 30);
    const std::vector<long> operands(static_cast<std::size_t>(plan->local({comm.rank()}).operands), 1);
    long total = 0;
    auto summing = [&] {
      const std::vector<long> modulus{7};
      return isum(comm, *plan, std::span<const long>(operands), total,
                  [modulus](long a, long b) { return (a + b) % modulus[0]; });
    }();
    summing.wait();
    if (comm.rank() == 0 && total != 30 % 7) throw Error("the sum's operator was gone");
  });
}

/// Overflow is undefined for signed integers, and a part of a sum may leave the range that the whole does not.
TEST(Typed, IntegersWrap) {
  constexpr int kMost = std::numeric_limits<int>::max();
  static_assert(Sum{}(kMost, 1) == std::numeric_limits<int>::min());  // not a constant where it is undefined
  static_assert(Product{}(kMost, 2) == -2);
  static_assert(Product{}(std::uint16_t{65535}, std::uint16_t{65535}) == 1);  // short ones are multiplied as int
  threads::Team(4).run([](Comm& comm) {
    const int mine = comm.rank() < 2 ? kMost : -kMost;
    std::vector<int> in(100, mine), out(100);
    comm.allreduce(in, out);
    if (out != std::vector<int>(100, 0)) throw Error("a part of the sum was lost");
  });
}

struct Matrix {
  int a, b, c, d;
  friend Matrix operator*(const Matrix& x, const Matrix& y) {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

TEST(Typed, OnlyNumbersAreKnownToCommute) {
  static_assert(commutes<Product, double> && commutes<std::plus<>, int> && commutes<std::plus<int>, int> &&
                commutes<Sum, std::complex<float>>);
  static_assert(!commutes<Product, Matrix> && !commutes<std::multiplies<>, Matrix> &&
                !commutes<decltype(modular)*, long>);
  static_assert(commutes<decltype(commuting(&modular)), long>);
  threads::Team(5).run([](Comm& comm) {
    const auto of = [](int rank) { return Matrix{1, rank, rank % 2, 1}; };
    Matrix expected = of(0);
    for (int r = 1; r < comm.size(); ++r) expected = expected * of(r);
    if (comm.allreduce(of(comm.rank()), Product{}) != expected) throw Error("matrices were multiplied out of order");
    if (comm.allreduce(long{5}, commuting(modular)) != 25 % 7) throw Error("a promise changed the result");
  });
}

}  // namespace
}  // namespace chasqui::run
