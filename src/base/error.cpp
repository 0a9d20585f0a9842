// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace chasqui {

void check_failed(const char* file, int line, const char* condition, const std::string& values) {
  fmt::print(stderr, "{}:{}: check failed: {} ({})\n", file, line, condition, values);
  std::fflush(stderr);
  std::abort();
}

}  // namespace chasqui
