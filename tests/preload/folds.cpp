// SPDX-License-Identifier: MIT
// Reductions: predefined and user operations, non-commutative ones, in place, no data, every predefined kind of type.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "check.hpp"

namespace conformance {
namespace {

constexpr std::uint64_t kPrime = 65521;

/// x -> a x + b modulo a prime, in one number: composition is associative and does not commute.
std::uint64_t affine(std::uint64_t a, std::uint64_t b) { return a << 32 | b; }
std::uint64_t compose(std::uint64_t f, std::uint64_t g) {  // first f, then g
  const std::uint64_t a = f >> 32, b = f & 0xffffffff, c = g >> 32, d = g & 0xffffffff;
  return affine(a * c % kPrime, (c * b + d) % kPrime);
}
void compose_all(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    auto& out = static_cast<std::uint64_t*>(inout)[i];
    out = compose(static_cast<std::uint64_t*>(in)[i], out);
  }
}
std::uint64_t function_of(int rank, int i) {
  return affine(static_cast<std::uint64_t>(rank + 2 + i % 17), static_cast<std::uint64_t>(rank * 31 + i));
}

/// The same on pairs of longs described by a derived type.
void compose_pairs(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    const auto* f = static_cast<std::uint64_t*>(in) + 2 * i;
    auto* g = static_cast<std::uint64_t*>(inout) + 2 * i;
    const std::uint64_t both = compose(affine(f[0], f[1]), affine(g[0], g[1]));
    g[0] = both >> 32;
    g[1] = both & 0xffffffff;
  }
}

template <typename T, typename Value, typename Op>
void all_folds(MPI_Comm comm, MPI_Datatype type, MPI_Op op, Value of, Op combine, bool long_ones) {
  const Place me(comm);
  for (const int count : {0, 1, 5, 14, 33, 2000, 40000}) {
    if (count > 2000 && !long_ones) continue;
    std::vector<T> mine(index(count)), all(index(count)), before(index(count)), upto(index(count)), out(index(count));
    for (int i = 0; i < count; ++i) {
      mine[index(i)] = all[index(i)] = of(0, i);
      upto[index(i)] = all[index(i)];
      for (int r = 1; r < me.size; ++r) {
        if (r == me.rank) before[index(i)] = all[index(i)];
        all[index(i)] = combine(all[index(i)], of(r, i));
        if (r == me.rank) upto[index(i)] = all[index(i)];
      }
      mine[index(i)] = of(me.rank, i);
    }
    part = "allreduce";
    equal("code", MPI_Allreduce(mine.data(), out.data(), count, type, op, comm), MPI_SUCCESS);
    equal("result", out, all);
    out = mine;
    MPI_Allreduce(MPI_IN_PLACE, out.data(), count, type, op, comm);
    equal("in place", out, all);
    part = "reduce";
    for (int root = 0; root<me.size; root += count> 100 ? 3 : 1) {
      out.assign(out.size(), T{});
      MPI_Reduce(mine.data(), me.rank == root ? out.data() : nullptr, count, type, op, root, comm);
      if (me.rank == root) equal("result", out, all);
#ifdef MPICH  // 4.0.2 itself crashes in long reductions in place
      if (count > 100) continue;
#endif
      out = mine;
      MPI_Reduce(me.rank == root ? MPI_IN_PLACE : mine.data(), me.rank == root ? out.data() : nullptr, count, type, op,
                 root, comm);
      if (me.rank == root) equal("in place", out, all);
    }
    part = "scan";
    MPI_Scan(mine.data(), out.data(), count, type, op, comm);
    equal("result", out, upto);
    out = mine;
    MPI_Scan(MPI_IN_PLACE, out.data(), count, type, op, comm);
    equal("in place", out, upto);
    part = "exscan";
#ifdef MPICH  // which refuses a missing buffer on rank 0, where it is not significant
    MPI_Exscan(mine.data(), out.data(), count, type, op, comm);
#else
    MPI_Exscan(mine.data(), me.rank == 0 ? nullptr : out.data(), count, type, op, comm);
#endif
    if (me.rank > 0) equal("result", out, before);
    out = mine;
    MPI_Exscan(MPI_IN_PLACE, out.data(), count, type, op, comm);
    equal("in place", out, me.rank > 0 ? before : mine);
  }
}

