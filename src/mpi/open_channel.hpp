// SPDX-License-Identifier: MIT
// A channel in use, by the messages of a communicator and by what its ranks say of failures; given back with the last of them.
#pragma once

#include <algorithm>
#include <utility>

#include "mpi/fabric.hpp"

namespace chasqui::mpi {

struct OpenChannel {
  OpenChannel(Channel opened, int own_rank, int ranks) : channel(std::move(opened)), rank(own_rank), size(ranks) {}
  ~OpenChannel() {
    if (!disturbed && channel.give_back && !ended()) channel.give_back();
  }
  OpenChannel(const OpenChannel&) = delete;
  OpenChannel& operator=(const OpenChannel&) = delete;

  MPI_Comm comm() const { return channel.comm; }
  int place(int of) const { return channel.members.empty() ? of : channel.members[static_cast<std::size_t>(of)]; }
  int rank_at(int place) const {
    const auto& all = channel.members;
    return all.empty() ? place : static_cast<int>(std::find(all.begin(), all.end(), place) - all.begin());
  }
  int tag(std::uint32_t of) const { return channel.first_tag + static_cast<int>(of); }
  /// Of a message of so many bytes.
  int tag(std::uint32_t of, std::size_t bytes) const {
    if (channel.one_at_a_time && channel.lengths >= 16) {
      const auto mixed =
          static_cast<int>((bytes + of / 16 * std::size_t{16'001}) % kLengthsApart);  // with the number of the call
      return tag(of % 16) + mixed % 2000 * 16 + kChannelTags * (mixed / 2000);
    }
    const std::uint64_t mixed = (bytes * 0x9e3779b97f4a7c15u) >> 40;
    return tag(of) + kChannelTags * static_cast<int>(mixed & static_cast<std::uint64_t>(channel.lengths - 1));
  }

  /// MPI_Finalize was called.
  static bool ended() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized != 0;
  }

  Channel channel;
  int rank, size;
  /// A call failed, here or elsewhere. Messages may still be under way, and the next one with this communicator's number or
  /// these tags would receive them.
  bool disturbed = false;
};

}  // namespace chasqui::mpi
