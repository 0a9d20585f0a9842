// SPDX-License-Identifier: MIT
// Words from files on their way to a terminal: what would move the cursor or change colours becomes a space.
#pragma once

#include <string>

namespace chasqui {

/// Control characters (of ASCII, and U+0080 to U+009F in UTF-8) replaced by spaces; a line end, too.
inline std::string printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c < 0x20 || c == 0x7f) text[i] = ' ';
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) text[i] = text[i + 1] = ' ';
  }
  return text;
}

}  // namespace chasqui
