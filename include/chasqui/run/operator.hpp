// SPDX-License-Identifier: MIT
// What a reduction folds with: a type-erased element-wise operator with a flag that says whether the operands may be
// reordered. Operators are associative (as far as floating point is); commutativity is the caller's promise.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#if __has_include(<bits/stl_function.h>)
#include <bits/stl_function.h>  // libstdc++: std::plus and its like without the rest of <functional>
#else
#include <functional>
#endif

namespace chasqui::run {

inline constexpr std::size_t kLargestAlignment = 64;  ///< of elements that are folded

/// A type-erased operator on arrays.
struct Operator {
  /// out = left o right for `count` elements. `out` may be `left` or `right`, nothing else overlaps.
  using Combine = void (*)(void* context, const void* left, const void* right, void* out, std::size_t count);

  /// out = value(0) o … o value(n-1), where value(i) begins i * stride bytes after `first`; out overlaps none of them.
  using Fold = void (*)(void* context, const void* first, std::size_t stride, std::size_t n, void* out,
                        std::size_t count);

  /// A fold of values that lie anywhere: values[i] is the i-th of n; out may be one of them.
  using FoldMany = void (*)(void* context, const void* const* values, std::size_t n, void* out, std::size_t count);

  Combine combine = nullptr;  ///< folds `count` elements
  void* context = nullptr;    ///< handed to `combine`
  bool commutative = true;    ///< may operands be reordered?
  bool throws = true;   ///< may it throw? Where it cannot, nobody needs to ask afterwards whether it did on some rank
  Fold fold = nullptr;  ///< may be missing: the same as combining one after another
  /// Every element is ((x0 o x1) o x2) o … over the ranks, whatever the size, the method and the timing: for results that are
  /// the same to the bit, and operators that are not quite associative.
  bool in_order = false;
  FoldMany fold_many = nullptr;  ///< may be missing likewise
  /// Out[i] = left[i] op right[i].
  void operator()(const void* left, const void* right, void* out, std::size_t count) const {
    combine(context, left, right, out, count);
  }
};

/// An operator that is applied strictly from the left; see in_order().
template <typename F>
struct InOrder {
  F function;  ///< what is applied
  /// function(a, b)
  template <typename T>
  T operator()(const T& a, const T& b) const noexcept(noexcept(function(a, b))) {
    return function(a, b);
  }
};
/// `comm.allreduce(in, out, in_order(Sum{}))`: ((x0 + x1) + x2) + … for every element, hence the same bits every time.
template <typename F>
InOrder<F> in_order(F function) {
  return {std::move(function)};
}
template <typename F>
inline constexpr bool is_in_order = false;  ///< is F an InOrder?
template <typename F>
inline constexpr bool is_in_order<InOrder<F>> = true;  ///< it is

/// The operator that applies the function object F (which must outlive the calls that use it) to pairs of T.
template <typename T, typename F>
Operator operator_of(F& function, bool commutative) {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(alignof(T) <= kLargestAlignment, "folds happen in memory that is aligned to 64 bytes");
  return {[](void* context, const void* left, const void* right, void* out, std::size_t count) {
            auto& f = *static_cast<F*>(context);
            const T* a = static_cast<const T*>(left);
            const T* b = static_cast<const T*>(right);
            T* c = static_cast<T*>(out);
            for (std::size_t i = 0; i < count; ++i) c[i] = f(a[i], b[i]);
          },
          const_cast<void*>(static_cast<const void*>(&function)),
          commutative,
          !std::is_nothrow_invocable_r_v<T, F&, const T&, const T&>,
          [](void* context, const void* first, std::size_t stride, std::size_t n, void* out, std::size_t count) {
            auto& f = *static_cast<F*>(context);
            const auto value = [&](std::size_t r) {
              return reinterpret_cast<const T*>(static_cast<const std::byte*>(first) + r * stride);
            };
            for (std::size_t i = 0; i < count; ++i) {
              T all = value(0)[i];
              for (std::size_t r = 1; r < n; ++r) all = f(all, value(r)[i]);
              static_cast<T*>(out)[i] = all;
            }
          },
          is_in_order<std::remove_const_t<F>>};
}
/// What integers are added and multiplied in: parts of a result may leave the range that the whole does not, and wrap.
template <typename T>
using Wrapping = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
template <typename T>
inline constexpr bool wraps = std::is_integral_v<T> && !std::is_same_v<T, bool>;  ///< is it an integer?
/// a + b; integers wrap.
struct Sum {
  /// a + b
  template <typename T>
  constexpr auto operator()(const T& a, const T& b) const noexcept(noexcept(a + b)) {
    if constexpr (wraps<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else return a + b;
  }
};
/// a * b; integers wrap.
struct Product {
  /// a * b
  template <typename T>
  constexpr auto operator()(const T& a, const T& b) const noexcept(noexcept(a* b)) {
    if constexpr (wraps<T>) return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else return a * b;
  }
};
using BitAnd = std::bit_and<>;          ///< a & b
using BitOr = std::bit_or<>;            ///< a | b
using BitXor = std::bit_xor<>;          ///< a ^ b
using LogicalAnd = std::logical_and<>;  ///< a && b
using LogicalOr = std::logical_or<>;    ///< a || b
/// The smaller one.
struct Minimum {
  /// b < a ? b : a
  template <typename T>
  T operator()(T a, T b) const noexcept(noexcept(b < a)) {
    return b < a ? b : a;
  }
};
/// The larger one.
struct Maximum {
  /// a < b ? b : a
  template <typename T>
  T operator()(T a, T b) const noexcept(noexcept(a < b)) {
    return a < b ? b : a;
  }
};

/// An operator whose caller promises that it commutes; see commuting().
template <typename F>
struct Commuting {
  F function;  ///< what is applied
  /// function(a, b)
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return function(a, b);
  }
};
/// `comm.allreduce(in, out, commuting([](const Box& a, const Box& b) { … }))`: operands may be reordered.
template <typename F>
Commuting<F> commuting(F function) {
  return {std::move(function)};
}

/// std::complex, and what else is a real and an imaginary part and no more. The standard header is long to compile.
template <typename T>
concept Complex = requires(const T& z) {
  requires std::is_floating_point_v<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
  requires std::is_same_v<decltype(z.real()), typename T::value_type>;
  requires std::is_same_v<decltype(z.imag()), typename T::value_type>;
};
template <typename T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || Complex<T>;  ///< + and * are known to commute

template <typename F, typename... Known>
inline constexpr bool is_one_of = (std::is_same_v<F, Known> || ...);  ///< F is in the list

/// May operands of type T be reordered? The operators above and those of the standard library commute on numbers; on types of one's own
/// (matrices have a * too) they are taken in rank order like any other function, unless commuting() promises otherwise.
template <typename F, typename T>
inline constexpr bool commutes =
    is_number<T> && (is_one_of<F, Sum, Product, Minimum, Maximum, BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr> ||
                     is_one_of<F, std::plus<>, std::multiplies<>> ||
                     is_one_of<F, std::plus<T>, std::multiplies<T>, std::bit_and<T>, std::bit_or<T>, std::bit_xor<T>,
                               std::logical_and<T>, std::logical_or<T>>);
template <typename F, typename T>
inline constexpr bool commutes<Commuting<F>, T> = true;  ///< promised

}  // namespace chasqui::run