template <typename T, typename Value, typename Op>
void scattered_folds(MPI_Comm comm, MPI_Datatype type, MPI_Op op, Value of, Op combine) {
  part = "reduce_scatter";
  const Place me(comm);
  for (const int count : {0, 1, 6, 700, 9000}) {
    std::vector<int> counts(index(me.size));
    int total = 0, first = 0;
    for (int r = 0; r < me.size; ++r) {
      if (r == me.rank) first = total;
      total += counts[index(r)] = r % 2 == 1 ? 0 : count + r;
    }
    const auto whole = [&](int i) {
      T value = of(0, i);
      for (int r = 1; r < me.size; ++r) value = combine(value, of(r, i));
      return value;
    };
    std::vector<T> mine(index(std::max(total, count * me.size)));
    for (int i = 0; i < static_cast<int>(mine.size()); ++i) mine[index(i)] = of(me.rank, i);
    const int own = counts[index(me.rank)];
    std::vector<T> out(index(own)), expected(index(own));
    for (int i = 0; i < own; ++i) expected[index(i)] = whole(first + i);
    MPI_Reduce_scatter(mine.data(), own == 0 ? nullptr : out.data(), counts.data(), type, op, comm);
    equal("result", out, expected);
    std::vector<T> inplace = mine;
    MPI_Reduce_scatter(MPI_IN_PLACE, inplace.data(), counts.data(), type, op, comm);
    equal("in place", std::vector<T>(inplace.begin(), inplace.begin() + own), expected);
    std::vector<T> block(index(count)), block_expected(index(count));
    for (int i = 0; i < count; ++i) block_expected[index(i)] = whole(me.rank * count + i);
    for (int time = 0; time < 2; ++time) {  // the second one is like the one before
      block.assign(block.size(), T{});
      MPI_Reduce_scatter_block(mine.data(), block.data(), count, type, op, comm);
      equal("block", block, block_expected);
    }
    inplace = mine;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, inplace.data(), count, type, op, comm);
    equal("block in place", std::vector<T>(inplace.begin(), inplace.begin() + count), block_expected);
  }
}

template <typename T>
void sums(MPI_Comm comm, MPI_Datatype type) {
  const Place me(comm);
  std::vector<T> in(9), out(9), expected(9);
  for (int i = 0; i < 9; ++i) {
    in[index(i)] = static_cast<T>(me.rank % 3 + i);
    int sum = 0;
    for (int r = 0; r < me.size; ++r) sum += r % 3 + i;
    expected[index(i)] = static_cast<T>(sum);
  }
  part = "predefined types";
  MPI_Allreduce(in.data(), out.data(), 9, type, MPI_SUM, comm);
  equal("sum", out, expected);
}

/// Programs sum up hashes, and expect what the range cuts off (found by UndefinedBehaviorSanitizer under HPCC).
template <typename T>
void wraps(MPI_Comm comm, MPI_Datatype type) {
  const Place me(comm);
  const std::vector<T> in(40, static_cast<T>(std::numeric_limits<T>::max() - 4));
  std::vector<T> out(in.size());
  std::make_unsigned_t<T> sum = 0, product = 1;
  for (int r = 0; r < me.size; ++r)
    sum += static_cast<std::make_unsigned_t<T>>(in[0]), product *= static_cast<std::make_unsigned_t<T>>(in[0]);
  part = "integers wrap";
  for (const int count : {1, 40}) {
    MPI_Allreduce(in.data(), out.data(), count, type, MPI_SUM, comm);
    equal("sum", static_cast<long long>(out[index(count - 1)]), static_cast<long long>(static_cast<T>(sum)));
    MPI_Allreduce(in.data(), out.data(), count, type, MPI_PROD, comm);
    equal("product", static_cast<long long>(out[index(count - 1)]), static_cast<long long>(static_cast<T>(product)));
  }
}

