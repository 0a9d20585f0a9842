// SPDX-License-Identifier: MIT
// Ranks that make something together, by exchanges between which each works alone: where one of them fails, all throw, and
// nobody waits in an exchange that the others never reach.
//
// Each step begins with an all-reduce of two numbers. A rank that has failed since, or in it before anything was sent, makes one
// such all-reduce too, as its last, and says so in it: the others meet it there, whatever step they have come to.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <string>

#include "chasqui/base/error.hpp"

namespace chasqui::mpi {

/// How these ranks talk to each other. All ranks ask alike, in one order.
class Talk {
 public:
  Talk(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Talk() = default;
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  virtual void least(int (&numbers)[2]) = 0;                                      ///< of what all say, each by itself
  virtual void tell(int root, void* data, std::size_t bytes) = 0;                 ///< what rank `root` has there
  virtual void gather(const void* mine, std::size_t bytes, void* everyones) = 0;  ///< in rank order

 private:
  int rank_, size_;
};

/// By the MPI library's collectives on a communicator: each waits for all ranks.
class BlockingTalk final : public Talk {
 public:
  explicit BlockingTalk(MPI_Comm comm);
  void least(int (&numbers)[2]) override;
  void tell(int root, void* data, std::size_t bytes) override;
  void gather(const void* mine, std::size_t bytes, void* everyones) override;

 private:
  MPI_Comm comm_;
};

/// An Error that every rank throws.
class AgreedError final : public Error {
 public:
  using Error::Error;
};

/// A text of rank `root`, on every rank. Collective.
std::string text_of(Talk& talk, int root, std::string text);

class Together {
 public:
  explicit Together(Talk& talk) : talk_(talk) {}
  /// Whatever is asked comes right after a most(), and so does whatever else is collective.
  Talk& talk() const { return talk_; }
  int rank() const { return talk_.rank(); }
  int size() const { return talk_.size(); }

  /// The next step: the largest of what the ranks say, or the AgreedError for the first of those that have failed.
  int most(int mine = 0) { return step(size(), mine, {}); }
  /// This rank has failed. Throws the AgreedError.
  [[noreturn]] void fail(const std::string& why);

 private:
  int step(int failing, int mine, const std::string& why);

  Talk& talk_;
};

/// What `make` returns, if it returned on all ranks; otherwise all throw. Collective.
template <typename Make>
auto make_together(Talk& talk, Make&& make) {
  Together together(talk);
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
template <typename Make>
auto make_together(MPI_Comm comm, Make&& make) {
  BlockingTalk talk(comm);
  return make_together(talk, make);
}

}  // namespace chasqui::mpi
