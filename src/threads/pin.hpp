// SPDX-License-Identifier: MIT
// Binding threads to cores, so that those that wait for each other do not sit on one while others idle. Teams of one
// process take different cores as long as there are any; processes that a launcher has put on one node, each allowed to
// use all of it, take a share each. Programs that know nothing of each other cannot avoid each other.
#pragma once

#include <utility>
#include <vector>

#include "chasqui/model/nearness.hpp"

namespace chasqui::threads {

/// The cores of one team, while it lives.
class CoreClaim {
 public:
  CoreClaim() = default;  ///< none
  /// `n` of the cores this process may use: those that fewest living teams have, the first of them. None where there are
  /// not so many.
  explicit CoreClaim(int n);
  ~CoreClaim();
  CoreClaim(CoreClaim&& other) noexcept { std::swap(cores_, other.cores_); }
  CoreClaim& operator=(CoreClaim&& other) noexcept {
    std::swap(cores_, other.cores_);
    return *this;
  }

  /// Binds the calling thread to the index-th of them. False when it was not possible or there are none.
  bool pin_this_thread(int index) const;
  const std::vector<int>& cores() const { return cores_; }  ///< places among the cores this process may use
  std::vector<Seat> seats() const;                          ///< of each of them

 private:
  std::vector<int> cores_;
};

/// `n` of the places first .. last-1, those with the fewest uses, in order; none where there are fewer.
std::vector<int> least_used(const std::vector<int>& uses, int first, int last, int n);

/// How a process shares a node with others that a launcher started there; what it told them.
struct Neighbours {
  int rank = 0, size = 1;
};
Neighbours neighbours_from_environment();

/// Which of its `allowed` cores, of `all` of the machine, a process takes: first and last+1. All, where the neighbours may
/// well have others; else a share of its own.
std::pair<int, int> own_share(int allowed, int all, const Neighbours& neighbours);

}  // namespace chasqui::threads
