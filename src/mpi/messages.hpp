// SPDX-License-Identifier: MIT
// MPI messages as a transport. One private communicator; the tag is the collective's.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "chasqui/run/bad_news.hpp"
#include "chasqui/run/transport.hpp"

namespace chasqui::mpi {

class Messages final : public run::Transport {
 public:
  /// Takes ownership of `comm`, whose error handler returns. Messages are cut as `level` says (run::piece_bytes).
  Messages(MPI_Comm comm, bool blocking_waits, const Level& level = {});
  ~Messages() override;
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override;
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override;
  bool done(Ticket ticket) override;
  void abandon(Ticket ticket) override;
  bool blocks() const override { return blocking_waits_; }
  void wait(Ticket ticket) override;
  double clock() const override { return MPI_Wtime() * 1e9; }
  void sleep_until(double nanoseconds) override;
  void report(std::uint64_t first, std::uint64_t last, const std::string& why) override;
  void refuse(std::uint64_t number, const std::string& why) override;
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) override;
  std::string failure() const override { return heard_.why(); }

 private:
  /// A message, cut or not. Its requests lie side by side, from `first` on.
  struct Operation {
    int from = -1;  ///< receives only
    std::size_t bytes = 0;
    std::size_t first = 0;   ///< counted from the first request ever
    std::size_t pieces = 0;
    std::size_t left = 0;    ///< pieces that are not complete
    std::size_t arrived = 0; ///< bytes
    int code = MPI_SUCCESS;
  };
  Ticket fresh(int from, std::size_t bytes);
  MPI_Request& next_request(Ticket ticket);
  /// In the list; the first pieces of a message may be forgotten while others are under way.
  std::size_t place(std::size_t first) const { return first > forgotten_ ? first - forgotten_ : 0; }
  void completed(std::size_t place, const MPI_Status& status, int code);
  void test_some(const Operation& operation);
  void forget_completed();
  void tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why);
  void listen();

  MPI_Comm comm_;
  bool blocking_waits_;
  Level level_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<Operation> operations_;
  std::vector<Ticket> free_;
  std::vector<MPI_Request> requests_;  ///< in the order of posting; those complete are null
  std::vector<Ticket> owners_;         ///< of the requests
  std::size_t forgotten_ = 0;          ///< requests that are no longer in the list
  std::size_t head_ = 0;               ///< all requests before this place are complete
  run::BadNews heard_;
};

}  // namespace chasqui::mpi
