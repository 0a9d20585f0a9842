// SPDX-License-Identifier: MIT
#include "chasqui/show/page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/number.hpp"
#include "show/svg.hpp"

namespace chasqui::show {
namespace {

constexpr std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--text:#1f2328;--dim:#59636e;--page:#fff;--panel:#f6f8fa;--line:#d1d9e0;--good:#1a7f37;--link:#0969da;--fair:#9a6700}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--dim:#9198a1;--page:#0d1117;--panel:#151b23;--line:#3d444d;--good:#3fb950;--link:#58a6ff;--fair:#d29922}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 system-ui,'DejaVu Sans',sans-serif}
main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:2rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.45rem;margin:3rem 0 .75rem;padding-bottom:.3rem;border-bottom:1px solid var(--line)}
h3{font-size:1.15rem;margin:2.2rem 0 .5rem}
p{max-width:48rem;margin:.6rem 0}
.lead,figcaption,.numbers span{color:var(--dim)}
a{color:var(--link)}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin:1rem 0}
.verdict{display:inline-block;margin-left:.5rem;padding:0 .55rem;border:1px solid;border-radius:1rem;font-size:.8rem;font-weight:600;color:var(--fair);vertical-align:.1em}
.verdict.good{color:var(--good)}
.wide{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.92rem}
th,td{text-align:left;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--dim);white-space:nowrap}
td{white-space:nowrap}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
td.t{min-width:13rem;white-space:normal}
pre{overflow-x:auto;padding:.75rem;background:var(--panel);border-radius:6px;font-size:.85rem;line-height:1.45}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem;align-items:start}
figure{margin:.8rem 0}
.figures>div{position:relative;overflow-x:auto;border:1px solid var(--line);border-radius:6px}
.rooted>i{position:absolute;top:0;width:1px;height:1px}.called{display:none}
@keyframes here{from,to{scroll-snap-align:center}}
figcaption{margin-top:.4rem}
svg{display:block;max-width:100%;height:auto;margin:0 auto}
.numbers{display:grid;grid-template-columns:repeat(auto-fit,minmax(12rem,1fr));gap:1rem;margin:1.2rem 0}
.numbers div{background:var(--panel);border-radius:6px;padding:.8rem 1rem}
.numbers b{display:block;font-size:1.6rem;line-height:1.2}
@media (max-width:40rem){h1{font-size:1.6rem}.figures svg.large{min-width:34rem;max-width:none}
.figures>.rooted{scroll-snap-type:x mandatory}.rooted>i{animation:here 1s}
.called+svg{margin-top:-1.4rem}.called{display:block;position:sticky;left:.6rem;margin:.5rem .6rem .2rem;font-size:.85rem;font-weight:600}.called span{display:block;font-weight:400;color:var(--dim)}
.called+svg>text:is([y="26"],[y="44"],[y="46"])[x="24"]{display:none}
.numbers{grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem}
.wordy thead{display:none}.wordy table,.wordy tbody,.wordy tr,.wordy td{display:block;text-align:left;white-space:normal;min-width:0}
.wordy tr{padding:.4rem 0;border-bottom:1px solid var(--line)}.wordy td{border:0;padding:.05rem 0}.wordy td:first-child{font-weight:600}
.wordy td[data-of]::before{content:attr(data-of) ": ";color:var(--dim)}
.wordy tr:has([data-of=meaning]){display:flex;flex-wrap:wrap;gap:0 .45rem}.wordy td[data-of$=interval]{order:1;flex-basis:100%}.wordy td[data-of=meaning]{order:2;flex-basis:100%}
.wordy td:is([data-of=value],[data-of=unit],[data-of=meaning])::before{content:none}
.wide:not(.wordy) table{font-size:.82rem}.wide:not(.wordy) th{white-space:normal;vertical-align:bottom}.wide:not(.wordy) :is(th,td){padding-right:.6rem}
.wide:not(.wordy) :is(th,td):first-child{position:sticky;left:0;background:var(--page)}}
@page{margin:14mm}
@media print{:root{color-scheme:light;--text:#1f2328;--dim:#59636e;--page:#fff;--panel:#f6f8fa;--line:#d1d9e0;--good:#1a7f37;--link:#0969da;--fair:#9a6700}body{font-size:9.5pt}main{padding:0}nav{display:none}h2,h3,h3+p,p:has(+.wide),p:has(+pre){break-after:avoid}figcaption{break-before:avoid}
.figures>div,tr,.wide,pre{break-inside:avoid}.wide,.figures>div{overflow:visible}pre{white-space:pre-wrap;font-size:7pt}
.figures{grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr))}.numbers{grid-template-columns:repeat(auto-fit,minmax(8rem,1fr))}
table{font-size:7.5pt}th{white-space:normal;vertical-align:bottom}th,td{padding:.2rem .5rem .2rem 0}}
)";

std::string anchor(std::string_view name) {
  std::string id;
  for (const char c : name)
    id += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : '-';
  return id;
}

constexpr double kNarrow = 560;  ///< drawings up to this width are readable on a phone when they shrink

/// The number from here to the next quotation mark; 0 if it is none.
double number_at(std::string_view svg, std::size_t at) {
  return number_from(svg.substr(at, svg.find('"', at) - at)).value_or(0);
}

/// The width that a drawing says it has; 0 if it says nothing.
double width_of(std::string_view svg) {
  const auto at = svg.find("width=\"");
  return at < svg.find('>') ? number_at(svg, at + 7) : 0;
}

/// Where the root of a drawn tree is, from the left; nothing in other drawings.
std::optional<double> root_of(std::string_view svg) {
  constexpr std::string_view kRoot = "<rect class=\"cq-root\" x=\"", kWidth = "width=\"";
  const auto at = svg.find(kRoot);
  if (at == std::string::npos) return std::nullopt;
  const auto width = svg.find(kWidth, at);
  return number_at(svg, at + kRoot.size()) + number_at(svg, width + kWidth.size()) / 2;
}

