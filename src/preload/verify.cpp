// SPDX-License-Identifier: MIT
#include "preload/verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace chasqui::preload {
namespace {

std::byte* address(void* out, MPI_Aint offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<MPI_Aint>(out) + offset);
}

template <typename T>
double worst_of(const std::byte* a, const std::byte* b, std::size_t bytes, double allowed) {
  double worst = 0;
  for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T x, y;
    std::memcpy(&x, a + at, sizeof(T));
    std::memcpy(&y, b + at, sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0 || x == y || (x != x && y != y)) continue;
    const double scale = std::max<double>(std::abs(static_cast<double>(x)), std::abs(static_cast<double>(y)));
    const double apart = std::abs(static_cast<double>(x) - static_cast<double>(y)) / scale;
    if (!(apart <= allowed)) worst = std::max(worst, std::isfinite(apart) ? apart : 1.0);
  }
  return worst;
}

}  // namespace

BufferCopy::BufferCopy(void* out, ByteRange span) : where_(address(out, span.low)), span_(span) {
  bytes_.resize(static_cast<std::size_t>(span.high - span.low));
  if (!bytes_.empty()) std::memcpy(bytes_.data(), where_, bytes_.size());
}

void BufferCopy::restore() const {
  if (!bytes_.empty()) std::memcpy(where_, bytes_.data(), bytes_.size());
}

double difference(const BufferCopy& other, const CallFacts& facts) {
  const auto bytes = static_cast<std::size_t>(facts.result.high - facts.result.low);
  if (bytes == 0) return 0;
  const std::byte* mine = address(facts.out, facts.result.low);
  const std::byte* theirs = other.at(facts.result.low);
  if (std::memcmp(mine, theirs, bytes) == 0) return 0;
  if (facts.folds == MPI_FLOAT || facts.folds == MPI_C_FLOAT_COMPLEX) return worst_of<float>(mine, theirs, bytes, 1e-4);
  if (facts.folds == MPI_DOUBLE || facts.folds == MPI_C_DOUBLE_COMPLEX) {
    return worst_of<double>(mine, theirs, bytes, 1e-10);
  }
  if (facts.folds == MPI_LONG_DOUBLE) return worst_of<long double>(mine, theirs, bytes, 1e-10);
  return 1;
}

}  // namespace chasqui::preload
