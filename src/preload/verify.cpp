// SPDX-License-Identifier: MIT
#include "preload/verify.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "chasqui/base/value_at.hpp"
#include "preload/native.hpp"

namespace chasqui::preload {
namespace {

/// Calls visit(T{}, allowed relative difference) for the C type of a floating-point or complex datatype. False: another.
template <typename Visit>
bool visit_number(MPI_Datatype type, Visit&& visit) {
  const auto is = [type](auto... list) { return ((type == list) || ...); };
  constexpr double few = 1e-4, many = 1e-10;
  if (is(MPI_FLOAT, MPI_REAL)) return visit(float{}, few), true;
  if (is(MPI_DOUBLE, MPI_DOUBLE_PRECISION)) return visit(double{}, many), true;
  if (is(MPI_LONG_DOUBLE)) return visit(static_cast<long double>(0), many), true;
  if (is(MPI_C_FLOAT_COMPLEX, MPI_COMPLEX)) return visit(std::complex<float>{}, few), true;
  if (is(MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX)) return visit(std::complex<double>{}, many), true;
  if (is(MPI_C_LONG_DOUBLE_COMPLEX)) return visit(std::complex<long double>{}, many), true;
  return false;
}

/// `sizes`: of the operands of each element, or nullptr.
template <typename T>
double worst_of(const std::byte* a, const std::byte* b, std::size_t count, double allowed, const double* sizes) {
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T x = value_at<T>(a, i), y = value_at<T>(b, i);
    if (std::memcmp(a + i * sizeof(T), b + i * sizeof(T), sizeof(T)) == 0 || x == y || (x != x && y != y)) continue;
    double scale = std::max(static_cast<double>(std::abs(x)), static_cast<double>(std::abs(y)));
    if (sizes != nullptr) scale = std::max(scale, sizes[i]);
    const double apart = static_cast<double>(std::abs(x - y)) / scale;
    if (!(apart <= allowed)) worst = std::max(worst, std::isfinite(apart) ? apart : 1.0);
  }
  return worst;
}

/// The bytes of one element that hold a value; none: all of them.
struct ValueBytes {
  std::size_t extent = 0;
  std::vector<std::pair<std::size_t, std::size_t>> parts{};  ///< where each begins and ends
};

/// Bytes that a processor may leave alone when it copies a number: the last six of x86's long double.
constexpr std::size_t kLongDouble = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);

template <typename T>
ValueBytes pair_of() {
  struct Pair {
    T value;
    int index;
  };
  const std::size_t value = std::is_same_v<T, long double> ? kLongDouble : sizeof(T);
  return {sizeof(Pair), {{0, value}, {offsetof(Pair, index), offsetof(Pair, index) + sizeof(int)}}};
}

ValueBytes value_bytes(MPI_Datatype type) {
  constexpr std::size_t size = sizeof(long double);
  if (type == MPI_LONG_DOUBLE) return {size, {{0, kLongDouble}}};
  if (type == MPI_C_LONG_DOUBLE_COMPLEX) return {2 * size, {{0, kLongDouble}, {size, size + kLongDouble}}};
  if (type == MPI_LONG_DOUBLE_INT) return pair_of<long double>();
  if (type == MPI_DOUBLE_INT) return pair_of<double>();
  if (type == MPI_LONG_INT) return pair_of<long>();
  if (type == MPI_SHORT_INT) return pair_of<short>();
  return {};
}

/// Do they differ only in bytes between values?
bool differ_in_padding(const std::byte* a, const std::byte* b, std::size_t bytes, const ValueBytes& values) {
  if (values.parts.empty()) return false;
  for (std::size_t at = 0; at < bytes; at += values.extent) {
    for (const auto& [begin, end] : values.parts) {
      const std::size_t last = std::min(at + end, bytes);
      if (at + begin < last && std::memcmp(a + at + begin, b + at + begin, last - at - begin) != 0) return false;
    }
  }
  return true;
}

}  // namespace

BufferCopy::BufferCopy(void* out, ByteRange range)
    : where_(static_cast<std::byte*>(moved(out, range.low))), range_(range) {
  bytes_.resize(static_cast<std::size_t>(range.high - range.low));
  if (!bytes_.empty()) std::memcpy(bytes_.data(), where_, bytes_.size());
}

void BufferCopy::restore() const {
  if (!bytes_.empty()) std::memcpy(where_, bytes_.data(), bytes_.size());
}

std::vector<double> operand_sizes(const CallFacts& facts, MPI_Comm comm) {
  std::vector<double> sizes;
  if (!facts.sums) return sizes;
  visit_number(facts.folds, [&]<typename T>(T, double) {
    const std::size_t count = facts.bytes / sizeof(T);
    for (std::size_t i = 0; i < count; ++i) {
      sizes.push_back(static_cast<double>(std::abs(value_at<T>(facts.in, i))));
    }
    CHASQUI_LIBRARY(Allreduce)(MPI_IN_PLACE, sizes.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm);
  });
  return sizes;
}

double difference(const BufferCopy& other, const CallFacts& facts, const std::vector<double>& sizes) {
  const auto bytes = static_cast<std::size_t>(facts.result.high - facts.result.low);
  if (bytes == 0) return 0;
  const auto* mine = static_cast<const std::byte*>(moved(facts.out, facts.result.low));
  const std::byte* theirs = other.at(facts.result.low);
  if (std::memcmp(mine, theirs, bytes) == 0 || differ_in_padding(mine, theirs, bytes, value_bytes(facts.values)))
    return 0;
  double worst = 1;
  visit_number(facts.folds, [&]<typename T>(T, double allowed) {
    worst = worst_of<T>(mine, theirs, bytes / sizeof(T), allowed, sizes.empty() ? nullptr : &sizes[facts.first]);
  });
  return worst;
}

}  // namespace chasqui::preload
