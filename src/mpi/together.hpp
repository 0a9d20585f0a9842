// SPDX-License-Identifier: MIT
// Ranks that make something together, by collectives of the MPI library between which each works alone: where one of them
// fails, all throw, and nobody waits in a collective that the others never reach.
//
// Each step begins with an all-reduce of two numbers. A rank that has failed since, or in it before anything was sent, makes one
// such all-reduce too, as its last, and says so in it: the others meet it there, whatever step they have come to.
#pragma once

#include <mpi.h>

#include <exception>
#include <string>

#include "chasqui/base/error.hpp"

namespace chasqui::mpi {

/// An Error that every rank throws.
class AgreedError final : public Error {
 public:
  using Error::Error;
};

/// A text of rank `root`, on every rank. Collective.
std::string text_of(MPI_Comm comm, int root, std::string text);

class Together {
 public:
  explicit Together(MPI_Comm comm);
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// The next step: the largest of what the ranks say, or the AgreedError for the first of those that have failed. Whatever
  /// else is collective comes right after one.
  int most(int mine = 0) { return step(size_, mine, {}); }
  /// This rank has failed. Throws the AgreedError.
  [[noreturn]] void fail(const std::string& why);

 private:
  int step(int failing, int mine, const std::string& why);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

/// What `make` returns, if it returned on all ranks; otherwise all throw. Collective.
template <typename Make>
auto make_together(MPI_Comm comm, Make&& make) {
  Together together(comm);
  decltype(make(together)) made{};
  try {
    made = make(together);
    together.most();
  } catch (const AgreedError&) {
    throw;
  } catch (const std::exception& error) {
    together.fail(error.what());
  }
  return made;
}

}  // namespace chasqui::mpi
