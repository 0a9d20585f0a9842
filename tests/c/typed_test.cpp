// SPDX-License-Identifier: MIT
// Operators by type: vectors do what one element at a time does, to the bit, for every type, operation and length; half floats
// are rounded once, to nearest, ties to even.
#include "c/typed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "c/typed_scalar.hpp"

namespace chasqui::c {
namespace {

TEST(Half, EveryFloat16ComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    if ((bits & 0x7fffu) > 0x7c00u) continue;  // what is not a number stays none
    Float16 back{};
    from_float(to_float(half), back);
    ASSERT_EQ(back.bits, half.bits);
    ASSERT_EQ(std::isinf(to_float(half)), (bits & 0x7fffu) == 0x7c00u);
  }
  EXPECT_EQ(to_float(Float16{0x3555}), 0.333251953125F);
  EXPECT_EQ(to_float(Float16{0x0001}), 0x1p-24F);
}

TEST(Half, RoundsToNearestTiesToEven) {
  const auto half = [](float x) {
    Float16 to{};
    from_float(x, to);
    return to.bits;
  };
  EXPECT_EQ(half(2049), 0x6800);      // between 2048 and 2050: even
  EXPECT_EQ(half(2051), 0x6802);      // between 2050 and 2052
  EXPECT_EQ(half(65519), 0x7bff);     // the largest
  EXPECT_EQ(half(65520), 0x7c00);     // infinity
  EXPECT_EQ(half(0x1p-25F), 0x0000);  // half of the smallest: even
  EXPECT_EQ(half(0x1.8p-24F), 0x0002);
  EXPECT_EQ(half(-0.0F), 0x8000);
  EXPECT_GT(half(std::nanf("")) & 0x7fff, 0x7c00);
  const auto brain = [](float x) {
    BFloat16 to{};
    from_float(x, to);
    return to.bits;
  };
  EXPECT_EQ(brain(257), 0x4380);  // between 256 and 258
  EXPECT_EQ(brain(259), 0x4382);
  EXPECT_EQ(brain(3.4e38F), 0x7f80);
  EXPECT_GT(brain(std::nanf("")) & 0x7fff, 0x7f80);
}

/// Any bits, but of floats numbers only: which NaN comes out is the processor's choice.
void fill(Type type, std::vector<std::uint8_t>& bytes, std::mt19937& random) {
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  if (!is_floating(type)) return;
  const std::size_t size = bytes_of(type);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const double x = static_cast<double>(random() % 4001) / 64.0 - 31;
    if (type == Type::f32) put(&bytes[at], 0, static_cast<float>(x));
    if (type == Type::f64) put(&bytes[at], 0, x);
    if (type == Type::f16) put(&bytes[at], 0, narrowed<Float16>(static_cast<float>(x)));
    if (type == Type::bf16) put(&bytes[at], 0, narrowed<BFloat16>(static_cast<float>(x)));
  }
}

/// `fold` goes one element at a time, `fold_many` and `combine` in vectors.
TEST(Typed, VectorsAndElementsAgree) {
  std::mt19937 random(20261116);
  for (int t = 0; t < kTypes; ++t) {
    for (int f = 0; f < kFoldings; ++f) {
      const auto type = static_cast<Type>(t);
      const run::Operator& op = typed_operator(type, static_cast<Folding>(f));
      if (op.combine == nullptr) {
        EXPECT_TRUE(is_floating(type) && f >= static_cast<int>(Folding::bit_and));
        continue;
      }
      for (const std::size_t count : {1u, 3u, 8u, 17u, 64u, 1003u}) {
        for (const std::size_t n : {2u, 3u, 9u}) {
          const std::size_t bytes = count * bytes_of(type);
          std::vector<std::uint8_t> values(bytes * n), one(bytes), many(bytes);
          fill(type, values, random);
          std::vector<const void*> pointers;
          for (std::size_t r = 0; r < n; ++r) pointers.push_back(values.data() + r * bytes);
          op.fold(op.context, values.data(), bytes, n, one.data(), count);
          op.fold_many(op.context, pointers.data(), n, many.data(), count);
          ASSERT_EQ(one, many) << to_string(type) << " operation " << f << ", " << n << " values of " << count << " by "
                               << vector_target();
          if (n == 2) {
            op(pointers[0], pointers[1], many.data(), count);
            ASSERT_EQ(one, many);
            op(pointers[0], pointers[1], values.data(), count);  // in place
            values.resize(bytes);
            ASSERT_EQ(one, values);
          }
        }
      }
    }
  }
}

TEST(Typed, HalfFloatsAreAccumulatedInFloat) {
  // 256 + 1 + 1 is 258 in float, and 256 where every step is rounded to bfloat16.
  std::uint16_t values[] = {0x4380, 0x3f80, 0x3f80}, out = 0;
  const void* const pointers[] = {&values[0], &values[1], &values[2]};
  const run::Operator& op = typed_operator(Type::bf16, Folding::sum);
  op.fold_many(op.context, pointers, 3, &out, 1);
  EXPECT_EQ(out, 0x4381);
  EXPECT_TRUE(op.in_order);
}

TEST(Typed, Divides) {
  float x[] = {3, 10};
  divide(Type::f32, x, 2, 4);
  EXPECT_EQ(x[0], 0.75F);
  EXPECT_EQ(x[1], 2.5F);
}

}  // namespace
}  // namespace chasqui::c
