// SPDX-License-Identifier: MIT
// Where a program said something: std::source_location for compilers that do not have it yet (clang before 16).
#pragma once

#include <cstdint>

namespace chasqui {

/// A file and a line; as a default argument SourceLocation::current() is the caller's.
class SourceLocation {
 public:
  /// Here.
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          std::uint32_t line = __builtin_LINE()) noexcept {
    SourceLocation here;
    here.file_ = file;
    here.line_ = line;
    return here;
  }
  constexpr const char* file_name() const noexcept { return file_; }  ///< as the compiler was told
  constexpr std::uint32_t line() const noexcept { return line_; }     ///< from 1 on; 0: nowhere

 private:
  const char* file_ = "";
  std::uint32_t line_ = 0;
};

}  // namespace chasqui
