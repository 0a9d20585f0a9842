// SPDX-License-Identifier: MIT
// Variables of the environment by which a user does without what the kernel may permit.
#pragma once

#include <cstdlib>
#include <string_view>

namespace chasqui::run {

/// Does this variable say no? Ranks may read different values, so none is an Error: whoever sets anything but 1 wants less.
inline bool declined(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' && std::string_view(text) != "1";
}

}  // namespace chasqui::run
