// SPDX-License-Identifier: MIT
// The discrete Fourier transform with one exchange. Processor s has elements s, s + p, s + 2p, ...: it transforms them
// alone, multiplies by roots of unity, and sends element m of the result to processor m mod p, which transforms the p
// numbers that it has of each m. The result lies as the input did.
// BSP costs: T = 1, h = n/p - n/p^2 numbers, w = (n/p) log2 n butterflies.
// Source: Inda and Bisseling, A simple and efficient parallel FFT algorithm using the BSP model, Parallel Computing 27, 2001.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {

namespace detail {

/// X[k] = sum of x[j] exp(sign 2 pi i j k / n), in place; n is a power of two.
inline void transform(std::span<std::complex<double>> x, double sign) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  std::vector<std::complex<double>> root(n / 2);
  for (std::size_t k = 0; k < n / 2; ++k)
    root[k] = std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t begin = 0; begin < n; begin += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> odd = x[begin + half + k] * root[k * (n / 2 / half)];
        x[begin + half + k] = x[begin + k] - odd;
        x[begin + k] += odd;
      }
    }
  }
}

}  // namespace detail

/// `mine` has the elements rank(), rank() + p, rank() + 2p, ... of n, and afterwards those of the transform: for the inverse
/// divided by n. REQUIRES n and p are powers of two and p^2 <= n, equal parts everywhere.
inline void fft(World& w, std::span<std::complex<double>> mine, bool inverse = false) {
  const auto p = static_cast<std::size_t>(w.size());
  const std::size_t part = mine.size();
  if (!std::has_single_bit(part) || !std::has_single_bit(p) || part < p) {
    throw Error("fft: {} processors with {} elements each: both must be powers of two, and a part no smaller than p", p,
                part);
  }
  const double sign = inverse ? 1 : -1;
  const auto n = static_cast<double>(part * p);
  detail::transform(mine, sign);
  Queue<std::complex<double>> route(w);
  std::vector<std::complex<double>> share(part / p);
  for (std::size_t to = 0; to < p; ++to) {
    for (std::size_t i = 0; i < share.size(); ++i) {
      const std::size_t m = to + p * i;
      share[i] = mine[m] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(m) * w.rank() / n);
    }
    route.send(static_cast<int>(to), share);
  }
  w.charge(static_cast<std::int64_t>(part) * std::bit_width(part));
  w.sync();
  std::vector<std::complex<double>> column(part);  // of m = rank + p i: numbers i p .. i p + p - 1, by sender
  std::size_t from = 0;
  for (const auto& message : route) {
    for (std::size_t i = 0; i < message.values.size(); ++i) column[i * p + from] = message.values[i];
    ++from;
  }
  for (std::size_t i = 0; i < part / p; ++i) {
    const std::span<std::complex<double>> one = std::span(column).subspan(i * p, p);
    detail::transform(one, sign);
    // Element m + q n/p of the result is number i + q n/p^2 here.
    for (std::size_t q = 0; q < p; ++q) mine[i + q * (part / p)] = inverse ? one[q] / n : one[q];
  }
  w.charge(static_cast<std::int64_t>(part) * std::bit_width(p - 1));
}

}  // namespace chasqui::bsp
