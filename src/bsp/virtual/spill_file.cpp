// SPDX-License-Identifier: MIT
#include "bsp/virtual/spill_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/reserve.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

namespace {

const std::uint64_t kPage = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

[[noreturn]] void io_failed(const char* doing, const std::string& directory, int error) {
  throw MachineError(Fault::resources, fmt::format("spill file in {}: {}: {}; free disk or choose another directory",
                                                   directory, doing, std::strerror(error)));
}

}  // namespace

SpillFile::SpillFile(const std::string& directory) : directory_(directory) {
  file_ = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ < 0) {  // not every file system has nameless files
    std::string name = directory + "/chasqui-spill-XXXXXX";
    file_ = mkstemp(name.data());
    if (file_ < 0) io_failed("create", directory, errno);
    unlink(name.c_str());
  }
}

SpillFile::~SpillFile() { close(file_); }

std::uint64_t SpillFile::allocate(std::uint64_t bytes) {
  const std::uint64_t needed = pages(bytes);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second >= needed && (best == free_.end() || it->second < best->second)) best = it;
  }
  std::uint64_t offset = end_;
  if (best != free_.end()) {
    offset = best->first;
    const std::uint64_t rest = best->second - needed;
    free_.erase(best);
    if (rest > 0) free_[offset + needed] = rest;
  } else {
    end_ += needed;
  }
  if (const int error = reserve(file_, offset, needed); error != 0) {
    release(offset, bytes);
    io_failed("reserve", directory_, error);
  }
  return offset;
}

void SpillFile::release(std::uint64_t offset, std::uint64_t bytes) noexcept {
  std::uint64_t length = pages(bytes);
  (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(length));
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + length) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += length;
      return;
    }
  }
  try {
    free_[offset] = length;
  } catch (const std::bad_alloc&) {  // it is not used again: the disk has its pages back
  }
}

void SpillFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) io_failed("write", directory_, errno);
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void SpillFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) io_failed("read", directory_, errno);
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

std::byte* SpillFile::map(std::uint64_t offset, std::uint64_t bytes, std::byte* hint) {
  void* const at = mmap(hint, pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(offset));
  if (at == MAP_FAILED) io_failed("map", directory_, errno);
  return static_cast<std::byte*>(at);
}

void SpillFile::unmap(std::byte* at, std::uint64_t bytes) noexcept { munmap(at, pages(bytes)); }

void SpillFile::read_ahead(std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)posix_fadvise(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

void SpillFile::write_behind(std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)sync_file_range(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

void SpillFile::forget(std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)posix_fadvise(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_DONTNEED);
}

}  // namespace chasqui::bsp::detail
