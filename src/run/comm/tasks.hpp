// SPDX-License-Identifier: MIT
// A call as a task: on the board, by messages, or both in two levels. What the task does was decided before (Selection).
#pragma once

#include <cstdint>
#include <memory>

#include "run/choose/selection.hpp"
#include "run/comm/fabric.hpp"
#include "run/comm/node_map.hpp"
#include "run/comm/plan_cache.hpp"
#include "run/messages/message_cost.hpp"
#include "run/messages/player.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Of one communicator. Its tasks refer to it, and to all that it was made of.
class Tasks {
 public:
  Tasks(const Fabric& fabric, const NodeMap& nodes, Selection& selection, PlanCache& plans)
      : fabric_(fabric), nodes_(nodes), selection_(selection), plans_(plans) {}

  /// REQUIRES contiguous layouts and good arguments. The call's messages have this tag.
  Task of(Call call, Choice choice, std::uint32_t tag);

  /// On the board of this rank's node. REQUIRES that there is no objection to the method.
  Task on_board(Call call, Method method);
  /// On a board that does not span all ranks, by whichever method it has for that. REQUIRES elements that fit it.
  Task inside_node(Call call);
  Task by_messages(Group group, Call call, Choice choice);

  Group all_ranks(std::uint32_t tag) const;
  std::shared_ptr<const Program> program_for(const Group& group, const Call& call, const Choice& choice);
  /// Of the messages between nodes, made once for each shape: make() says which.
  template <typename Make>
  std::shared_ptr<const Program> program_between_nodes(const Shape& shape, const Choice& choice, const Make& make) {
    return plans_.program({shape, choice.method, choice.parts, true}, [&] { return in_pieces(make(), fabric_.piece); });
  }
  Machine machine() const;

  int rank() const { return fabric_.rank; }
  const Topology& topology() const { return selection_.topology(); }
  const NodeMap& nodes() const { return nodes_; }
  Selection& selection() { return selection_; }

 private:
  Task by_lanes(Call call, std::int64_t lanes, std::uint32_t tag);

  const Fabric& fabric_;
  const NodeMap& nodes_;
  Selection& selection_;
  PlanCache& plans_;
};

/// One rank of each node, its leader, talks to the other nodes, the others through the board to their leader.
Task in_two_levels(Tasks& tasks, Call call, std::uint32_t tag);

}  // namespace chasqui::run
