// SPDX-License-Identifier: MIT
// Disk in place of memory: extents of one unlinked file, mapped while their processor runs. Pages go to disk
// behind the program's back after unmapping and are asked for ahead of mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace chasqui::bsp::detail {

class SpillFile {
 public:
  /// Throws MachineError(resources) when no file can be made in `directory`.
  explicit SpillFile(const std::string& directory);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// An extent of `bytes`, its offset a multiple of the page size. Disk is reserved now, so that a full disk
  /// is an error here and not a signal later.
  std::uint64_t allocate(std::uint64_t bytes);
  void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void read(std::uint64_t offset, std::span<std::byte> bytes);

  /// At `hint` when that place is free.
  std::byte* map(std::uint64_t offset, std::uint64_t bytes, std::byte* hint);
  void unmap(std::byte* at, std::uint64_t bytes) noexcept;

  void read_ahead(std::uint64_t offset, std::uint64_t bytes) noexcept;
  void write_behind(std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// The pages are on disk or on their way: the system may take their memory.
  void forget(std::uint64_t offset, std::uint64_t bytes) noexcept;

  std::uint64_t size() const { return end_; }

 private:
  int file_ = -1;
  std::uint64_t end_ = 0;
  std::string directory_;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< offset -> length, coalesced
};

}  // namespace chasqui::bsp::detail
