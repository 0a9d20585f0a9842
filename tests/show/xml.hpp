// SPDX-License-Identifier: MIT
// Just enough of an XML reader to say whether a document is well formed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chasqui::test {

inline int occurrences(std::string_view text, std::string_view word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

/// Empty, or what is wrong: tags that do not match, quotes left open, a bare "&" or "<".
inline std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const std::size_t end = text.find(';', i);
      if (end == std::string_view::npos || end - i > 6) return "bare &";
    }
    if (text[i] != '<') continue;
    std::size_t end = i + 1;
    bool quoted = false;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "< inside a tag";
    }
    if (end == text.size()) return "a tag is not closed";
    const std::string_view tag = text.substr(i + 1, end - i - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" /\n", tag.starts_with('/') ? 1 : 0)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != std::string(tag)) return "unexpected <" + std::string(tag) + ">";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace chasqui::test
