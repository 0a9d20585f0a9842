// SPDX-License-Identifier: MIT
#include "show/svg.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace chasqui::show {
namespace {

constexpr std::string_view kStyle = R"(
.cq-bg{fill:#ffffff}
.cq-text{fill:#1f2328}
.cq-dim{fill:#59636e}
.cq-strong{fill:#1f2328;font-weight:700}
.cq-oncolour{fill:#ffffff;font-weight:600}
.cq-row{fill:#f1f3f5}
.cq-grid{stroke:#d1d9e0;stroke-width:1}
.cq-edge{stroke:#818b98;stroke-width:1.3;fill:none}
.cq-arrow{stroke:#59636e;stroke-width:1;stroke-opacity:.75}
.cq-head{fill:#59636e}
.cq-node{fill:#ddf4ff;stroke:#0969da;stroke-width:1.3}
.cq-root{fill:#0969da;stroke:#0969da}
.cq-send{fill:#0969da}
.cq-receive{fill:#bc4c00}
.cq-compute{fill:#1a7f37}
.cq-active{fill:#ddf4ff;stroke:#0969da;stroke-width:1}
.cq-plain{fill:#f1f3f5}
.cq-delayed{fill:#fff1e5;stroke:#bc4c00;stroke-width:1;stroke-dasharray:3 2}
@media screen and (prefers-color-scheme:dark){
.cq-bg{fill:#0d1117}
.cq-text{fill:#e6edf3}
.cq-dim{fill:#9198a1}
.cq-strong{fill:#f0f6fc}
.cq-oncolour{fill:#0d1117}
.cq-row{fill:#181d24}
.cq-grid{stroke:#3d444d}
.cq-edge{stroke:#7d8590}
.cq-arrow{stroke:#9198a1}
.cq-head{fill:#9198a1}
.cq-node{fill:#10284a;stroke:#58a6ff}
.cq-root{fill:#58a6ff;stroke:#58a6ff}
.cq-send{fill:#58a6ff}
.cq-receive{fill:#f0883e}
.cq-compute{fill:#3fb950}
.cq-active{fill:#10284a;stroke:#58a6ff}
.cq-plain{fill:#181d24}
.cq-delayed{fill:#3a2410;stroke:#f0883e}
}
)";

/// The colours of curves on light and on dark paper.
constexpr std::pair<std::string_view, std::string_view> kCurveColours[] = {
    {"#0969da", "#58a6ff"}, {"#bc4c00", "#f0883e"}, {"#1a7f37", "#3fb950"},
    {"#8250df", "#bc8cff"}, {"#9a6700", "#d29922"}, {"#cf222e", "#ff7b72"},
};

/// Boards and nodes, only in documents that draw some.
constexpr std::string_view kClusterStyle = R"(
.cq-publish{fill:#8250df}
.cq-read{fill:#0a7b83}
.cq-band{fill:#0969da;fill-opacity:.1}
@media screen and (prefers-color-scheme:dark){
.cq-publish{fill:#a371f7}
.cq-read{fill:#39c5cf}
.cq-band{fill:#58a6ff;fill-opacity:.14}
}
)";

/// Lines, dashed lines and marks of curves, only in documents that draw some.
std::string curve_style() {
  std::string light = "\n", dark = "@media screen and (prefers-color-scheme:dark){\n";
  int i = 0;
  for (const auto& [on_light, on_dark] : kCurveColours) {
    light += fmt::format(
        ".cq-line{0}{{stroke:{1};stroke-width:2}}\n.cq-dash{0}{{stroke:{1};stroke-width:1.6;stroke-dasharray:5 4}}\n.cq-mark{0}{{fill:{1}}}\n",
        i, on_light);
    dark += fmt::format(".cq-line{0},.cq-dash{0}{{stroke:{1}}}\n.cq-mark{0}{{fill:{1}}}\n", i++, on_dark);
  }
  return light + dark + "}\n";
}

/// Two decimals, without trailing zeros.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

const char* anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::middle: return "middle";
    case Anchor::end: return "end";
    default: return "start";
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

double text_width(std::string_view text, double size) { return 0.58 * size * static_cast<double>(text.size()); }

void Svg::close(std::string_view tag, std::string_view title) {
  if (title.empty()) {
    body_ += "/>\n";
  } else {
    body_ += fmt::format("><title>{}</title></{}>\n", escaped(title), tag);
  }
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view style, std::string_view title,
                    double radius) {
  body_ += fmt::format(R"(<rect class="cq-{}" x="{}" y="{}" width="{}" height="{}")", style, number(x), number(y),
                       number(width), number(height));
  if (radius > 0) body_ += fmt::format(R"( rx="{}")", number(radius));
  close("rect", title);
}

void Svg::bars(const std::vector<Span>& spans, double y, double height, std::string_view style) {
  if (spans.empty()) return;
  body_ += fmt::format(R"(<path class="cq-{}" d=")", style);
  for (const Span& span : spans) {
    const std::string width = number(span.to - span.from);
    body_ += fmt::format("M{} {}h{}v{}h-{}z", number(span.from), number(y), width, number(height), width);
  }
  body_ += "\"/>\n";
}

void Svg::circle(double x, double y, double radius, std::string_view style, std::string_view title) {
  body_ += fmt::format(R"(<circle class="cq-{}" cx="{}" cy="{}" r="{}")", style, number(x), number(y), number(radius));
  close("circle", title);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += fmt::format(R"(<line class="cq-{}" x1="{}" y1="{}" x2="{}" y2="{}"/>)", style, number(x1), number(y1),
                       number(x2), number(y2));
  body_ += "\n";
}

void Svg::arrow(double x1, double y1, double x2, double y2, std::string_view title) {
  arrows_ = true;
  body_ += fmt::format(R"svg(<line class="cq-arrow" marker-end="url(#cq-head)" x1="{}" y1="{}" x2="{}" y2="{}")svg",
                       number(x1), number(y1), number(x2), number(y2));
  close("line", title);
}

void Svg::curve(double x1, double y1, double x2, double y2, bool vertical) {
  const double mx = (x1 + x2) / 2;
  const double my = (y1 + y2) / 2;
  body_ += fmt::format(R"(<path class="cq-edge" d="M{} {}C{} {} {} {} {} {}"/>)", number(x1), number(y1),
                       number(vertical ? x1 : mx), number(vertical ? my : y1), number(vertical ? x2 : mx),
                       number(vertical ? my : y2), number(x2), number(y2));
  body_ += "\n";
}

void Svg::triangle(double x, double y, double size, bool up, std::string_view style, std::string_view title) {
  const double tip = up ? y - size : y + size;
  body_ += fmt::format(R"(<path class="cq-{}" d="M{} {}L{} {}L{} {}Z")", style, number(x - size / 2), number(y),
                       number(x + size / 2), number(y), number(x), number(tip));
  close("path", title);
}

void Svg::text(double x, double y, std::string_view words, std::string_view style, Anchor anchor, double size) {
  body_ += fmt::format(R"(<text class="cq-{}" x="{}" y="{}" font-size="{}" text-anchor="{}">{}</text>)", style,
                       number(x), number(y), number(size), anchor_name(anchor), escaped(words));
  body_ += "\n";
}

std::string Svg::document(double width, double height, std::string_view title, std::string_view description) const {
  std::string text = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" font-family="system-ui,'DejaVu Sans',sans-serif">)",
      number(std::ceil(width)), number(std::ceil(height)));
  text += fmt::format("\n<title>{}</title>\n<desc>{}</desc>\n<style>{}</style>\n", escaped(title), escaped(description),
                      kStyle);
  if (body_.find("\"cq-line") != std::string::npos) text += fmt::format("<style>{}</style>\n", curve_style());
  if (body_.find("\"cq-band") != std::string::npos) text += fmt::format("<style>{}</style>\n", kClusterStyle);
  if (arrows_) {
    text +=
        R"(<defs><marker id="cq-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">)"
        R"(<path class="cq-head" d="M0 1L8 4L0 7Z"/></marker></defs>)"
        "\n";
  }
  text += R"(<rect class="cq-bg" width="100%" height="100%"/>)";
  return text + "\n" + body_ + "</svg>\n";
}

}  // namespace chasqui::show
