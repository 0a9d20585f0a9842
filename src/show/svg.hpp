// SPDX-License-Identifier: MIT
// A few SVG shapes as text. Colours come from one style sheet that follows the reader's light or dark scheme; every
// picture has a <title>, and shapes may have one too (a tooltip, and what a screen reader says).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chasqui::show {

enum class Anchor { start, middle, end };

class Svg {
 public:
  void rectangle(double x, double y, double width, double height, std::string_view style, std::string_view title = {},
                 double radius = 0);
  /// Many rectangles of one row and one style as a single shape: little text for dense charts.
  struct Span {
    double from;
    double to;
  };
  void bars(const std::vector<Span>& spans, double y, double height, std::string_view style);
  void circle(double x, double y, double radius, std::string_view style, std::string_view title = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  /// A line that ends in an arrow head.
  void arrow(double x1, double y1, double x2, double y2, std::string_view title = {});
  /// From (x1, y1) to (x2, y2), leaving and arriving vertically (or horizontally).
  void curve(double x1, double y1, double x2, double y2, bool vertical);
  /// A small triangle whose base is on (x, y) and which points up or down: an event without duration.
  void triangle(double x, double y, double size, bool up, std::string_view style, std::string_view title = {});
  void text(double x, double y, std::string_view words, std::string_view style, Anchor anchor = Anchor::start,
            double size = 12);

  /// The whole document. Shapes were drawn in [0, width] x [0, height].
  std::string document(double width, double height, std::string_view title, std::string_view description) const;

 private:
  void close(std::string_view tag, std::string_view title);

  std::string body_;
  bool arrows_ = false;
};

/// "<", "&" and quotes written as SVG needs them.
std::string escaped(std::string_view text);

/// The room `text` takes at this font size, estimated for a proportional sans serif.
double text_width(std::string_view text, double size);

/// The same for a picture's heading: bold, 15 units high.
inline double title_width(std::string_view text) { return 1.18 * text_width(text, 15); }

}  // namespace chasqui::show
