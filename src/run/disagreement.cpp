// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"
#include "chasqui/run/board_collectives.hpp"

namespace chasqui::run {
namespace {

std::string text(const Called& call) {
  std::string words(to_string(call.kind()));
  if (call.exclusive()) words = "exclusive " + words;
  if (has_root(call.kind())) words += fmt::format(" with root {}", call.root());
  if (call.kind() != Kind::barrier) words += fmt::format(" of {} bytes", call.bytes);
  return words;
}

}  // namespace

void throw_disagreement(const Board& board, int other) {
  const std::uint64_t now = board.current();
  for (std::uint64_t number = now > 2 * kSlotRing ? now - 2 * kSlotRing + 1 : 1; number <= now; ++number) {
    const auto own = board.call_of(board.rank(), number), theirs = board.call_of(other, number);
    if (!own || !theirs || *own == *theirs) continue;
    const std::string ago = number == now ? "" : fmt::format(", {} before this one", now - number == 1 ? "the call" : fmt::format("{} calls", now - number));
    if (own->what == theirs->what) {
      throw Error("{}: rank {} called with {} bytes, rank {} with {}{}: all ranks must pass the same size",
                  to_string(own->kind()), board.rank(), own->bytes, other, theirs->bytes, ago);
    }
    throw Error("rank {} called {}, rank {} called {}{}: all ranks must make the same calls, in the same order",
                board.rank(), text(*own), other, text(*theirs), ago);
  }
  throw Error("ranks {} and {} have not made the same calls: kinds, roots and sizes must be the same, in the same order",
              board.rank(), other);
}

}  // namespace chasqui::run
