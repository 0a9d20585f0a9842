// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"

namespace chasqui {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string read_all(std::FILE* file, const std::string& name) {
  std::string text;
  char block[1 << 16];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file)) > 0;) text.append(block, got);
  if (std::ferror(file) != 0) {
    throw Error("{}: cannot read it ({}): give the name of a schedule file", name, std::strerror(errno));
  }
  return text;
}

/// `shown` is what a complaint calls the file.
void write_all(const std::string& name, const std::string& text, const std::string& shown) {
  File file(std::fopen(name.c_str(), "wb"));
  const bool written =
      file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
  if (!written) {
    const int why = errno;
    throw Error("{}: cannot write it ({}): choose a place that exists, is writable and has room", shown,
                std::strerror(why));
  }
}

}  // namespace

Schedule read_schedule(const std::filesystem::path& path) {
  if (path == "-") return schedule_from_json(read_all(stdin, "standard input"), "standard input");
  const std::string name = path.string();
  std::string text;
  {
    const File file(std::fopen(name.c_str(), "rb"));
    if (!file) throw Error("{}: cannot open it ({}): give the name of a schedule file", name, std::strerror(errno));
    text = read_all(file.get(), name);
  }
  return schedule_from_json(text, name);
}

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
  const std::string text = to_json(schedule);
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    write_all(path.string(), text, path.string());
    return;
  }
  const std::string temporary = fmt::format("{}.{}.part", path.string(), ::getpid());
  std::error_code failure;
  try {
    write_all(temporary, text, path.string());
    std::filesystem::rename(temporary, path, failure);
  } catch (...) {
    std::filesystem::remove(temporary, ignored);
    throw;
  }
  if (failure) {
    std::filesystem::remove(temporary, ignored);
    throw Error("{}: cannot write it ({}): choose another name", path.string(), failure.message());
  }
}

}  // namespace chasqui
