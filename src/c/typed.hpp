// SPDX-License-Identifier: MIT
// Operators on the types that other languages have, half floats among them, as vector code for the processor that this runs
// on. Half floats are accumulated in float and rounded once, to nearest, ties to even.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chasqui/run/operator.hpp"

namespace chasqui::c {

enum class Type : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, boolean };
inline constexpr int kTypes = 13;
enum class Folding : std::uint8_t { sum, product, minimum, maximum, bit_and, bit_or, bit_xor };
inline constexpr int kFoldings = 7;

std::size_t bytes_of(Type type);
const char* to_string(Type type);
constexpr bool is_floating(Type type) { return type >= Type::f16 && type <= Type::f64; }

/// Of bool, sum is or and product is and; true is any byte but 0, and results are 0 or 1. `combine` is missing for bit operations
/// on floats. Minimum and maximum of a NaN and a number are the number where it is the left one, as with operator<.
const run::Operator& typed_operator(Type type, Folding folding);

/// values[i] /= divisor. REQUIRES is_floating(type).
void divide(Type type, void* values, std::size_t count, int divisor);

/// Which vector instructions are used: "AVX2", "NEON", "scalar".
const char* vector_target();

}  // namespace chasqui::c
