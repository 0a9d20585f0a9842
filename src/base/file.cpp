// SPDX-License-Identifier: MIT
#include "chasqui/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr std::size_t kLongestFile = std::size_t{1} << 30;    ///< a schedule of 10^7 messages has 6 * 10^8 bytes
constexpr std::size_t kMostOfADevice = std::size_t{1} << 20;  ///< /dev/zero has no end

[[noreturn]] void refuse_to_read(std::string_view path, std::string_view remedy) {
  throw Error("{}: cannot be read ({}): {}", path, std::strerror(errno), remedy);
}

std::string read_all(std::FILE* file, std::string_view path, std::string_view remedy) {
  struct stat status {};
  const bool device = ::fstat(::fileno(file), &status) == 0 && S_ISCHR(status.st_mode);
  const std::size_t most = device ? kMostOfADevice : kLongestFile;
  std::string text;
  if (S_ISREG(status.st_mode)) text.reserve(std::min(static_cast<std::size_t>(status.st_size), most));
  char block[1 << 16];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file)) > 0;) {
    if (text.size() + got > most)
      throw Error("{}: longer than {} MiB, which no file of ours is: {}", path, most >> 20, remedy);
    text.append(block, got);
  }
  if (std::ferror(file) != 0) refuse_to_read(path, remedy);
  return text;
}

[[noreturn]] void refuse_to_write(const std::string& path, int why) {
  throw Error("{}: cannot write it ({}): choose a place that exists, is writable and has room", path,
              std::strerror(why));
}

/// What a new file gets. Asked of the system and not by umask(), which would change it for other threads too.
mode_t usual_mode() {
  const File status(std::fopen("/proc/self/status", "r"));
  char line[256];
  unsigned mask = 0;
  while (status && std::fgets(line, sizeof line, status.get()) != nullptr) {
    if (std::sscanf(line, "Umask: %o", &mask) == 1) return 0666 & ~static_cast<mode_t>(mask);
  }
  return 0600;
}

/// A new file beside `path` that only its owner may read, whose name is put into `name`.
File draft_beside(const std::string& path, std::string& name) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = fmt::format("{}.{:08x}{:08x}.part", path, random(), random());
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) return File(::fdopen(file, "wb"));
    if (errno != EEXIST) break;
  }
  refuse_to_write(path, errno);
}

}  // namespace

std::string read_file(const std::string& path, std::string_view remedy) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse_to_read(path, remedy);
  return read_all(file.get(), path, remedy);
}

std::string read_input(const std::string& path, std::string_view remedy) {
  return path == "-" ? read_all(stdin, "standard input", remedy) : read_file(path, remedy);
}

void replace_file(const std::string& path, std::string_view text) {
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0, in_place = there && !S_ISREG(status.st_mode);
  const mode_t mode = there ? status.st_mode & 0777 : usual_mode();
  std::string draft;
  File file = in_place ? File(std::fopen(path.c_str(), "wb")) : draft_beside(path, draft);
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                       std::fflush(file.get()) == 0 && (in_place || ::fchmod(::fileno(file.get()), mode) == 0) &&
                       std::fclose(file.release()) == 0;
  if (written && (in_place || std::rename(draft.c_str(), path.c_str()) == 0)) return;
  const int why = errno;
  if (!in_place) ::unlink(draft.c_str());
  refuse_to_write(path, why);
}

}  // namespace chasqui
