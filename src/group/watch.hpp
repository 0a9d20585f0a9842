// SPDX-License-Identifier: MIT
// Who of a group's processes on one host is alive. Every process holds a lock on its byte of a file that has no name; the kernel takes it away when
// the process ends, however it ends. (Process locks, not those of open files: children that a process forks do not have
// them.) Nothing is sent, and nobody needs to be asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "group/meeting.hpp"
#include "group/proof.hpp"

namespace chasqui::group {

/// A process among all that share a kernel.
struct Process {
  pid_t id = 0;
  Nonce nonce{};

  friend bool operator==(const Process&, const Process&) = default;
};

class Watch {
 public:
  Watch(Meeting& meeting, int host);  ///< collective

  int host() const { return host_; }  ///< which
  bool alive(int rank);               ///< of that host; asks the kernel

 private:
  struct Files;

  int host_;
  std::shared_ptr<Files> files_;
  std::vector<Process> processes_;
  std::mutex mutex_;
  std::vector<char> dead_;
};

}  // namespace chasqui::group
