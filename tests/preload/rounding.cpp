// SPDX-License-Identifier: MIT
// rounding [--wrong]: sums that come near zero although their operands are large, and complex ones of which a part does: two right orders of
// folding give results that differ by much of their own size and by little of their operands'; numbers and pairs with padding; operands of which
// the order decides what comes out, because they are no numbers or leave the range on the way. Or results that really differ.
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace {

/// Large, small and opposite values, dealt to the ranks in another way for each element.
template <typename T>
std::vector<T> operands(int rank, int size, int count, T large) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) {
    const int turn = (rank + i) % size;
    values.push_back(turn == 0 ? large : turn == size - 1 ? -large : T(1) / T(3 + turn + i));
  }
  return values;
}

template <typename T>
void fold_all(MPI_Datatype type, T large) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const int count : {1, 4, 12, 1200}) {
    const std::vector<T> in = operands(rank, size, count * size, large);
    std::vector<T> out(in.size()), place = in;
    const std::vector<int> counts(static_cast<std::size_t>(size), count);
    MPI_Allreduce(in.data(), out.data(), count, type, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, place.data(), count, type, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(in.data(), out.data(), count, type, MPI_SUM, size - 1, MPI_COMM_WORLD);
    MPI_Scan(in.data(), out.data(), count, type, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(in.data(), out.data(), count, type, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(in.data(), out.data(), count, type, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter(in.data(), out.data(), counts.data(), type, MPI_SUM, MPI_COMM_WORLD);
  }
}

template <typename T>
struct Pair {
  T value;
  int index;
};
void fill(long double& number, int value) { number = static_cast<long double>(value); }
template <typename T>
void fill(Pair<T>& pair, int value) {
  pair.value = static_cast<T>(value);
  pair.index = value;
}

/// Numbers and pairs whose padding differs on each rank: MPI libraries copy it or not, which is no difference.
template <typename T>
void pass_padding(MPI_Datatype type, bool pairs) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  constexpr int kCount = 20;
  const auto all = static_cast<std::size_t>(kCount * size);
  std::vector<T> in(all), out(all);
  std::memset(static_cast<void*>(in.data()), 1 + rank, all * sizeof(T));
  std::memset(static_cast<void*>(out.data()), 99, all * sizeof(T));
  for (std::size_t i = 0; i < all; ++i) fill(in[i], rank + static_cast<int>(i));
  std::vector<int> counts(static_cast<std::size_t>(size), kCount), places(counts.size());
  for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<int>(r) * kCount;
  MPI_Allgather(in.data(), kCount, type, out.data(), kCount, type, MPI_COMM_WORLD);
  MPI_Gather(in.data(), kCount, type, out.data(), kCount, type, 0, MPI_COMM_WORLD);
  MPI_Alltoall(in.data(), kCount, type, out.data(), kCount, type, MPI_COMM_WORLD);
  MPI_Allgatherv(in.data(), kCount, type, out.data(), counts.data(), places.data(), type, MPI_COMM_WORLD);
  MPI_Alltoallv(in.data(), counts.data(), places.data(), type, out.data(), counts.data(), places.data(), type,
                MPI_COMM_WORLD);
  MPI_Allreduce(in.data(), out.data(), kCount, type, pairs ? MPI_MINLOC : MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(in.data(), out.data(), kCount, type, pairs ? MPI_MAXLOC : MPI_SUM, MPI_COMM_WORLD);
}

/// Rank 0 has first, rank 1 second and so on, each element begins one later; then first again.
template <typename T>
std::vector<T> dealt(std::initializer_list<T> values, int count) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<T> mine;
  for (int i = 0; i < count; ++i) mine.push_back(values.begin()[static_cast<std::size_t>(rank + i) % values.size()]);
  return mine;
}

template <typename T>
void fold_in_any_order(MPI_Datatype type, MPI_Op op, std::initializer_list<T> values) {
  for (const int count : {1, 9, 700}) {
    const std::vector<T> in = dealt(values, count);
    std::vector<T> out(in.size()), place = in;
    MPI_Allreduce(in.data(), out.data(), count, type, op, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, place.data(), count, type, op, MPI_COMM_WORLD);
    MPI_Reduce(in.data(), out.data(), count, type, op, 1, MPI_COMM_WORLD);
    MPI_Scan(in.data(), out.data(), count, type, op, MPI_COMM_WORLD);
  }
}

template <typename T>
void leave_the_numbers(MPI_Datatype type, MPI_Datatype pair_type) {
  using Limits = std::numeric_limits<T>;
  const T none = Limits::quiet_NaN(), most = Limits::max() / 2, least = Limits::min() * 2, one = 1;
  fold_in_any_order<T>(type, MPI_MAX, {none, one, -one});
  fold_in_any_order<T>(type, MPI_MIN, {one, none, -one, 2 * one});
  fold_in_any_order<T>(type, MPI_SUM, {most, most, -most, one, most});
  fold_in_any_order<T>(type, MPI_PROD, {most, least, most, least, one});
  fold_in_any_order<T>(type, MPI_PROD, {Limits::infinity(), one, T(0)});
  fold_in_any_order<Pair<T>>(pair_type, MPI_MAXLOC, {{none, 1}, {one, 2}, {-one, 3}});
  fold_in_any_order<Pair<T>>(pair_type, MPI_MINLOC, {{T(0), 1}, {-T(0), 1}});
}

/// Never gives the same result twice.
template <typename T>
void drift(void* in, void* inout, int* count, MPI_Datatype*) {
  static float calls = 0;
  calls += 1;
  for (int i = 0; i < *count; ++i) static_cast<T*>(inout)[i] += static_cast<T*>(in)[i] + static_cast<T>(calls);
}

/// A double, an int and a complex number, each by a collective of its own.
void fold_wrongly() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op doubles, ints, complexes;
  MPI_Op_create(drift<double>, 1, &doubles);
  MPI_Op_create(drift<int>, 1, &ints);
  MPI_Op_create(drift<std::complex<double>>, 1, &complexes);
  const double one = 1;
  const int number = 1;
  const std::complex<double> point(1, 2);
  double sum = 0;
  int upto = 0;
  std::complex<double> all;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, doubles, MPI_COMM_WORLD);
  MPI_Scan(&number, &upto, 1, MPI_INT, ints, MPI_COMM_WORLD);
  MPI_Reduce(&point, &all, 1, MPI_C_DOUBLE_COMPLEX, complexes, size - 1, MPI_COMM_WORLD);
  for (MPI_Op* const op : {&doubles, &ints, &complexes}) MPI_Op_free(op);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    fold_wrongly();
    MPI_Finalize();
    return 0;
  }
  fold_all<double>(MPI_DOUBLE, 1e15);
  fold_all<float>(MPI_FLOAT, 1e6f);
  fold_all<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, {1e15, 3});
  fold_all<std::complex<double>>(MPI_DOUBLE_COMPLEX, {3, 1e15});
  fold_all<std::complex<float>>(MPI_C_FLOAT_COMPLEX, {1e6f, 3});
  fold_all<double>(MPI_DOUBLE_PRECISION, 1e15);
  pass_padding<long double>(MPI_LONG_DOUBLE, false);
  pass_padding<Pair<long double>>(MPI_LONG_DOUBLE_INT, true);
  pass_padding<Pair<double>>(MPI_DOUBLE_INT, true);
  pass_padding<Pair<short>>(MPI_SHORT_INT, true);
  leave_the_numbers<float>(MPI_FLOAT, MPI_FLOAT_INT);
  leave_the_numbers<double>(MPI_DOUBLE, MPI_DOUBLE_INT);
  fold_in_any_order<signed char>(MPI_SIGNED_CHAR, MPI_SUM, {100, 100, -100});
  fold_in_any_order<unsigned short>(MPI_UNSIGNED_SHORT, MPI_SUM, {40'000, 50'000, 7});
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  if (rank == 0) std::puts("sums near zero: done");
}
