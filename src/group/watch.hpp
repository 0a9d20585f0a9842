// SPDX-License-Identifier: MIT
// Who of a group is alive. Every process holds a lock on its byte of a file that has no name; the kernel takes it away when
// the process ends, however it ends. (Process locks, not those of open files: children that a process forks do not have
// them.) Nothing is sent, and nobody needs to be asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "group/meeting.hpp"

namespace chasqui::group {

class Watch {
 public:
  explicit Watch(Meeting& meeting);  ///< collective

  bool alive(int rank);  ///< asks the kernel
  int size() const { return static_cast<int>(processes_.size()); }
  pid_t process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

 private:
  Socket file_;
  std::vector<pid_t> processes_;
  std::mutex mutex_;
  std::vector<char> dead_;
};

}  // namespace chasqui::group
