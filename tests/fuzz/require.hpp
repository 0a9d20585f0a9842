// SPDX-License-Identifier: MIT
// What the fuzz targets ask: a condition that does not hold is a crash, which is how a fuzzer sees it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "chasqui/base/error.hpp"

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

/// A reader that was given the place "input" refuses with one line that opens with it.
inline void require_named_place(const chasqui::Error& error) {
  const std::string_view message = error.what();
  require(message.substr(0, 7) == "input: ", "the message opens with the place");
  require(message.find('\n') == std::string_view::npos, "the message is one line");
}
