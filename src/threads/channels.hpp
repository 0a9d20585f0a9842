// SPDX-License-Identifier: MIT
// Point-to-point messages inside one process: a small ring of cache lines per ordered pair of ranks. A short message
// lies in the line itself next to its number; of a long one the line tells where it is, and the receiver copies it
// straight from the sender's buffer.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "run/board/shape.hpp"
#include "run/messages/tickets.hpp"

namespace chasqui::threads {

/// The memory of all channels between `ranks` ranks: 384 bytes for a pair, from its first message on.
class ChannelMemory {
 public:
  /// Rings between all pairs of ranks, made when they are needed.
  explicit ChannelMemory(int ranks) : ranks_(ranks), rows_(static_cast<std::size_t>(ranks)) {}
  ChannelMemory(const ChannelMemory&) = delete;
  ChannelMemory& operator=(const ChannelMemory&) = delete;
  int ranks() const { return ranks_; }  ///< that talk to each other

  static constexpr std::uint64_t kDepth = 4;  ///< messages of a pair that may be under way
  static constexpr std::size_t kInline =
      32;  ///< bytes inside a line; longer messages are read from the sender's memory
  /// One message.
  struct alignas(run::kLine) Line {
    std::atomic<std::uint64_t> number;     ///< of the message it holds, from 1
    std::uint32_t tag;                     ///< of its collective
    std::uint64_t bytes;                   ///< its size
    std::atomic<std::uint64_t> withdrawn;  ///< the number of a message that its sender took back
    union {
      std::byte data[kInline];
      const void* where;
    };
  };
  static_assert(sizeof(Line) == run::kLine);
  /// One direction of one pair.
  struct Channel {
    Line lines[kDepth];                                    ///< reused in turn
    alignas(run::kLine) std::atomic<std::uint64_t> taken;  ///< messages the receiver has copied
    std::atomic<std::uint64_t> copying;  ///< the message the receiver copies from the sender's memory, or did last
  };

  Channel& channel(int from, int to);  ///< from one rank to another; either may be the first to ask

 private:
  using Row = std::vector<std::unique_ptr<Channel>>;

  int ranks_;
  std::mutex making_;
  std::vector<Row> rows_;  ///< of each sender; empty until it sends, or somebody waits for it
};
/// Messages between threads of one process, through rings of cache lines.
class ChannelTransport final : public run::Transport {
 public:
  ChannelTransport(std::shared_ptr<ChannelMemory> memory, int rank);  ///< one rank's end

  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override;
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override;
  bool done(Ticket ticket) override;
  void abandon(Ticket ticket) override;

 private:
  struct Operation {
    bool sends = false;
    int peer = 0;
    std::uint32_t tag = 0;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::uint64_t number = 0;  ///< sends: once in the channel
    bool complete = false;
    bool mismatch = false;
    std::size_t theirs = 0;
  };
  struct Early {  ///< a message that came before it was asked for
    std::uint32_t tag;
    std::vector<std::byte> data;
  };
  struct Peer {
    ChannelMemory::Channel* to = nullptr;    ///< missing until a message goes there
    ChannelMemory::Channel* from = nullptr;  ///< missing until one is expected
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::deque<Ticket> outgoing;  ///< waiting for a free line
    std::deque<Ticket> expected;  ///< receives posted, in order
    std::list<Early> early;
  };

  Peer& peer(int rank);
  ChannelMemory::Channel& outgoing(int to);
  void push(int to);
  void pull(int from);
  static void deliver(Operation& operation, const std::byte* data, std::size_t bytes);

  std::shared_ptr<ChannelMemory> memory_;
  int rank_;
  run::Tickets<Operation> operations_;
  std::vector<std::unique_ptr<Peer>> peers_;  ///< empty until the first message
  std::vector<int> held_;                     ///< peers with outgoing messages that wait for a free line
};

}  // namespace chasqui::threads
