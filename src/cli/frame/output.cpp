// SPDX-License-Identifier: MIT
#include "cli/frame/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    for (std::string_view mark : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
      if (value.find(mark) != std::string_view::npos) return true;
    }
    return false;
  }
  return false;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<int>(size.ws_col, 40, 400);
}

}  // namespace

Output Output::standard() {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const bool colour = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {stdout, colour, locale_is_utf8(), terminal ? terminal_width() : 80};
}

void Output::write(std::string_view text) {
  if (stream_ == nullptr) return;
  wipe_progress();
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) {
    throw Error("standard output: {}", std::strerror(errno));
  }
}

void Output::error(std::string_view text) {
  if (stream_ == nullptr) return;
  wipe_progress();
  std::fwrite(text.data(), 1, text.size(), errors_);  // where nobody reads it, the exit status still says it
}

void Output::flush() {
  if (stream_ != nullptr && std::fflush(stream_) != 0) throw Error("standard output: {}", std::strerror(errno));
}

bool Output::terminal() const { return stream_ != nullptr && isatty(fileno(stream_)) != 0; }

std::string Output::paint(std::string_view text, std::string_view code) const {
  return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string wrap(const std::string& text, std::size_t indent, std::size_t width) {
  std::string lines;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string fit(const std::string& text, int width) {
  constexpr std::size_t kLeast = 20;  // a column that has less room is left as it is
  const auto room = static_cast<std::size_t>(width);
  std::string fitted;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t gap = line.rfind("  ");
    const std::size_t column = gap == std::string::npos ? 0 : gap + 2;
    const bool fits = line.size() <= room || column + kLeast > room;
    fitted += fits ? line : line.substr(0, column) + wrap(line.substr(column), column, room);
    fitted += '\n';
  }
  return fitted;
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code none;
  const auto kind = std::filesystem::status(path, none).type();
  const bool there = kind != std::filesystem::file_type::not_found;
  const bool replaced = !there || kind == std::filesystem::file_type::regular;  // by a new file in the same folder
  if ((!there || access(path.c_str(), W_OK) == 0) &&
      (!replaced || access(folder.empty() ? "." : folder.c_str(), W_OK) == 0))
    return;
  throw Error("{}: cannot write it ({}): choose a place that exists, is writable and has room", path,
              std::strerror(errno));
}

void write_file(const std::string& path, std::string_view text, Output& out) {
  path == "-" ? out.write(text) : replace_file(path, text);
}

void make_folder(const std::string& path) {
  std::error_code why;
  std::filesystem::create_directories(path, why);
  if (why) throw Error("{}: the folder cannot be made ({}): give another one", path, why.message());
}

}  // namespace chasqui::cli
