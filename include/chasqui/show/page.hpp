// SPDX-License-Identifier: MIT
// A self-contained HTML page: text, tables, and drawings inside figures. Light and dark, narrow screens and paper; no
// scripts, nothing fetched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chasqui::show {

/// Collects a page from top to bottom. All words are escaped here, so that callers pass plain text.
class Page {
 public:
  /// A page with this title and one sentence below it.
  Page(std::string title, std::string lead);

  /// A chapter, linked from the contents at the top.
  void section(std::string_view name);
  /// A heading inside a chapter; `verdict` is printed behind it, green if `good`.
  void heading(std::string_view name, std::string_view verdict = {}, bool good = true);
  /// Links to headings, which may come later.
  void links(const std::vector<std::string>& headings);
  /// Words.
  void paragraph(std::string_view words);
  /// Words as they stand, in a fixed font.
  void preformatted(std::string_view words);
  /// A table; columns after the first are aligned to the right where every cell looks like a number.
  void table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows);
  /// Drawings side by side where the screen is wide enough. `svgs` is markup of this room and goes in unescaped.
  void figures(const std::vector<std::string>& svgs, std::string_view caption = {});
  /// Large numbers with what they mean.
  void numbers(const std::vector<std::pair<std::string, std::string>>& pairs);

  /// The whole document.
  std::string html() const;

 private:
  std::string title_;
  std::string lead_;
  std::string body_;
  std::vector<std::string> sections_;
};

}  // namespace chasqui::show
