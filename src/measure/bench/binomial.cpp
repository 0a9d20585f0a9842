// SPDX-License-Identifier: MIT
// The binomial tree over a communicator's messages: the rival that needs no plan.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "chasqui/measure/bench.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::run {
namespace {

constexpr std::uint32_t kTag = 32'200;

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

/// Buffers that stay from call to call, as a library keeps them: fresh pages would cost more than the messages.
std::byte* kept(std::size_t which, std::size_t bytes) {
  thread_local std::array<std::vector<std::byte>, 3> buffers;
  if (buffers[which].size() < bytes) buffers[which].resize(bytes);
  return buffers[which].data();
}

/// One rank's place in the tree that hangs from the root: `me` counts from the root, the parent lacks me's lowest bit,
/// and the subtree are the `below` ranks from me on.
class Binomial {
 public:
  Binomial(Transport& transport, int root)
      : transport_(transport), size_(transport.size()), root_(root), me_((transport.rank() - root + size_) % size_),
        lowest_(me_ == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(size_))) : me_ & -me_) {}

  int me() const { return me_; }
  int below(int from) const { return std::min(from == 0 ? size_ : from & -from, size_ - from); }

  /// Folds the subtree's values, `fold` being this rank's own, and sends the result up.
  void fold_up(std::byte* fold, std::size_t bytes, const Call& call) {
    std::byte* arrived = kept(1, bytes);
    for (int bit = 1; bit < lowest_; bit *= 2) {
      if (me_ + bit >= size_) break;
      finish(receive(me_ + bit, 0, arrived, bytes));
      if (bytes != 0) call.op(fold, arrived, fold, static_cast<std::size_t>(call.count));
    }
    if (me_ != 0) finish(send(me_ - lowest_, 0, fold, bytes));
  }

  /// From the tree's root to another rank.
  void hand_over(int rank, std::byte* data, std::size_t bytes) {
    if (me_ == 0) finish(transport_.send(rank, kTag + 5, data, bytes));
    if (transport_.rank() == rank) finish(transport_.receive(rank_of(0), kTag + 5, data, bytes));
  }

  /// What the root has comes down, the largest subtree first.
  void spread(void* data, std::size_t bytes) {
    if (me_ != 0) finish(receive(me_ - lowest_, 1, data, bytes));
    std::vector<Transport::Ticket> tickets;
    for (int bit = lowest_ / 2; bit > 0; bit /= 2) {
      if (me_ + bit < size_) tickets.push_back(send(me_ + bit, 1, data, bytes));
    }
    for (const auto ticket : tickets) finish(ticket);
  }

  /// `blocks` has room for the subtree's blocks, this rank's first; afterwards all are there, and the parent has them too.
  void collect(std::byte* blocks, std::size_t bytes) {
    std::vector<Transport::Ticket> tickets;
    for (int bit = 1; bit < lowest_ && me_ + bit < size_; bit *= 2) {
      tickets.push_back(receive(me_ + bit, 2, blocks + static_cast<std::size_t>(bit) * bytes, span(me_ + bit, bytes)));
    }
    for (const auto ticket : tickets) finish(ticket);
    if (me_ != 0) finish(send(me_ - lowest_, 2, blocks, span(me_, bytes)));
  }

  /// The other way round: the root's blocks go to their ranks.
  void deal(std::byte* blocks, std::size_t bytes) {
    if (me_ != 0) finish(receive(me_ - lowest_, 3, blocks, span(me_, bytes)));
    std::vector<Transport::Ticket> tickets;
    for (int bit = lowest_ / 2; bit > 0; bit /= 2) {
      if (me_ + bit < size_)
        tickets.push_back(send(me_ + bit, 3, blocks + static_cast<std::size_t>(bit) * bytes, span(me_ + bit, bytes)));
    }
    for (const auto ticket : tickets) finish(ticket);
  }

  /// Recursive doubling: before the round of distance d, `fold` holds the d ranks up to this one.
  void scan(std::byte* before, std::byte* fold, bool& any, std::size_t bytes, const Call& call) {
    std::byte* arrived = kept(1, bytes);
    std::byte* sent = kept(2, bytes);
    const auto n = static_cast<std::size_t>(call.count);
    for (int distance = 1; distance < size_; distance *= 2) {
      Transport::Ticket out = kNoTicket;
      if (me_ + distance < size_) {
        copy_bytes(sent, fold, bytes);
        out = send(me_ + distance, 4, sent, bytes);
      }
      if (me_ >= distance) {
        finish(receive(me_ - distance, 4, arrived, bytes));
        if (bytes != 0 && any) call.op(arrived, before, before, n);
        else copy_bytes(before, arrived, bytes);
        if (bytes != 0) call.op(arrived, fold, fold, n);
        any = true;
      }
      if (out != kNoTicket) finish(out);
    }
  }

 private:
  std::size_t span(int from, std::size_t bytes) const { return static_cast<std::size_t>(below(from)) * bytes; }
  int rank_of(int place) const { return (place + root_) % size_; }
  Transport::Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
    return transport_.send(rank_of(to), kTag + tag, data, bytes);
  }
  Transport::Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
    return transport_.receive(rank_of(from), kTag + tag, data, bytes);
  }
  void finish(Transport::Ticket ticket) {
    static const int cores = available_cores();
    Backoff backoff(size_ > cores);
    while (!transport_.done(ticket)) backoff.pause();
  }

  Transport& transport_;
  int size_, root_, me_;
  int lowest_;  ///< lowest bit of `me`; at the root the first power of two that is no rank
};

