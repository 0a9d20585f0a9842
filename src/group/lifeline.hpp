// SPDX-License-Identifier: MIT
// A host that vanishes (power, a cable) closes no connection. The sockets at which a group on several hosts met are kept, and the
// kernels at both ends ask each other now and then: also while the processes compute. Who waits in a call looks at them. Two
// processes keep one, however many communicators they share: descriptors are few.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "group/socket.hpp"

namespace chasqui::group {

/// CHASQUI_SILENCE: seconds without a word from another host after which it counts as gone; 0: never. Throws an Error for what is
/// no such number.
double silence_from_environment();

/// Of one process, for all communicators of its group.
class Lifeline {
 public:
  /// `silence` as above, not 0.
  explicit Lifeline(double silence) : silence_(silence) {}
  double silence() const { return silence_; }
  /// Keeps a socket to a rank of the group, on another host. Where there is one already both ends have it, and drop the new one.
  void keep(int rank, Socket socket);
  /// Does the host of that rank not answer any more?
  bool silent(int rank);

 private:
  struct Line {
    Socket socket;
    bool silent = false;

    void look();
  };
  double silence_;
  std::mutex mutex_;
  std::map<int, Line> lines_;  ///< by rank
};

/// What one communicator watches of it.
class Lookout {
 public:
  explicit Lookout(std::shared_ptr<Lifeline> lifeline) : lifeline_(std::move(lifeline)) {}
  void watch(int rank, std::string name) { others_.emplace_back(rank, std::move(name)); }
  /// Throws an Error that names a rank whose host does not answer any more: once for each.
  void look();

 private:
  std::shared_ptr<Lifeline> lifeline_;
  std::vector<std::pair<int, std::string>> others_;  ///< ranks of the group, and their names here
  double looked_ = 0;                                ///< when
};

}  // namespace chasqui::group
