// SPDX-License-Identifier: MIT
#include "c/typed.hpp"

#include <array>
#include <type_traits>

#include "c/typed_scalar.hpp"

// With Highway this file is compiled once for each set of vector instructions, up to HWY_ONCE.
#if CHASQUI_HAVE_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "c/typed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
HWY_BEFORE_NAMESPACE();
namespace chasqui::c::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Does the processor convert half floats to floats and back, as the standard rounds?
inline constexpr bool kConvertsHalf =
    HWY_ARCH_ARM_A64 ? HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
                     : HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;

template <typename T, Folding folding>
inline constexpr bool has_vectors = (is_half<T>
                                         ? std::is_same_v<T, BFloat16> || kConvertsHalf
                                         : std::is_arithmetic_v<T>)&&(folding != Folding::product ||
                                                                      (sizeof(T) != 1 &&
                                                                       (sizeof(T) != 8 || !std::is_integral_v<T>)));

/// A vector of elements as they are folded.
template <typename T>
struct Lanes {
  using D = hn::ScalableTag<T>;
  static auto load(D d, const T* from) { return hn::LoadU(d, from); }
  template <typename V>
  static void store(D d, V v, T* to) {
    hn::StoreU(v, d, to);
  }
};
template <>
struct Lanes<BFloat16> {
  using D = hn::ScalableTag<float>;
  static auto load(D d, const BFloat16* from) {
    const hn::Rebind<std::uint16_t, D> narrow;
    const hn::RebindToUnsigned<D> bits;
    return hn::BitCast(
        d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from)))));
  }
  template <typename V>
  static void store(D d, V v, BFloat16* to) {
    const hn::Rebind<std::uint16_t, D> narrow;
    const hn::RebindToUnsigned<D> bits;
    const hn::RebindToSigned<D> numbers;
    const auto x = hn::BitCast(bits, v);
    const auto odd = hn::And(hn::ShiftRight<16>(x), hn::Set(bits, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(x, hn::Set(bits, 0x7fff)), odd));
    const auto nan = hn::Or(hn::ShiftRight<16>(x), hn::Set(bits, 0x40));
    const auto half = hn::IfThenElse(hn::RebindMask(bits, hn::Ne(v, v)), nan, rounded);
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(numbers, half)), narrow, reinterpret_cast<std::uint16_t*>(to));
    static_cast<void>(d);
  }
};
template <>
struct Lanes<Float16> {
  using D = hn::ScalableTag<float>;
  static auto load(D d, const Float16* from) {
    const hn::Rebind<hwy::float16_t, D> narrow;
    return hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
  }
  template <typename V>
  static void store(D d, V v, Float16* to) {
    const hn::Rebind<hwy::float16_t, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, v), narrow, reinterpret_cast<hwy::float16_t*>(to));
    static_cast<void>(d);
  }
};

template <Folding folding, typename V>
V fold_lanes(V a, V b) {
  if constexpr (folding == Folding::sum) return hn::Add(a, b);
  if constexpr (folding == Folding::product) return hn::Mul(a, b);
  if constexpr (folding == Folding::minimum) return hn::IfThenElse(hn::Lt(b, a), b, a);
  if constexpr (folding == Folding::maximum) return hn::IfThenElse(hn::Lt(a, b), b, a);
  if constexpr (folding == Folding::bit_and) return hn::And(a, b);
  if constexpr (folding == Folding::bit_or) return hn::Or(a, b);
  if constexpr (folding == Folding::bit_xor) return hn::Xor(a, b);
}

/// Four vectors at a time: of each value a line or two is read before the next value's.
template <typename T, Folding folding>
void fold_many(const void* const* values, std::size_t n, void* out, std::size_t count) {
  std::size_t i = 0;
  if constexpr (has_vectors<T, folding>) {
    using L = Lanes<T>;
    const typename L::D d;
    const std::size_t lanes = hn::Lanes(d);
    const auto at = [&](std::size_t r, std::size_t k) {
      return L::load(d, static_cast<const T*>(values[r]) + i + k * lanes);
    };
    T* const to = static_cast<T*>(out);
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      auto a = at(0, 0), b = at(0, 1), c = at(0, 2), e = at(0, 3);
      for (std::size_t r = 1; r < n; ++r) {
        a = fold_lanes<folding>(a, at(r, 0));
        b = fold_lanes<folding>(b, at(r, 1));
        c = fold_lanes<folding>(c, at(r, 2));
        e = fold_lanes<folding>(e, at(r, 3));
      }
      L::store(d, a, to + i);
      L::store(d, b, to + i + lanes);
      L::store(d, c, to + i + 2 * lanes);
      L::store(d, e, to + i + 3 * lanes);
    }
    for (; i + lanes <= count; i += lanes) {
      auto a = at(0, 0);
      for (std::size_t r = 1; r < n; ++r) a = fold_lanes<folding>(a, at(r, 0));
      L::store(d, a, to + i);
    }
  }
  fold_scalar<T, folding>(values, n, out, i, count);
}

