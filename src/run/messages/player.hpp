// SPDX-License-Identifier: MIT
// Plays the moves of one rank over point-to-point messages. Between the wake-up of a rank and its first message lies
// nothing but this loop: where latency counts, every line of memory that planning touches would be paid again each call.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run/call/aligned_buffer.hpp"
#include "run/messages/program.hpp"
#include "run/messages/transport.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Memory of one playing, which may serve the next one.
struct Stage {
  std::vector<Transport::Ticket> tickets;
  Room values;

  /// Makes room; nothing happens where there is enough.
  void fit(const Moves& moves, std::size_t bytes);
};

class Playing final : public Waiting {
 public:
  /// Moves, call and stage must outlive this object; the stage serves one playing at a time. The group's members too.
  Playing(const Moves& moves, const Group& group, const Call& call, Stage& stage);
  /// Messages that are still under way are abandoned.
  ~Playing();
  Playing(const Playing&) = delete;
  Playing& operator=(const Playing&) = delete;

  /// Goes on as far as it can; true at the end.
  bool ready() override;
  void block() override;

 private:
  std::byte* at(Spot spot) const {
    if (spot >= 0) return room_ + static_cast<std::size_t>(spot) * bytes_;
    return spot == kOwn ? own_ : spot == kTarget ? target_ : nullptr;
  }
  bool done(std::size_t index);
  void end_sends();

  const Moves& moves_;
  Transport& transport_;
  const Group& group_;
  const Call& call_;
  Transport::Ticket* tickets_;  ///< of the receives, then of the sends in their order
  std::byte* room_;
  std::byte* own_;
  std::byte* target_;
  std::size_t bytes_;
  std::size_t begun_;      ///< tickets given out
  std::size_t next_ = 0;   ///< move
  std::size_t ended_;      ///< sends that are done with, counted from the first ticket of a send
  std::size_t waits_ = 0;  ///< ticket
};

/// The same as a task.
Task play(Group group, std::shared_ptr<const Moves> moves, Call call);

}  // namespace chasqui::run
