// SPDX-License-Identifier: MIT
#include "preload/verify.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "chasqui/base/value_at.hpp"
#include "preload/native.hpp"

namespace chasqui::preload {
namespace {

constexpr double kExact = 0, kFew = 1e-4, kMany = 1e-10;  ///< relative differences that are rounding

/// Calls visit(T{}, allowed relative difference) for the C type of a datatype whose folds may depend on the order: of a pair, its value's.
template <typename Visit>
void visit_number(MPI_Datatype type, Visit&& visit) {
  if (type == MPI_DATATYPE_NULL) return;  // as is Fortran's, in a library without
  const auto is = [type](auto... list) { return ((type == list) || ...); };
  const TypeFacts facts = facts_of(type);
  if (facts.number == Number::real4) return visit(float{}, kFew);
  if (facts.number == Number::real8) return visit(double{}, kMany);
  if (is(MPI_LONG_DOUBLE)) return visit(static_cast<long double>(0), kMany);
  if (is(MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX)) return visit(std::complex<long double>{}, kMany);
  if (is_complex(facts) && facts.size == sizeof(std::complex<float>)) return visit(std::complex<float>{}, kFew);
  if (is_complex(facts)) return visit(std::complex<double>{}, kMany);
  if (is(MPI_FLOAT_INT, MPI_2REAL)) return visit(float{}, kExact);
  if (is(MPI_DOUBLE_INT, MPI_2DOUBLE_PRECISION)) return visit(double{}, kExact);
  if (is(MPI_LONG_DOUBLE_INT)) return visit(static_cast<long double>(0), kExact);
  // Open MPI 4.1 adds these with saturation where it can do many at a time, and without at the end of a vector.
  if (facts.number == Number::int1) return visit(std::int8_t{}, kExact);
  if (is(MPI_UNSIGNED_CHAR, MPI_UINT8_T)) return visit(std::uint8_t{}, kExact);
  if (facts.number == Number::int2) return visit(std::int16_t{}, kExact);
  if (is(MPI_UNSIGNED_SHORT, MPI_UINT16_T)) return visit(std::uint16_t{}, kExact);
}

template <typename T>
struct RealPart {
  using Type = T;
};
template <typename T>
struct RealPart<std::complex<T>> {
  using Type = T;
};

template <typename T>
double magnitude(T x) {
  if constexpr (std::is_integral_v<T>) return std::abs(static_cast<double>(x));
  else return static_cast<double>(std::abs(x));
}

template <typename T>
double weight_of(T x, MPI_Op op) {
  if (x != x) return std::numeric_limits<double>::quiet_NaN();
  if (op == MPI_SUM) return magnitude(x);
  if (op != MPI_PROD || std::is_integral_v<T> || x == T{}) return 0;
  return std::abs(std::log2(magnitude(x)));
}

/// Of elements that weigh more nothing is said: they may leave the range of T in one order and not in another.
template <typename T>
double most_weight(MPI_Op op) {
  using Real = typename RealPart<T>::Type;
  if (op == MPI_PROD)
    return std::min(std::numeric_limits<Real>::max_exponent, std::numeric_limits<double>::max_exponent) / 2.0;
  return static_cast<double>(
      std::min<long double>(std::numeric_limits<Real>::max(), std::numeric_limits<double>::max()));
}

/// Of two elements of `size` bytes: what stands behind a number is compared byte by byte.
template <typename T>
double apart(const std::byte* a, const std::byte* b, std::size_t size, double allowed, double weight, MPI_Op op) {
  if (std::memcmp(a, b, size) == 0 || !(weight <= most_weight<T>(op))) return 0;
  if (size > sizeof(T) && std::memcmp(a + sizeof(T), b + sizeof(T), size - sizeof(T)) != 0) return 1;
  const T x = value_at<T>(a, 0), y = value_at<T>(b, 0);
  if (x == y || (x != x && y != y)) return 0;
  if constexpr (std::is_integral_v<T>) {
    return 1;
  } else {
    const double scale = std::max({magnitude(x), magnitude(y), op == MPI_SUM ? weight : 0});
    const double found = magnitude(x - y) / scale;
    return found <= allowed ? 0 : std::isfinite(found) ? found : 1;
  }
}

/// The bytes of one element that hold a value; none: all of them.
using ValueBytes = std::vector<std::pair<std::size_t, std::size_t>>;  // where each begins and ends

/// A processor may leave the last six bytes of x86's long double alone when it copies one.
ValueBytes value_bytes(MPI_Datatype type) {
  constexpr std::size_t size = sizeof(long double);
  constexpr std::size_t used = std::numeric_limits<long double>::digits == 64 ? 10 : size;
  if (type == MPI_LONG_DOUBLE) return {{0, used}};
  if (type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_CXX_LONG_DOUBLE_COMPLEX) return {{0, used}, {size, size + used}};
  if (type == MPI_LONG_DOUBLE_INT) return {{0, used}, {size, size + sizeof(int)}};
  return {};
}

bool same_values(const std::byte* a, const std::byte* b, std::size_t bytes, MPI_Datatype type) {
  const ValueBytes values = value_bytes(type);
  if (values.empty()) return false;
  const std::size_t element = facts_of(type).size;
  for (std::size_t at = 0; at < bytes; at += element) {
    for (const auto& [begin, end] : values) {
      if (std::memcmp(a + at + begin, b + at + begin, end - begin) != 0) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<double> weights_of(const CallFacts& facts, MPI_Comm comm) {
  std::vector<double> weights;
  visit_number(facts.folds, [&]<typename T>(T, double) {
    const TypeFacts type = facts_of(facts.folds);
    const std::size_t count = facts.bytes / type.size;
    for (std::size_t i = 0; i < count; ++i) {
      const void* const at = moved(facts.in, static_cast<MPI_Aint>(i) * type.extent);
      weights.push_back(weight_of(value_at<T>(static_cast<const std::byte*>(at), 0), facts.op));
    }
    CHASQUI_LIBRARY(Allreduce)(MPI_IN_PLACE, weights.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm);
  });
  return weights;
}

double difference(const OutputCopy& other, const CallFacts& facts, const std::vector<double>& weights) {
  const OutputCopy own(facts.output);
  const std::byte *const mine = own.bytes().data(), *const theirs = other.bytes().data();
  std::size_t bytes = own.bytes().size();
  if (facts.results >= 0) bytes = static_cast<std::size_t>(facts.results) * facts_of(facts.output.type).size;
  if (bytes == 0 || std::memcmp(mine, theirs, bytes) == 0 || same_values(mine, theirs, bytes, facts.output.type))
    return 0;
  double worst = weights.empty() ? 1 : 0;
  visit_number(facts.folds, [&]<typename T>(T, double allowed) {
    const std::size_t size = facts_of(facts.folds).size;
    for (std::size_t i = 0; i < bytes / size; ++i)
      worst = std::max(worst,
                       apart<T>(mine + i * size, theirs + i * size, size, allowed, weights[facts.first + i], facts.op));
  });
  return worst;
}

}  // namespace chasqui::preload
