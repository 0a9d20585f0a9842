// SPDX-License-Identifier: MIT
// A host that vanishes (power, a cable) closes no connection. The sockets at which a group on several hosts met are kept, and the
// kernels at both ends ask each other now and then: also while the processes compute. Who waits in a call looks at them.
#pragma once

#include <string>
#include <vector>

#include "group/socket.hpp"

namespace chasqui::group {

/// CHASQUI_SILENCE: seconds without a word from another host after which it counts as gone; 0: never. Throws an Error for what is
/// no such number.
double silence_from_environment();

class Lifeline {
 public:
  /// Of rank 0: a socket to each rank, its own is not open. Elsewhere: one to rank 0. names: of all ranks. `silence` as above.
  Lifeline(std::vector<Socket> others, std::vector<std::string> names, double silence);
  /// Throws an Error that names a rank whose host does not answer any more.
  void look();

 private:
  std::vector<Socket> others_;
  std::vector<std::string> names_;
  double silence_;
  double looked_ = 0;  ///< when
};

}  // namespace chasqui::group