/// Rank order to places counted from the root, or back.
void turn(const std::byte* from, std::byte* to, std::size_t bytes, int size, int by) {
  for (int i = 0; i < size; ++i)
    copy_bytes(to + static_cast<std::size_t>(i) * bytes, from + static_cast<std::size_t>((i + by) % size) * bytes,
               bytes);
}

void gather(Binomial tree, const Call& call, int rank, int size, int root, std::byte* out) {
  const std::size_t bytes = call.bytes();
  std::byte* blocks = kept(0, static_cast<std::size_t>(tree.below(tree.me())) * bytes);
  copy_bytes(blocks, call.in != nullptr ? call.in : out + static_cast<std::size_t>(rank) * bytes, bytes);
  tree.collect(blocks, bytes);
  if (tree.me() == 0) turn(blocks, out, bytes, size, size - root);
}

void scatter(Binomial tree, const Call& call, int size, int root) {
  const std::size_t bytes = call.bytes();
  std::byte* blocks = kept(0, static_cast<std::size_t>(tree.below(tree.me())) * bytes);
  if (tree.me() == 0) turn(static_cast<const std::byte*>(call.in), blocks, bytes, size, root);
  tree.deal(blocks, bytes);
  if (call.out != nullptr) copy_bytes(call.out, blocks, bytes);
}

}  // namespace

bool binomial(Comm& comm, const Call& call) {
  if (comm.messages() == nullptr || !call.contiguous()) return false;
  const bool rooted = call.kind == Kind::broadcast || call.kind == Kind::reduce || call.kind == Kind::gather ||
                      call.kind == Kind::scatter;
  const bool in_order =
      call.kind == Kind::reduce && !call.op.commutative;  // only a tree from rank 0 folds in rank order
  const int root = rooted && !in_order ? static_cast<int>(call.root) : 0;
  Binomial tree(*comm.messages(), root);
  const std::size_t bytes = call.bytes();
  const void* own = call.in != nullptr ? call.in : call.out;
  auto* out = static_cast<std::byte*>(call.out);
  switch (call.kind) {
    case Kind::broadcast: tree.spread(out, bytes); return true;
    case Kind::gather: gather(tree, call, comm.rank(), comm.size(), root, out); return true;
    case Kind::scatter: scatter(tree, call, comm.size(), root); return true;
    case Kind::allgather:
      gather(tree, call, comm.rank(), comm.size(), 0, out);
      tree.spread(out, bytes * static_cast<std::size_t>(comm.size()));
      return true;
    case Kind::scan: {
      std::byte* fold = kept(0, 2 * bytes);
      std::byte* before = fold + bytes;
      copy_bytes(fold, own, bytes);
      bool any = false;
      tree.scan(before, fold, any, bytes, call);
      if (!call.exclusive) copy_bytes(out, fold, bytes);
      else if (any) copy_bytes(out, before, bytes);
      return true;
    }
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::barrier: {
      std::byte* fold = kept(0, bytes);
      copy_bytes(fold, own, bytes);
      tree.fold_up(fold, bytes, call);
      if (call.kind == Kind::reduce && root != call.root) tree.hand_over(static_cast<int>(call.root), fold, bytes);
      if (comm.rank() == (call.kind == Kind::reduce ? call.root : 0)) copy_bytes(out, fold, bytes);
      if (call.kind != Kind::reduce) tree.spread(out, bytes);
      return true;
    }
    default: return false;
  }
}

}  // namespace chasqui::run
