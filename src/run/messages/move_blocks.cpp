// SPDX-License-Identifier: MIT
#include <cstring>

#include "run/call/aligned_buffer.hpp"
#include "run/messages/outstanding.hpp"

namespace chasqui::run {
namespace {

/// The one or two pieces of memory that an interval of blocks is.
struct Pieces {
  std::size_t at[2] = {0, 0};
  std::size_t bytes[2] = {0, 0};
  std::size_t total() const { return bytes[0] + bytes[1]; }
  bool whole() const { return bytes[1] == 0; }
};

Pieces pieces_of(const std::vector<std::size_t>& offsets, const Part& part) {
  const auto blocks = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto at = [&](std::int64_t block) { return offsets[static_cast<std::size_t>(block)]; };
  Pieces pieces;
  const std::int64_t end = static_cast<std::int64_t>(part.lo) + part.len;
  pieces.at[0] = at(part.lo);
  pieces.bytes[0] = at(std::min(end, blocks)) - pieces.at[0];
  if (end > blocks) pieces.bytes[1] = at(end - blocks);
  if (pieces.bytes[0] == 0) {
    std::swap(pieces.at[0], pieces.at[1]);
    std::swap(pieces.bytes[0], pieces.bytes[1]);
  }
  return pieces;
}

}  // namespace

Task move_blocks(Group group, Script script, std::byte* data, std::vector<std::size_t> offsets, std::size_t element,
                 Operator op) {
  const auto steps = steps_of(script);
  const bool folds = op.combine != nullptr;
  std::vector<Room> aside(steps.size());
  std::vector<std::size_t> index(steps.size());
  std::vector<Pieces> pieces(steps.size());
  Outstanding messages(group);
  Transport& transport = *group.transport;
  const bool paced = script.pace.tick > 0;
  const double start = paced ? transport.clock() : 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    pieces[i] = pieces_of(offsets, steps[i].part);
    if (!steps[i].receives || pieces[i].total() == 0) continue;
    std::byte* to = data + pieces[i].at[0];
    if (folds || !pieces[i].whole()) {
      aside[i] = room_for(pieces[i].total());
      to = aside[i].data();
    }
    index[i] = messages.receive(steps[i].peer, to, pieces[i].total());
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Pieces& piece = pieces[i];
    if (piece.total() == 0) continue;
    if (steps[i].receives) {
      co_await messages.complete(index[i]);
      std::size_t from = 0;
      for (int k = 0; k < 2 && aside[i].size() != 0; ++k) {
        std::byte* to = data + piece.at[k];
        const std::byte* arrived = aside[i].data() + from;
        if (folds && piece.bytes[k] != 0) op(to, arrived, to, piece.bytes[k] / element);
        if (!folds && piece.bytes[k] != 0) std::memcpy(to, arrived, piece.bytes[k]);
        from += piece.bytes[k];
      }
      aside[i] = Room();
      continue;
    }
    const std::byte* from = data + piece.at[0];
    if (!piece.whole()) {
      aside[i] = room_for(piece.total());
      std::memcpy(aside[i].data(), data + piece.at[0], piece.bytes[0]);
      std::memcpy(aside[i].data() + piece.bytes[0], data + piece.at[1], piece.bytes[1]);
      from = aside[i].data();
    }
    if (paced) co_await Planned(transport, start + script.pace.tick * static_cast<double>(steps[i].at.ticks));
    index[i] = messages.send(steps[i].peer, from, piece.total());
  }
  for (std::size_t i = 0; i < messages.count(); ++i) {
    if (messages.open(i)) co_await messages.complete(i);
  }
}

}  // namespace chasqui::run
