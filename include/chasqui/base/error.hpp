// SPDX-License-Identifier: MIT
// Two of the four kinds of failure: bad input is an Error, a caller's bug aborts through CHASQUI_CHECK.
// (The other two are values: a wrong schedule is a Report, a solver's outcome an Answer.)
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

namespace chasqui {

/// Bad input: a file, a flag, the environment. The message names the place and the remedy, on one line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// The message, formatted: place and remedy in one line.
  template <typename... Args>
  explicit Error(fmt::format_string<Args...> text, Args&&... args) requires(sizeof...(Args) > 0)
      : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
};

/// Prints the broken condition with its values and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& values);

}  // namespace chasqui

/// A condition that only a bug of the caller can break: CHASQUI_CHECK(i < n, "i={} n={}", i, n).
#define CHASQUI_CHECK(condition, ...)                                                      \
  do {                                                                                     \
    if (!(condition)) [[unlikely]]                                                         \
      ::chasqui::check_failed(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
