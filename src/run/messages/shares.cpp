// SPDX-License-Identifier: MIT
// Lanes that carry shares: a rank talks to the ranks of its place on the other nodes.
#include "chasqui/base/error.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/lane_builder.hpp"

namespace chasqui::run {
namespace {

class ShareBuilder : private LaneBuilder {
 public:
  explicit ShareBuilder(const OnNodes& where)
      : LaneBuilder(where), lanes_(static_cast<std::size_t>(where.nodes.smallest())), carries_(place_ < lanes_) {
    CHASQUI_CHECK(cuts_values(shape_.kind) || where.nodes.smallest() == where.nodes.largest(),
                  "{} in blocks on nodes of several sizes", to_string(shape_.kind));
  }

  Program build(const Between& between, const Machine& machine) {
    const auto lane = [&](Kind kind, std::size_t count, Address in, Address out, bool exclusive = false) {
      if (!carries_) return;
      const Shape shape{kind,  static_cast<int>(node_), static_cast<int>(N_), static_cast<int>(root_node_),
                        count, shape_.element,          shape_.commutative,   exclusive};
      append(program_, program_of(shape, between.method, between.parts, machine), in, out,
             [&](int node) { return peer(static_cast<std::size_t>(node), place_); });
    };
    switch (shape_.kind) {
      case Kind::broadcast: broadcast_shares(lane); break;
      case Kind::reduce:
      case Kind::allreduce: fold_shares(lane); break;
      case Kind::scan: scan_shares(lane); break;
      case Kind::allgather: {
        const Address own = scratch(N_), all = scratch(n_ * N_);
        lane(Kind::allgather, count_, kInput, own);
        board(Kind::allgather, 0, own, all, N_ * count_);
        by_ranks(all);
        break;
      }
      case Kind::gather: {
        const bool here = node_ == root_node_;
        const Address own = here ? scratch(N_) : kOutput, all = at_root_ ? scratch(n_ * N_) : kOutput;
        lane(Kind::gather, count_, kInput, own);
        if (here) board(Kind::gather, root_place_, own, all, N_ * count_);
        if (at_root_) by_ranks(all);
        break;
      }
      case Kind::scatter: {
        const bool here = node_ == root_node_;
        const Address own = here ? scratch(N_) : kInput;
        if (here) board(Kind::scatter, root_place_, at_root_ ? by_places() : kInput, own, N_ * count_);
        lane(Kind::scatter, count_, own, kOutput);
        break;
      }
      case Kind::alltoall: {
        const Address mine = scratch(n_ * N_), given = scratch(n_ * N_), gotten = scratch(n_ * N_);
        board(Kind::alltoall, 0, by_places(), mine, N_ * count_);
        for (std::size_t i = 0; i < n_; ++i) {
          for (std::size_t node = 0; node < N_; ++node) copy(block(given, node * n_ + i), block(mine, i * N_ + node));
        }
        lane(Kind::alltoall, n_ * count_, given, gotten);
        for (std::size_t node = 0; node < N_; ++node)
          for (std::size_t i = 0; i < n_; ++i) copy(output_of(node, i), block(gotten, node * n_ + i));
        break;
      }
      case Kind::reduce_scatter: {
        const Address folded = scratch(N_);
        board(Kind::reduce_scatter, 0, by_places(), folded, N_ * count_);
        lane(Kind::reduce_scatter, count_, folded, kOutput);
        break;
      }
      default: CHASQUI_CHECK(false, "no shares of {}", to_string(shape_.kind));
    }
    return std::move(program_);
  }

 private:
  /// The root's node has everything on its board; what a rank of another node gets its node puts together.
  template <typename Lane>
  void broadcast_shares(const Lane& lane) {
    const Padded padded(*this);
    const Address data = padded.exact ? kOutput : program_.more_scratch(padded.bytes);
    const Address own = data + place_ * padded.share_bytes;
    if (at_root_) program_.copy(data, {kOutput, bytes_});
    if (node_ == root_node_) board(Kind::broadcast, root_place_, data, data, padded.share * lanes_);
    lane(Kind::broadcast, padded.share, own, own);
    if (node_ != root_node_) board(Kind::allgather, 0, data, data, padded.share);
    program_.copy(kOutput, {data, bytes_});
  }

  /// reduce, allreduce
  template <typename Lane>
  void fold_shares(const Lane& lane) {
    const Padded padded(*this);
    const bool all = shape_.kind == Kind::allreduce, gets = all || at_root_, here = all || node_ == root_node_;
    const Address folded = program_.more_scratch(padded.share_bytes);
    board(Kind::reduce_scatter, 0, padded_input(padded), folded, padded.share);
    const Address data = gets && padded.exact ? kOutput : program_.more_scratch(here ? padded.bytes : 0);
    const Address own = data + place_ * padded.share_bytes;
    lane(shape_.kind, padded.share, folded, own);
    if (all) board(Kind::allgather, 0, data, data, padded.share);
    else if (here) board(Kind::gather, root_place_, at_root_ ? data : own, data, padded.share);
    if (gets) program_.copy(kOutput, {data, bytes_});
  }

  template <typename Lane>
  void scan_shares(const Lane& lane) {
    const Padded padded(*this);
    const Address before = scratch(1), total = program_.more_scratch(padded.share_bytes);
    const Address below = program_.more_scratch(padded.bytes);
    board(Kind::scan, 0, kInput, before, count_, true);
    board(Kind::reduce_scatter, 0, padded_input(padded), total, padded.share);
    lane(Kind::scan, padded.share, total, below + place_ * padded.share_bytes, true);
    if (node_ != 0) board(Kind::allgather, 0, below, below, padded.share);
    finish_scan(before, node_ != 0 ? std::optional(below) : std::nullopt);
  }

  /// A contribution in an equal share for each lane, with what it takes beyond its end, where ranks that are no lanes have shares, too:
  /// boards treat all alike.
  struct Padded {
    std::size_t share, share_bytes, bytes;
    bool exact;

    explicit Padded(const ShareBuilder& builder)
        : share(parts_of(builder.count_, builder.lanes_)), share_bytes(share * builder.shape_.element),
          bytes(share_bytes * builder.n_), exact(bytes == builder.bytes_) {}
  };
  /// Beyond the end lie elements of the contribution, again: operators see nothing else.
  Address padded_input(const Padded& padded) {
    if (padded.exact) return kInput;
    const Address data = program_.more_scratch(padded.bytes);
    program_.copy(data, {kInput, bytes_});
    for (std::size_t at = bytes_; at < padded.bytes; at += shape_.element)
      program_.copy(data + at, {kInput, shape_.element});
    return data;
  }

  /// The blocks of the input, by place, then by node.
  Address by_places() {
    const Address sorted = scratch(n_ * N_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t node = 0; node < N_; ++node) copy(block(sorted, i * N_ + node), input_of(node, i));
    }
    return sorted;
  }
  /// The inverse, to the output.
  void by_ranks(Address sorted) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t node = 0; node < N_; ++node) copy(output_of(node, i), block(sorted, i * N_ + node));
    }
  }

  const std::size_t lanes_;  ///< the first ranks of each node
  const bool carries_;       ///< this rank is one
};

}  // namespace

bool cuts_values(Kind kind) {
  return kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::scan;
}

Program share_program(const OnNodes& where, const Between& between, const Machine& machine) {
  return ShareBuilder(where).build(between, machine);
}

}  // namespace chasqui::run
