// SPDX-License-Identifier: MIT
// What a reduction folds with: a type-erased element-wise operator with a flag that says whether the operands may be
// reordered. Operators are associative (as far as floating point is); commutativity is the caller's promise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace chasqui::run {
/// A type-erased operator on arrays.
struct Operator {
  /// out = left o right for `count` elements. `out` may be `left` or `right`, nothing else overlaps.
  using Combine = void (*)(void* context, const void* left, const void* right, void* out, std::size_t count);

  /// out = value(0) o … o value(n-1), where value(i) begins i * stride bytes after `first`; out overlaps none of them.
  using Fold = void (*)(void* context, const void* first, std::size_t stride, std::size_t n, void* out, std::size_t count);

  Combine combine = nullptr;  ///< folds `count` elements
  void* context = nullptr;  ///< handed to `combine`
  bool commutative = true;  ///< may operands be reordered?
  bool throws = true;  ///< may it throw? Where it cannot, nobody needs to ask afterwards whether it did on some rank
  Fold fold = nullptr;  ///< may be missing: the same as combining one after another
  /// Out[i] = left[i] op right[i].
  void operator()(const void* left, const void* right, void* out, std::size_t count) const {
    combine(context, left, right, out, count);
  }
};

/// The operator that applies the function object F (which must outlive the calls that use it) to pairs of T.
template <typename T, typename F>
Operator operator_of(F& function, bool commutative) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {[](void* context, const void* left, const void* right, void* out, std::size_t count) {
            auto& f = *static_cast<F*>(context);
            const T* a = static_cast<const T*>(left);
            const T* b = static_cast<const T*>(right);
            T* c = static_cast<T*>(out);
            for (std::size_t i = 0; i < count; ++i) c[i] = f(a[i], b[i]);
          },
          const_cast<void*>(static_cast<const void*>(&function)), commutative,
          !std::is_nothrow_invocable_r_v<T, F&, const T&, const T&>,
          [](void* context, const void* first, std::size_t stride, std::size_t n, void* out, std::size_t count) {
            auto& f = *static_cast<F*>(context);
            const auto value = [&](std::size_t r) { return reinterpret_cast<const T*>(static_cast<const std::byte*>(first) + r * stride); };
            for (std::size_t i = 0; i < count; ++i) {
              T all = value(0)[i];
              for (std::size_t r = 1; r < n; ++r) all = f(all, value(r)[i]);
              static_cast<T*>(out)[i] = all;
            }
          }};
}
/// A + b.
struct Sum {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a + b)) { return static_cast<T>(a + b); }  ///< a + b
};
/// A * b.
struct Product {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a * b)) { return static_cast<T>(a * b); }  ///< a * b
};
/// The smaller one.
struct Minimum {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(b < a)) { return b < a ? b : a; }  ///< the smaller one
};
/// The larger one.
struct Maximum {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a < b)) { return a < b ? b : a; }  ///< the larger one
};
/// A & b.
struct BitAnd {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a & b)) { return static_cast<T>(a & b); }  ///< a & b
};
/// A | b.
struct BitOr {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a | b)) { return static_cast<T>(a | b); }  ///< a | b
};
/// A ^ b.
struct BitXor {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a ^ b)) { return static_cast<T>(a ^ b); }  ///< a ^ b
};
/// A && b.
struct LogicalAnd {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a && b)) { return static_cast<T>(a && b); }  ///< a && b
};
/// A || b.
struct LogicalOr {
  template <typename T> T operator()(T a, T b) const noexcept(noexcept(a || b)) { return static_cast<T>(a || b); }  ///< a || b
};

/// The operators above know that they commute; any other function object is taken in rank order.
template <typename F>
inline constexpr bool commutes =
    std::is_same_v<F, Sum> || std::is_same_v<F, Product> || std::is_same_v<F, Minimum> || std::is_same_v<F, Maximum> ||
    std::is_same_v<F, BitAnd> || std::is_same_v<F, BitOr> || std::is_same_v<F, BitXor> ||
    std::is_same_v<F, LogicalAnd> || std::is_same_v<F, LogicalOr>;

}  // namespace chasqui::run
