// SPDX-License-Identifier: MIT
// MPI messages as a transport. One private communicator; the tag is the collective's.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "chasqui/run/bad_news.hpp"
#include "chasqui/run/transport.hpp"

namespace chasqui::mpi {

class Messages final : public run::Transport {
 public:
  /// Takes ownership of `comm`, whose error handler returns.
  Messages(MPI_Comm comm, bool blocking_waits);
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
  void report(std::uint64_t first, std::uint64_t last, const std::string& why) override;
  void refuse(std::uint64_t number, const std::string& why) override;
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) override;
  std::string failure() const override { return heard_.why(); }

 private:
  struct Operation {
    MPI_Request request = MPI_REQUEST_NULL;
    int from = -1;  ///< receives only
    std::size_t bytes = 0;
    bool waited = false;
    MPI_Status status{};
  };
  Ticket fresh();
  void tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why);
  void listen();

  MPI_Comm comm_;
  bool blocking_waits_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<Operation> operations_;
  std::vector<Ticket> free_;
  run::BadNews heard_;
};

}  // namespace chasqui::mpi