/// What stands in the first text of a drawing at this height, in its left margin; as it is written there, escaped.
std::string_view words_at(std::string_view svg, std::string_view y) {
  const auto at = svg.find(fmt::format(" x=\"24\" y=\"{}\"", y));
  if (at == std::string_view::npos) return {};
  const auto from = svg.find('>', at) + 1;
  return svg.substr(from, svg.find('<', from) - from);
}

/// The title and the legend of a drawing as text that stays in sight while the drawing scrolls under it.
std::string called(std::string_view svg) {
  const std::string_view title = words_at(svg, "26");
  if (title.empty()) return {};
  const std::string_view tree = words_at(svg, "44"), legend = tree.empty() ? words_at(svg, "46") : tree;
  return fmt::format("<p class=\"called\">{}<span>{}</span></p>", title, legend);
}

bool number_like(const std::string& cell) {
  return cell.empty() || cell == "–" || (cell[0] >= '0' && cell[0] <= '9') || cell[0] == 'x' || cell[0] == '+' ||
         cell[0] == '-';
}

}  // namespace

Page::Page(std::string title, std::string lead) : title_(std::move(title)), lead_(std::move(lead)) {}

void Page::section(std::string_view name) {
  sections_.emplace_back(name);
  body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", anchor(name), escaped(name));
}

void Page::heading(std::string_view name, std::string_view verdict, bool good) {
  body_ += fmt::format("<h3 id=\"{}\">{}", anchor(name), escaped(name));
  if (!verdict.empty())
    body_ += fmt::format(" <span class=\"verdict{}\">{}</span>", good ? " good" : "", escaped(verdict));
  body_ += "</h3>\n";
}

void Page::links(const std::vector<std::string>& headings) {
  body_ += "<nav aria-label=\"in this chapter\">";
  for (const std::string& name : headings)
    body_ += fmt::format("<a href=\"#{}\">{}</a>\n", anchor(name), escaped(name));
  body_ += "</nav>\n";
}

void Page::paragraph(std::string_view words) { body_ += fmt::format("<p>{}</p>\n", escaped(words)); }

void Page::preformatted(std::string_view words) { body_ += fmt::format("<pre>{}</pre>\n", escaped(words)); }

void Page::table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> numbers(headings.size(), true), sentences(headings.size(), false);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < numbers.size(); ++i) {
      numbers[i] = numbers[i] && number_like(row[i]);
      sentences[i] = sentences[i] || row[i].size() > 28;
    }
  }
  // Where cells are sentences a phone shows a card for each row, every cell behind its heading.
  const bool wordy = std::find(sentences.begin(), sentences.end(), true) != sentences.end();
  const auto cell = [&](const char* tag, std::size_t i, const std::string& text, const std::string& of) {
    body_ +=
        fmt::format("<{0}{1}{3}>{2}</{0}>", tag,
                    numbers[i] && i > 0 ? " class=\"n\""
                    : sentences[i]      ? " class=\"t\""
                                        : "",
                    escaped(text), wordy && i > 0 && !of.empty() ? fmt::format(" data-of=\"{}\"", escaped(of)) : "");
  };
  body_ +=
      fmt::format("<div class=\"wide{}\" tabindex=\"0\" role=\"region\" aria-label=\"table: {}\"><table><thead><tr>",
                  wordy ? " wordy" : "", headings.empty() ? "" : escaped(headings.front()));
  for (std::size_t i = 0; i < headings.size(); ++i) cell("th", i, headings[i], {});
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < row.size() && i < headings.size(); ++i) cell("td", i, row[i], headings[i]);
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::figures(const std::vector<std::string>& svgs, std::string_view caption) {
  body_ += "<figure><div class=\"figures\">\n";
  for (const std::string& svg : svgs) {
    std::string markup = svg, title;
    std::string_view box;
    // On a narrow screen plots and small drawings shrink, larger ones scroll.
    if (markup.rfind("<svg ", 0) == 0 && markup.find("cq-line") == std::string::npos && width_of(markup) > kNarrow) {
      title = called(markup);
      markup.insert(5, "class=\"large\" ");
      // A box that scrolls begins at the root of its tree. The page has no script: for a second the box must stop at a mark
      // there, then the reader may scroll it anywhere.
      if (const auto root = root_of(markup)) {
        box = " class=\"rooted\"";
        markup += fmt::format("<i style=\"left:{:.0f}px\"></i>", *root);
      }
    }
    body_ +=
        fmt::format("<div{} tabindex=\"0\" role=\"region\" aria-label=\"drawing\">{}{}</div>\n", box, title, markup);
  }
  body_ += "</div>";
  if (!caption.empty()) body_ += fmt::format("<figcaption>{}</figcaption>", escaped(caption));
  body_ += "</figure>\n";
}

void Page::numbers(const std::vector<std::pair<std::string, std::string>>& pairs) {
  body_ += "<div class=\"numbers\">";
  for (const auto& [value, meaning] : pairs) {
    body_ += fmt::format("<div><b>{}</b><span>{}</span></div>", escaped(value), escaped(meaning));
  }
  body_ += "</div>\n";
}

std::string Page::html() const {
  std::string contents;
  for (const std::string& name : sections_)
    contents += fmt::format("<a href=\"#{}\">{}</a>\n", anchor(name), escaped(name));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p class=\"lead\">{2}</p>\n<nav>{3}</nav>\n{4}"
      "</main>\n</body>\n</html>\n",
      escaped(title_), kPageStyle, escaped(lead_), contents, body_);
}

}  // namespace chasqui::show
