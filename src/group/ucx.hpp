// SPDX-License-Identifier: MIT
// Messages between processes of several hosts, by UCX. The library is loaded when the first group needs it: on one node
// nothing of it is in the process, neither its signal handlers nor its hooks.
//
// Each communicator has a worker of its own: messages that a failed one leaves behind are nobody else's, and threads with a
// communicator each do not meet here. A rank that ends, or gives its communicator back, closes its connections; so everybody
// connects to whom it sends to or waits for, and a message that will not come any more ends in an Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "group/meeting.hpp"
#include "run/faults/post.hpp"
#include "run/messages/transport.hpp"

namespace chasqui::group {

struct Wires {
  std::shared_ptr<run::Transport> messages;
  std::shared_ptr<run::Post> post;
  std::function<void()> progress;  ///< lets messages go on
};

/// Collective. Throws an Error on all ranks, where UCX is missing, too.
Wires connect_by_ucx(Meeting& all);

}  // namespace chasqui::group
