// SPDX-License-Identifier: MIT
#include "run/board/node_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <vector>

#include "run/board/affordable.hpp"
#include "run/wait/cores.hpp"
#include "run/wait/seats.hpp"

namespace chasqui::run {
namespace {

/// Bytes of the third cache; 0 where there is none, or nobody says.
std::size_t last_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::size_t kibibytes = 0;
  file >> kibibytes;
  return kibibytes * 1024;
}

std::atomic<std::size_t> held{0};  ///< bytes of the boards that this process has

BoardShape usual_or_small(const NodeRanks& node, std::size_t ring, const Boards& boards) {
  if (boards.calls == Boards::lines) return BoardShape::for_lines(node.size());
  if (boards.calls == Boards::slots) return BoardShape::for_slots(node.size());
  if (boards.stage != 0) return BoardShape::for_ranks(node.size(), boards.stage, kShortWide);
  return affordable_shape(node.size(), ring, {node.free_memory(), held.load(), last_cache()});
}

constexpr std::size_t kPage = 4096;

// All pages come into this process's page table before the first call: a long ring brings a call new pages for a long time, and 60 faults take
// as long as an all-gather of 16 KiB among 16 ranks. Where all ranks write to all pages at once, as MAP_POPULATE does, they wait for each other at
// every page. Here each page is made by one rank, and then entered by the others, of whose faults the kernel makes one for some 16 pages.

/// Of so many pages, which nobody has used yet, this rank makes its part.
void make_pages(std::byte* memory, std::size_t pages, const NodeRanks& node) {
  const auto rank = static_cast<std::size_t>(node.rank()), ranks = static_cast<std::size_t>(node.size());
  for (std::size_t i = pages * rank / ranks; i < pages * (rank + 1) / ranks; ++i)
    *static_cast<volatile unsigned char*>(static_cast<void*>(memory + i * kPage)) = 0;
}
void enter_pages(const std::byte* memory, std::size_t pages) {
  for (std::size_t i = 0; i < pages; ++i)
    static_cast<void>(*static_cast<const volatile unsigned char*>(static_cast<const void*>(memory + i * kPage)));
}

/// One behind the other in the same memory.
std::vector<std::shared_ptr<Board>> make_boards(NodeRanks& node, int cores, const BoardShape& shape, int number) {
  const std::size_t each = (shape.bytes() + kPage - 1) / kPage * kPage, bytes = each * static_cast<std::size_t>(number);
  const int file = node.open_memory(node.rank() == 0 && bytes <= node.free_memory() ? bytes : 0);
  void* const memory = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  const bool works = memory != MAP_FAILED;
  if (works) {
    held += bytes;
    make_pages(static_cast<std::byte*>(memory), bytes / kPage, node);
  }
  std::shared_ptr<std::byte> mapped(works ? static_cast<std::byte*>(memory) : nullptr, [bytes](std::byte* given_back) {
    if (given_back == nullptr) return;
    held -= bytes;
    munmap(given_back, bytes);
  });
  std::vector<std::shared_ptr<Board>> made;
  if (!node.agreed(works)) return made;
  enter_pages(static_cast<const std::byte*>(memory), bytes / kPage);
  for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
    made.emplace_back(new Board(mapped.get() + each * i, shape, node.rank(), cores),
                      [mapped](Board* board) { delete board; });
  }
  return made;
}

}  // namespace

int cores_of(NodeRanks& node) {
  Cores cores = process_cores();
  int words = static_cast<int>(cores.mask.size());  // most machines need one or two of them
  while (words > 1 && cores.mask[static_cast<std::size_t>(words) - 1] == 0) --words;
  words = node.most(words);
  const auto length = static_cast<std::size_t>(words);
  std::vector<std::uint64_t> mine(cores.mask.begin(), cores.mask.begin() + words);
  mine.push_back(static_cast<std::uint64_t>(cores.quota));
  const auto all = node.gather(mine.data(), mine.size());
  for (std::size_t at = 0; at < all.size(); at += length + 1) {
    for (std::size_t i = 0; i < length; ++i) cores.mask[i] |= all[at + i];
    cores.quota = std::min(cores.quota, static_cast<int>(all[at + length]));
  }
  return cores.count();
}

std::vector<std::shared_ptr<Board>> make_boards(NodeRanks& node, int cores, std::size_t ring, const Boards& boards) {
  auto shape = usual_or_small(node, ring, boards);
  struct Said {
    std::size_t stage, ring, wide;
    std::array<std::int64_t, kSharedKinds> seat;  // no gaps between members: all bytes are sent
  };
  Said mine{shape.stage, shape.ring, shape.wide, {}};
  const auto declared = declared_seat(node.rank(), node.size());
  const Seat seat = declared ? *declared : seat_of(process_cores());
  std::copy(seat.begin(), seat.end(), mine.seat.begin());
  const std::vector<Said> all = node.gather(&mine);
  shape.stage = all[0].stage;  // as the first one says
  shape.ring = all[0].ring;
  shape.wide = all[0].wide;
  std::vector<Seat> seats(all.size());
  for (std::size_t r = 0; r < all.size(); ++r)
    std::transform(all[r].seat.begin(), all[r].seat.end(), seats[r].begin(),
                   [](auto unit) { return static_cast<int>(unit); });
  shape.near = nearness_of(seats);  // of the same seats on all ranks: all find the same levels
  return make_boards(node, cores, shape, boards.number);
}

std::shared_ptr<Board> make_board(NodeRanks& node, int cores, const BoardShape& shape) {
  const auto made = make_boards(node, cores, shape, 1);
  return made.empty() ? nullptr : made.front();
}

}  // namespace chasqui::run