template <typename T>
void complexes(MPI_Comm comm, MPI_Datatype type) {
  part = "complex";
  const Place me(comm);
  const T mine[] = {static_cast<T>(me.rank), 1, 0, static_cast<T>(2)};
  T out[4] = {};
  MPI_Allreduce(mine, out, 2, type, MPI_SUM, comm);
  equal("real", static_cast<long long>(out[0]), me.size * (me.size - 1) / 2);
  equal("imaginary", static_cast<long long>(out[1] + out[3]), 3 * me.size);
  enter(out, sizeof out);
}

void logicals(MPI_Comm comm) {
  part = "logical and bits";
  const Place me(comm);
  const bool odd[] = {me.rank % 2 == 1, true, false};
  bool out[3] = {};
  MPI_Allreduce(odd, out, 3, MPI_C_BOOL, MPI_LOR, comm);
  equal("or", out[0] * 4 + out[1] * 2 + out[2], me.size > 1 ? 6 : 2);
  MPI_Allreduce(odd, out, 3, MPI_C_BOOL, MPI_LXOR, comm);
  equal("xor", out[0], me.size / 2 % 2);
  const unsigned char bits[] = {static_cast<unsigned char>(1 << me.rank % 8), 0xf0};
  unsigned char all[2] = {};
  MPI_Allreduce(bits, all, 2, MPI_BYTE, MPI_BOR, comm);
  equal("bytes", all[0], me.size >= 8 ? 255 : (1 << me.size) - 1);
  MPI_Allreduce(bits, all, 2, MPI_BYTE, MPI_BXOR, comm);
  equal("bytes", all[1], me.size % 2 == 1 ? 0xf0 : 0);
}

void places(MPI_Comm comm) {
  part = "maxloc";
  const Place me(comm);
  struct Two {
    int value, where;
  } pair{(me.rank * 5 + 2) % me.size, me.rank}, best{};
  MPI_Allreduce(&pair, &best, 1, MPI_2INT, MPI_MAXLOC, comm);
  int value = -1, where = -1;
  for (int r = 0; r < me.size; ++r) {
    if ((r * 5 + 2) % me.size > value) value = (r * 5 + 2) % me.size, where = r;
  }
  equal("value", best.value, value);
  equal("place", best.where, where);
  struct Long {
    long value;
    int where;
  } far{10L - me.rank, me.rank}, nearest{};
  MPI_Allreduce(&far, &nearest, 1, MPI_LONG_INT, MPI_MAXLOC, comm);
  equal("with a gap", nearest.where, 0);
  struct Short {
    short value;
    int where;
  } small{static_cast<short>(me.rank), me.rank}, smallest{};
  MPI_Allreduce(&small, &smallest, 1, MPI_SHORT_INT, MPI_MINLOC, comm);
  equal("with a gap inside", smallest.where, 0);
  struct Gap {
    double value;
    int where;
  } mine{1.0 * value - me.rank, me.rank}, least{};
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  equal("with a gap", least.where, me.size - 1);
  int truth = me.rank == me.size - 1 ? 0 : 1, all = -1, some = -1;
  MPI_Allreduce(&truth, &all, 1, MPI_INT, MPI_LAND, comm);
  MPI_Allreduce(&truth, &some, 1, MPI_INT, MPI_BOR, comm);
  equal("land", all, 0);
  equal("bor", some, me.size > 1 ? 1 : 0);
}

}  // namespace

