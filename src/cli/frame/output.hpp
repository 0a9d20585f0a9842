// SPDX-License-Identifier: MIT
// Where a command prints, and what may be printed there: colour only on terminals and never with NO_COLOR,
// UTF-8 only where the locale says so, tables no wider than the terminal (80 columns elsewhere).
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace chasqui::cli {

class Output {
 public:
  Output(std::FILE* stream, bool colour, bool utf8, int width, std::FILE* errors = stderr)
      : stream_(stream), errors_(errors), colour_(colour), utf8_(utf8), width_(width) {}

  /// Standard output, judged by isatty, NO_COLOR, TERM, LC_ALL/LC_CTYPE/LANG and the terminal's size.
  static Output standard();
  /// Prints nothing at all: a rank for which another one speaks.
  static Output silent() { return {nullptr, false, false, 80}; }

  template <typename... Args>
  void print(fmt::format_string<Args...> text, Args&&... args) {
    write(fmt::format(text, std::forward<Args>(args)...));
  }
  void write(std::string_view text);
  /// On the error stream.
  void error(std::string_view text);
  /// Throws Error if anything could not be written.
  void flush();

  bool terminal() const;  ///< does somebody read this on a terminal?
  bool colour() const { return colour_; }
  bool utf8() const { return utf8_; }
  int width() const { return width_; }

  std::string bold(std::string_view text) const { return paint(text, "1"); }
  std::string dim(std::string_view text) const { return paint(text, "2"); }
  std::string good(std::string_view text) const { return paint(text, "32"); }
  std::string bad(std::string_view text) const { return paint(text, "31"); }

 private:
  std::string paint(std::string_view text, std::string_view code) const;

  std::FILE* stream_;
  std::FILE* errors_;
  bool colour_;
  bool utf8_;
  int width_;
};

/// Words of `text` filled into lines of `width`, each but the first indented.
std::string wrap(const std::string& text, std::size_t indent, std::size_t width);

/// Lines that are longer than `width` go on below the beginning of their last column, which two spaces part from what is before it.
std::string fit(const std::string& text, int width);

/// Throws the Error that write_file() would, as far as it can be foreseen. Writes nothing.
void check_writable(const std::string& path);

/// Writes a whole file or none ("-": standard output). Throws Error naming the path and the reason.
void write_file(const std::string& path, std::string_view text, Output& out);

/// A folder to write into, with those above it; one that is there will do. Throws Error naming it and the reason.
void make_folder(const std::string& path);

}  // namespace chasqui::cli