#else
namespace chasqui::c::scalar {

template <typename T, Folding folding>
void fold_many(const void* const* values, std::size_t n, void* out, std::size_t count) {
  fold_scalar<T, folding>(values, n, out, 0, count);
}

#endif

/// As what elements are folded: sums and products of signed numbers wrap, which only unsigned ones may.
template <typename T, Folding folding>
using Folded = typename std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T> &&
                                               (folding == Folding::sum || folding == Folding::product),
                                           std::make_unsigned<T>, std::type_identity<T>>::type;

using Kernel = void (*)(const void* const* values, std::size_t n, void* out, std::size_t count);

/// nullptr: there is no such operator.
Kernel find_kernel(Type type, Folding folding) {
  return with_operator(type, folding, [](auto zero, auto tag) -> Kernel {
    constexpr Folding kFolding = decltype(tag)::value;
    return fold_many<Folded<decltype(zero), kFolding>, kFolding>;
  });
}

#if CHASQUI_HAVE_HIGHWAY
const char* target_name() { return hwy::TargetName(HWY_TARGET); }
}  // namespace chasqui::c::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#else
const char* target_name() { return "scalar"; }
}  // namespace chasqui::c::scalar
#endif

#if !CHASQUI_HAVE_HIGHWAY || HWY_ONCE
namespace chasqui::c {
namespace {

using Kernel = void (*)(const void* const* values, std::size_t n, void* out, std::size_t count);

#if CHASQUI_HAVE_HIGHWAY
HWY_EXPORT(find_kernel);
HWY_EXPORT(target_name);
#define CHASQUI_BEST(function) HWY_DYNAMIC_DISPATCH(function)
#else
#define CHASQUI_BEST(function) scalar::function
#endif

/// Few elements, in the lines of a board.
template <typename T, Folding folding>
void fold_strided(void*, const void* first, std::size_t stride, std::size_t n, void* out, std::size_t count) {
  const auto* const begin = static_cast<const std::byte*>(first);
  for (std::size_t i = 0; i < count; ++i) {
    auto all = widened(value_at<T>(begin, i));
    for (std::size_t r = 1; r < n; ++r) all = folded<folding>(all, widened(value_at<T>(begin + r * stride, i)));
    put(out, i, narrowed<T>(all));
  }
}

run::Operator::Fold find_strided(Type type, Folding folding) {
  return with_operator(type, folding, [](auto zero, auto tag) -> run::Operator::Fold {
    return fold_strided<decltype(zero), decltype(tag)::value>;
  });
}

/// All operators; the context of each is its kernel.
struct Operators {
  std::array<std::array<Kernel, kFoldings>, kTypes> kernels{};
  std::array<std::array<run::Operator, kFoldings>, kTypes> operators{};

  Operators() {
    for (std::size_t t = 0; t < kTypes; ++t) {
      for (std::size_t f = 0; f < kFoldings; ++f) {
        const auto type = static_cast<Type>(t);
        const auto folding = static_cast<Folding>(f);
        Kernel& kernel = kernels[t][f];
        kernel = CHASQUI_BEST(find_kernel)(type, folding);
        if (kernel == nullptr) continue;
        run::Operator& op = operators[t][f];
        op.context = &kernel;
        op.combine = [](void* context, const void* left, const void* right, void* out, std::size_t count) {
          const void* const both[] = {left, right};
          (*static_cast<Kernel*>(context))(both, 2, out, count);
        };
        op.throws = false;
        op.fold = find_strided(type, folding);
        op.fold_many = [](void* context, const void* const* values, std::size_t n, void* out, std::size_t count) {
          (*static_cast<Kernel*>(context))(values, n, out, count);
        };
        op.in_order = type == Type::f16 || type == Type::bf16;  // rounded once, at the end
      }
    }
  }
};

}  // namespace

std::size_t bytes_of(Type type) {
  constexpr std::size_t kBytes[kTypes] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

const char* to_string(Type type) {
  constexpr const char* kNames[kTypes] = {"int8",   "int16",   "int32",    "int64", "uint8",  "uint16", "uint32",
                                          "uint64", "float16", "bfloat16", "float", "double", "bool"};
  return kNames[static_cast<std::size_t>(type)];
}

const run::Operator& typed_operator(Type type, Folding folding) {
  static const Operators all;
  return all.operators[static_cast<std::size_t>(type)][static_cast<std::size_t>(folding)];
}

void divide(Type type, void* values, std::size_t count, int divisor) {
  const auto each = [&](auto one) {
    using T = decltype(one);
    using W = decltype(widened(one));
    for (std::size_t i = 0; i < count; ++i)
      put(values, i, narrowed<T>(widened(value_at<T>(values, i)) / static_cast<W>(divisor)));
  };
  if (type == Type::f16) each(Float16{});
  if (type == Type::bf16) each(BFloat16{});
  if (type == Type::f32) each(float{});
  if (type == Type::f64) each(double{});
}

const char* vector_target() { return CHASQUI_BEST(target_name)(); }

}  // namespace chasqui::c
#endif