void folds(MPI_Comm comm) {
  const auto number = [](int rank, int i) { return rank * 3 + i % 101 + 1; };
  const auto plus = [](auto a, auto b) { return a + b; };
  const auto larger = [](int a, int b) { return a < b ? b : a; };
  all_folds<int>(comm, MPI_INT, MPI_SUM, number, plus, true);
  all_folds<int>(comm, MPI_INT, MPI_MAX, number, larger, false);
  all_folds<double>(
      comm, MPI_DOUBLE, MPI_SUM, [&](int r, int i) { return number(r, i) * 0.25; }, plus, true);
  scattered_folds<int>(comm, MPI_INT, MPI_SUM, number, plus);
  MPI_Op composition, pairs;
  MPI_Op_create(compose_all, 0, &composition);
  MPI_Op_create(compose_pairs, 0, &pairs);
  all_folds<std::uint64_t>(comm, MPI_UINT64_T, composition, function_of, compose, true);
  scattered_folds<std::uint64_t>(comm, MPI_UINT64_T, composition, function_of, compose);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_UINT64_T, &two);
  MPI_Type_commit(&two);
  const Place me(comm);
  std::vector<std::uint64_t> in(20), out(20), expected(20);
  for (int i = 0; i < 10; ++i) {
    std::uint64_t f = function_of(0, i);
    for (int r = 1; r < me.size; ++r) f = compose(f, function_of(r, i));
    expected[index(2 * i)] = f >> 32;
    expected[index(2 * i + 1)] = f & 0xffffffff;
    in[index(2 * i)] = function_of(me.rank, i) >> 32;
    in[index(2 * i + 1)] = function_of(me.rank, i) & 0xffffffff;
  }
  MPI_Allreduce(in.data(), out.data(), 10, two, pairs, comm);
  part = "derived type, user operation";
  equal("result", out, expected);
  MPI_Type_free(&two);
  MPI_Op_free(&composition);
  MPI_Op_free(&pairs);
  sums<short>(comm, MPI_SHORT);
  sums<unsigned>(comm, MPI_UNSIGNED);
  sums<long>(comm, MPI_LONG);
  sums<unsigned long>(comm, MPI_UNSIGNED_LONG);
  sums<long long>(comm, MPI_LONG_LONG);
  sums<signed char>(comm, MPI_SIGNED_CHAR);
  sums<unsigned char>(comm, MPI_UNSIGNED_CHAR);
  sums<std::int8_t>(comm, MPI_INT8_T);
  sums<std::int16_t>(comm, MPI_INT16_T);
  sums<std::int32_t>(comm, MPI_INT32_T);
  sums<std::int64_t>(comm, MPI_INT64_T);
  sums<float>(comm, MPI_FLOAT);
  sums<double>(comm, MPI_DOUBLE);
  sums<long double>(comm, MPI_LONG_DOUBLE);
  sums<std::uint8_t>(comm, MPI_UINT8_T);
  sums<std::uint16_t>(comm, MPI_UINT16_T);
  sums<std::uint32_t>(comm, MPI_UINT32_T);
  sums<std::uint64_t>(comm, MPI_UINT64_T);
  sums<unsigned short>(comm, MPI_UNSIGNED_SHORT);
  sums<unsigned long long>(comm, MPI_UNSIGNED_LONG_LONG);
  sums<MPI_Aint>(comm, MPI_AINT);
  sums<MPI_Offset>(comm, MPI_OFFSET);
  sums<MPI_Count>(comm, MPI_COUNT);
  sums<int>(comm, MPI_INTEGER);
  sums<float>(comm, MPI_REAL);
  sums<double>(comm, MPI_DOUBLE_PRECISION);
  wraps<int>(comm, MPI_INT);
  wraps<long>(comm, MPI_LONG);
  complexes<float>(comm, MPI_C_FLOAT_COMPLEX);
  complexes<double>(comm, MPI_C_DOUBLE_COMPLEX);
  complexes<double>(comm, MPI_DOUBLE_COMPLEX);
  logicals(comm);
  places(comm);
}

}  // namespace conformance
