// SPDX-License-Identifier: MIT
// Where the data of a rank lies, as it tells the others who come for it, and who is using it.
#pragma once

#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"

namespace chasqui::run {

/// What a rank publishes: how much it has, where its data is and where its result goes.
struct Exposed {
  std::uint64_t bytes;
  const std::byte* in;
  std::byte* out;
  const std::int64_t* counts;  ///< uneven blocks: elements of each
  const std::int64_t* first;   ///< and where it begins
};
static_assert(sizeof(Exposed) <= kLinePayload);

inline Exposed exposed_by(const Call& call, int me) {
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in);
  if (call.kind == Kind::broadcast) in = out;
  if (in == nullptr) {
    const bool own_block = call.kind == Kind::allgather || call.kind == Kind::gather;
    in = own_block ? out + static_cast<std::size_t>(me) * call.bytes() : out;
  }
  return {call.bytes(), in, out, call.in_blocks.counts, call.in_blocks.first};
}

/// This rank is using the memory of others while one of these is open. Closed while it waits: who withdraws its buffers
/// waits for those who use them, never for those who wait.
class Using {
 public:
  explicit Using(Board& board) : board_(board) {}
  ~Using() { close(); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

  void open() {
    if (!open_ && !board_.buffers().enter(board_.current())) throw Error("{}", board_.notice().why());
    open_ = true;
  }
  void close() {
    if (open_) board_.buffers().leave();
    open_ = false;
  }

 private:
  Board& board_;
  bool open_ = false;
};

/// This rank's line says its whole size, as Exposed do.
inline void publish_size(Board& board, const Call& call) {
  const std::uint64_t bytes = call.bytes();
  board.publish(board.rank(), &bytes, sizeof bytes);
}

/// Throws the Error for ranks that called different things, with all bits of the size. REQUIRES board.published(other),
/// by publish_size or with Exposed.
inline void check_size(const Board& board, const Call& call, int other) {
  std::uint64_t bytes = 0;
  board.read(other, &bytes, sizeof bytes);
  if (bytes != call.bytes()) board.disagree(other);
}

/// Throws the Error for an uneven block that is not as long as its receiver says.
inline void check_length(const Call& call, int from, std::uint64_t given, int to, std::uint64_t taken) {
  if (given == taken) return;
  throw Error("{}: rank {} gives {} bytes to rank {}, which takes {}", to_string(call.kind), from, given, to, taken);
}

/// Throws an Error for elements too large to be cut.
inline void check_element(const Board& board, const Call& call) {
  if (call.element <= board.shape().stage / 4) return;
  throw Error("{}: an element of {} bytes does not fit a quarter of the board's stage of {}", to_string(call.kind),
              call.element, board.shape().stage);
}

inline Exposed read_exposed(const Board& board, const Call& call, int other) {
  check_size(board, call, other);
  Exposed places;
  board.read(other, &places, sizeof places);
  return places;
}

/// An all-to-all of pages that the ranks lend each other. `told`: all have told the sizes of their blocks, and they fit; else each tells its
/// own when it has lent its first pages. The others may still be taking from whoever is done.
Task lend_and_take(Board& board, LentPages& pages, const Call& call, bool told);

/// What an exchange takes from the memory of the other processes, who have all told where it lies. `givers`: a bit for each rank that has
/// something for this one; from rank 63 on one for all. `lent`: their pages are lent instead; nullptr: they are not.
Task take_from_memory(Board& board, ProcessMemory& memory, const Call& call, const std::vector<Exposed>& all,
                      std::uint64_t givers, LentPages* lent);
inline constexpr std::uint64_t kAllGive = ~std::uint64_t{0};

}  // namespace chasqui::run
