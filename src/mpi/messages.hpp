// SPDX-License-Identifier: MIT
// MPI messages as a transport: on a private communicator, or on a part of one with tags of its own. The tag is the
// collective's.
#pragma once

#include <mpi.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "mpi/fabric.hpp"
#include "run/faults/bad_news.hpp"
#include "run/messages/transport.hpp"

namespace chasqui::mpi {

class Messages final : public run::Transport {
 public:
  static constexpr std::size_t kLongest = std::size_t{1} << 30;  ///< bytes of a piece: MPI counts in int

  /// Messages are cut as `level` says (run::piece_bytes), and into pieces of at most `longest` bytes, the same on all
  /// ranks. `stamp`, too, is the same on all, and no other communicator's: news that others left behind are not taken for
  /// its own.
  Messages(Channel channel, int rank, int size, bool blocking_waits, const Level& level = {},
           std::size_t longest = kLongest, std::uint64_t stamp = 0);
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
  bool broken() const override { return heard_.broken(); }
  std::string failure() const override { return heard_.why(); }
  void tell(int to, std::uint64_t number, const run::Signature& call) override;
  std::optional<run::Told> hear() override;

 private:
  /// A message, cut or not.
  struct Operation {
    MPI_Request first = MPI_REQUEST_NULL;  ///< most messages are one piece
    int from = -1;                         ///< receives only
    int code = MPI_SUCCESS;
    std::size_t bytes = 0;
    std::size_t piece = 1;    ///< bytes of each but the last
    std::size_t arrived = 0;  ///< bytes
    std::uint32_t pieces = 0;
    std::uint32_t complete = 0;       ///< pieces, from the first on
    bool other_size = false;          ///< a piece was not as long as expected
    std::vector<MPI_Request> others;  ///< of the pieces after the first

    MPI_Request& request(std::uint32_t i) { return i == 0 ? first : others[i - 1]; }
  };
  Ticket fresh(int from, std::size_t bytes);
  MPI_Request& next_piece(Ticket ticket);
  bool piece_done(Operation& operation);
  void end_piece(Operation& operation);
  void count_piece(Operation& operation, int code, const MPI_Status& status);
  void tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why);
  void listen();
  void forget_words();

  int place(int rank) const {
    return channel_.members.empty() ? rank : channel_.members[static_cast<std::size_t>(rank)];
  }
  int rank_at(int place) const;
  int tag_in_channel(std::uint32_t tag) const { return channel_.first_tag + static_cast<int>(tag); }

  Channel channel_;
  bool blocking_waits_;
  Level level_;
  std::size_t longest_;
  std::size_t uncut_;  ///< messages up to so many bytes are one piece
  int rank_;
  int size_;
  std::vector<Operation> operations_;
  std::vector<Ticket> free_;
  std::uint64_t stamp_;
  run::BadNews heard_;
  std::deque<run::Told> told_;
  struct Word;
  std::vector<Word> words_;  ///< told, and maybe still under way
  bool disturbed_ = false;   ///< a call failed here
};

}  // namespace chasqui::mpi
