// SPDX-License-Identifier: MIT
// The ranks of a group while they come together: a star of sockets around rank 0. Every step has to be done by the
// deadline, and a rank that ends is noticed by its socket; then everybody gets the same Error. Nobody who is not one of this
// user's processes (local sockets), or does not know the secret, takes part.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "group/proof.hpp"
#include "group/socket.hpp"
#include "run/board/node_ranks.hpp"

namespace chasqui::group {

struct MeetingPlace {
  Address address;
  std::string secret{};          ///< empty: being this user's process is enough
  Socket listener{};             ///< of rank 0, where it listens already
  double timeout = 60;           ///< seconds
  std::function<void()> look{};  ///< called now and then while waiting; may throw
  std::vector<int> names{};      ///< what the ranks of a part are called in the whole group; empty: as they are here

  std::string called(int rank) const;  ///< "rank 1", "rank 1 of this part, rank 3 of the whole"
};

class Meeting final : public run::NodeRanks {
 public:
  Meeting(int rank, int size, MeetingPlace place);  ///< comes back when all are there

  int most(int mine) override;
  int open_memory(std::size_t bytes) override;                          ///< REQUIRES local sockets
  std::size_t free_memory() const override { return ~std::size_t{0}; }  ///< the memory has no folder that could be full
  std::string text_of_first(const std::string& text);                   ///< what rank 0 says, at every rank
  const MeetingPlace& place() const { return place_; }
  std::vector<Socket> end() { return std::move(others_); }  ///< the sockets; the meeting is over
  std::string own_host() const;  ///< the address of this rank's host between the hosts of a group

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override;
  void receive_all();
  void go_there();
  Socket reach();
  bool present(const Socket& there);
  void check(bool went_well, int rank) const;
  void say_to_all(const void* data, std::size_t bytes);
  void hear_first(void* data, std::size_t bytes);
  [[noreturn]] void fail_all(const std::string& why);

  MeetingPlace place_;
  Deadline deadline_;
  std::vector<Socket> others_;  ///< at rank 0: of each rank; elsewhere: the first is rank 0's
};

}  // namespace chasqui::group
