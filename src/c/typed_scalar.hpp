// SPDX-License-Identifier: MIT
// The operators of typed.hpp, one element at a time.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "c/half.hpp"
#include "c/typed.hpp"
#include "chasqui/base/value_at.hpp"

namespace chasqui::c {

struct Boolean {
  std::uint8_t byte;
};

template <typename T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// What values of T are folded as: halves as float, truth values as bool, others as they are.
template <typename T>
auto widened(T x) {
  if constexpr (is_half<T>) return to_float(x);
  else if constexpr (std::is_same_v<T, Boolean>) return x.byte != 0;
  else return x;
}
template <typename T, typename W>
T narrowed(W x) {
  T to;
  if constexpr (is_half<T>) from_float(x, to);
  else if constexpr (std::is_same_v<T, Boolean>) to.byte = x ? 1 : 0;
  else to = x;
  return to;
}

template <Folding folding, typename W>
W folded(W a, W b) {
  if constexpr (folding == Folding::minimum) return b < a ? b : a;
  if constexpr (folding == Folding::maximum) return a < b ? b : a;
  if constexpr (std::is_same_v<W, bool>) {
    if constexpr (folding == Folding::sum || folding == Folding::bit_or) return a || b;
    if constexpr (folding == Folding::product || folding == Folding::bit_and) return a && b;
    if constexpr (folding == Folding::bit_xor) return a != b;
  } else if constexpr (std::is_integral_v<W>) {
    using U = std::make_unsigned_t<W>;
    using Wide =
        std::conditional_t<sizeof(U) < sizeof(unsigned), unsigned, U>;  // no promotion to int, which may overflow
    const Wide x = static_cast<U>(a), y = static_cast<U>(b);
    if constexpr (folding == Folding::sum) return static_cast<W>(x + y);
    if constexpr (folding == Folding::product) return static_cast<W>(x * y);
    if constexpr (folding == Folding::bit_and) return static_cast<W>(x & y);
    if constexpr (folding == Folding::bit_or) return static_cast<W>(x | y);
    if constexpr (folding == Folding::bit_xor) return static_cast<W>(x ^ y);
  } else {
    if constexpr (folding == Folding::sum) return a + b;
    if constexpr (folding == Folding::product) return a * b;
  }
}

template <Folding folding>
using FoldingTag = std::integral_constant<Folding, folding>;

/// What `visit(T{}, FoldingTag<folding>{})` answers for this folding of values of T; nullptr: there is no such operator.
template <typename T, typename Visit>
auto with_folding(Folding folding, const Visit& visit) -> decltype(visit(T{}, FoldingTag<Folding::sum>{})) {
  switch (folding) {
    case Folding::sum: return visit(T{}, FoldingTag<Folding::sum>{});
    case Folding::product: return visit(T{}, FoldingTag<Folding::product>{});
    case Folding::minimum: return visit(T{}, FoldingTag<Folding::minimum>{});
    case Folding::maximum: return visit(T{}, FoldingTag<Folding::maximum>{});
    default: break;
  }
  if constexpr (!is_half<T> && !std::is_floating_point_v<T>) {
    if (folding == Folding::bit_and) return visit(T{}, FoldingTag<Folding::bit_and>{});
    if (folding == Folding::bit_or) return visit(T{}, FoldingTag<Folding::bit_or>{});
    return visit(T{}, FoldingTag<Folding::bit_xor>{});
  }
  return nullptr;
}

/// The same for a type that is known at run time.
template <typename Visit>
auto with_operator(Type type, Folding folding, const Visit& visit) -> decltype(with_folding<float>(folding, visit)) {
  switch (type) {
    case Type::i8: return with_folding<std::int8_t>(folding, visit);
    case Type::i16: return with_folding<std::int16_t>(folding, visit);
    case Type::i32: return with_folding<std::int32_t>(folding, visit);
    case Type::i64: return with_folding<std::int64_t>(folding, visit);
    case Type::u8: return with_folding<std::uint8_t>(folding, visit);
    case Type::u16: return with_folding<std::uint16_t>(folding, visit);
    case Type::u32: return with_folding<std::uint32_t>(folding, visit);
    case Type::u64: return with_folding<std::uint64_t>(folding, visit);
    case Type::f16: return with_folding<Float16>(folding, visit);
    case Type::bf16: return with_folding<BFloat16>(folding, visit);
    case Type::f32: return with_folding<float>(folding, visit);
    case Type::f64: return with_folding<double>(folding, visit);
    case Type::boolean: return with_folding<Boolean>(folding, visit);
  }
  return nullptr;
}

template <typename T>
void put(void* values, std::size_t at, T value) {
  std::memcpy(static_cast<std::byte*>(values) + at * sizeof(T), &value, sizeof(T));
}

/// Elements begin .. end-1 of n values, folded.
template <typename T, Folding folding>
void fold_scalar(const void* const* values, std::size_t n, void* out, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    auto all = widened(value_at<T>(values[0], i));
    for (std::size_t r = 1; r < n; ++r) all = folded<folding>(all, widened(value_at<T>(values[r], i)));
    put(out, i, narrowed<T>(all));
  }
}

}  // namespace chasqui::c
