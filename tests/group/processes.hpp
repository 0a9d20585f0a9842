// SPDX-License-Identifier: MIT
// Ranks as forked processes, for tests.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chasqui/run/comm.hpp"

namespace chasqui::group {

/// How one process ended.
struct End {
  int signal = 0;    ///< that killed it
  int status = 0;    ///< of its exit
  std::string text;  ///< what it threw, or returned
};

/// Started and not yet waited for.
class Processes {
 public:
  Processes() = default;
  ~Processes();  ///< kills what is left
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void start(const std::function<std::string()>& body);  ///< exit status 1 when it throws
  pid_t process(std::size_t which) const { return children_[which].process; }
  End end(std::size_t which);  ///< waits for it

 private:
  struct Child {
    pid_t process = 0;
    int output = -1;
  };
  std::vector<Child> children_;
};

/// `n` of them, each with its rank.
std::vector<End> run_ranks(int n, const std::function<std::string(int rank)>& body);

/// Forks in the midst of a call that is in flight; the child gives its copy of the communicator back, and ends. Throws if it does not end well.
/// What the collectives bring afterwards, which all ranks call.
std::string with_a_child_that_ends(std::unique_ptr<run::Comm> comm);

/// A folder of its own for each test, gone at its end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  bool empty() const;

 private:
  std::string path_;
};

}  // namespace chasqui::group
