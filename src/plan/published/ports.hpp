// SPDX-License-Identifier: MIT
// When can a message be sent? Each rank's sends and receptions so far; a new message goes to the earliest legal time
// that is no earlier than its sender's last send. For schedules written by hand, not for good ones.
#pragma once

#include <set>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

class Ports {
 public:
  explicit Ports(const LogP& machine);

  /// Books a message that may begin at `ready` and returns when it begins. Time: logarithmic, plus one step per
  /// collision passed over.
  Time place(Rank from, Rank to, Time ready);

 private:
  struct Port {
    std::set<Time> sends;
    std::set<Time> receptions;
  };
  Time next_legal(const Port& from, const Port& to, Time begin) const;

  LogP machine_;
  std::vector<Port> ports_;
};

}  // namespace chasqui::plan
