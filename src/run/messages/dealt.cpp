// SPDX-License-Identifier: MIT
// Nodes that are dealt to lanes: a message has all that one node has for another.
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/clusters.hpp"
#include "run/messages/lane_builder.hpp"

namespace chasqui::run {
namespace {

class DealtBuilder : private LaneBuilder {
 public:
  explicit DealtBuilder(const OnNodes& where)
      : LaneBuilder(where), slots_(static_cast<std::size_t>(dealt_messages(where.nodes, where.node_size))) {}

  /// Everybody of a node knows what its board knows: after each round a window of nodes, which begins with its own.
  Program dealt_all_gather(const std::vector<std::int64_t>& radices) {
    const Address known = scratch(n_ * N_);
    board(Kind::allgather, 0, kInput, known, count_);
    const auto nodes = [&](Address data, std::int64_t first) {
      return block(data, static_cast<std::size_t>(first) * n_);
    };
    for (const auto& pieces : plan::node_windows(static_cast<std::int64_t>(N_), radices)) {
      const Dealt dealt(pieces, n_);
      const Address news = scratch(dealt.most * n_), all = scratch(dealt.most * n_ * n_);
      std::vector<std::int32_t> posts;
      std::size_t at = 0;
      for (std::size_t c = dealt.begin(place_); c < dealt.end(place_); ++c) {
        const auto size = static_cast<std::size_t>(pieces[c].count) * n_ * bytes_;
        posts.push_back(program_.post(peer_at(pieces[c].sender), {news + at, size}));
        at += size;
      }
      for (std::size_t c = dealt.begin(place_); c < dealt.end(place_); ++c) {
        const auto size = static_cast<std::size_t>(pieces[c].count) * n_ * bytes_;
        program_.send(peer_at(-pieces[c].sender), {nodes(known, pieces[c].window - pieces[c].sender), size});
      }
      for (const std::int32_t post : posts) program_.arrive(post);
      board(Kind::allgather, 0, news, all, dealt.most * n_ * count_);
      for (std::size_t lane = 0; lane < n_ && dealt.begin(lane) < dealt.end(lane); ++lane) {
        program_.copy(nodes(known, pieces[dealt.begin(lane)].window),
                      {block(all, lane * dealt.most * n_), dealt.nodes(pieces, lane) * n_ * bytes_});
      }
    }
    program_.finish();
    for (std::size_t i = 0; i < N_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) copy(output_of((node_ + i) % N_, k), block(known, i * n_ + k));
    }
    return std::move(program_);
  }

  /// What all nodes below this one have, the nearest first: after a round of radix f the fold of f times as many of them.
  Program dealt_scan(const std::vector<std::int64_t>& radices) {
    const Address before = scratch(1), total = scratch(1);
    board(Kind::scan, 0, kInput, before, count_, true);
    board(Kind::allreduce, 0, kInput, total, count_);
    std::optional<Address> below;
    std::size_t window = 1;
    for (const std::int64_t radix : radices) {
      const std::size_t others = static_cast<std::size_t>(radix) - 1, each = parts_of(others, std::min(others, n_));
      const Address all = below ? folded(*below, total) : total;  // of the window that ends here
      std::vector<std::pair<std::int32_t, Address>> posts;
      for (std::size_t j = 1 + place_ * each; j <= std::min(others, (place_ + 1) * each); ++j) {
        if (node_ >= j * window) {
          const Address at = scratch(1);
          posts.emplace_back(program_.post(peer(node_ - j * window, place_), {at, bytes_}), at);
        }
        if (node_ + j * window < N_) program_.send(peer(node_ + j * window, place_), {all, bytes_});
      }
      std::optional<Address> news;
      for (const auto& [post, at] : posts) {
        program_.arrive(post);
        news = news ? folded(at, *news) : at;
      }
      const std::size_t heard = std::min(others, node_ / window);
      if (heard != 0) {
        const Address told = scratch(1);
        board(Kind::allreduce, 0, news.value_or(told), told, count_, false, parts_of(heard, each));
        below = below ? folded(told, *below) : told;
      }
      window *= static_cast<std::size_t>(radix);
    }
    program_.finish();
    finish_scan(before, below);
    return std::move(program_);
  }

  /// Lane j of the root's node hears from the first ranks of the nodes that are dealt to it.
  Program dealt_gather() {
    if (node_ != root_node_) {
      const Address all = place_ == 0 ? scratch(n_) : kOutput;
      board(Kind::gather, 0, kInput, all, count_);
      const std::size_t distance = (node_ + N_ - root_node_) % N_;
      if (place_ == 0) program_.send(peer(root_node_, (distance - 1) % n_), {all, n_ * bytes_});
      program_.finish();
      return std::move(program_);
    }
    const std::size_t each = slots_ * n_ + 1;  // own block, then nodes
    const Address mine = scratch(each), all = at_root_ ? scratch(n_ * each) : kOutput;
    std::vector<std::int32_t> posts;
    each_slot(place_, [&](std::size_t slot, std::size_t distance) {
      posts.push_back(program_.post(peer((node_ + distance) % N_, 0), {block(mine, 1 + slot * n_), n_ * bytes_}));
    });
    copy(mine, kInput);
    for (const std::int32_t post : posts) program_.arrive(post);
    board(Kind::gather, root_place_, mine, all, each * count_);
    if (at_root_)
      between_root_and_lanes(
          [&](std::size_t at, std::size_t node, std::size_t i) { copy(output_of(node, i), block(all, at)); });
    return std::move(program_);
  }

  Program dealt_scatter() {
    if (node_ != root_node_) {
      const Address all = place_ == 0 ? scratch(n_) : kInput;
      const std::size_t distance = (node_ + N_ - root_node_) % N_;
      if (place_ == 0) program_.receive(peer(root_node_, (distance - 1) % n_), {all, n_ * bytes_});
      board(Kind::scatter, 0, all, kOutput, count_);
      return std::move(program_);
    }
    const std::size_t each = slots_ * n_ + 1;
    const Address mine = scratch(each), all = at_root_ ? scratch(n_ * each) : kInput;
    if (at_root_)
      between_root_and_lanes(
          [&](std::size_t at, std::size_t node, std::size_t i) { copy(block(all, at), input_of(node, i)); });
    board(Kind::scatter, root_place_, all, mine, each * count_);
    each_slot(place_, [&](std::size_t slot, std::size_t distance) {
      program_.send(peer((node_ + distance) % N_, 0), {block(mine, 1 + slot * n_), n_ * bytes_});
    });
    copy(kOutput, mine);
    program_.finish();
    return std::move(program_);
  }

  /// Twice over the board: what the node has for others goes to the lanes, what lanes have received to its readers.
  Program dealt_all_to_all() {
    const std::size_t each = slots_ * n_ + 1;  // for the lane itself, then for the ranks of its nodes
    const Address given = scratch(n_ * each), mine = scratch(n_ * each);
    for (std::size_t j = 0; j < n_; ++j) {
      copy(block(given, j * each), input_of(node_, j));
      each_slot(j, [&](std::size_t slot, std::size_t distance) {
        for (std::size_t k = 0; k < n_; ++k)
          copy(block(given, j * each + 1 + slot * n_ + k), input_of((node_ + distance) % N_, k));
      });
    }
    board(Kind::alltoall, 0, given, mine, each * count_);
    const Address arrived = scratch(slots_ * n_ * n_), handed = scratch(slots_ * n_ * n_),
                  gotten = scratch(slots_ * n_ * n_);
    std::vector<std::int32_t> posts;
    each_slot(place_, [&](std::size_t slot, std::size_t distance) {
      posts.push_back(program_.post(peer((node_ + N_ - distance) % N_, place_),
                                    {block(arrived, slot * n_ * n_), n_ * n_ * bytes_}));
    });
    each_slot(place_, [&](std::size_t slot, std::size_t distance) {  // by receiver, then by sender
      const Address message = scratch(n_ * n_);
      for (std::size_t k = 0; k < n_; ++k)
        for (std::size_t i = 0; i < n_; ++i)
          copy(block(message, k * n_ + i), block(mine, i * each + 1 + slot * n_ + k));
      program_.send(peer((node_ + distance) % N_, place_), {message, n_ * n_ * bytes_});
    });
    for (std::size_t i = 0; i < n_; ++i) copy(output_of(node_, i), block(mine, i * each));
    for (const std::int32_t post : posts) program_.arrive(post);
    each_slot(place_, [&](std::size_t slot, std::size_t) {
      for (std::size_t k = 0; k < n_; ++k)
        program_.copy(block(handed, (k * slots_ + slot) * n_), {block(arrived, (slot * n_ + k) * n_), n_ * bytes_});
    });
    program_.finish();
    board(Kind::alltoall, 0, handed, gotten, slots_ * n_ * count_);
    for (std::size_t j = 0; j < n_; ++j) {
      each_slot(j, [&](std::size_t slot, std::size_t distance) {
        for (std::size_t i = 0; i < n_; ++i)
          copy(output_of((node_ + N_ - distance) % N_, i), block(gotten, (j * slots_ + slot) * n_ + i));
      });
    }
    return std::move(program_);
  }

  /// Lanes have the folds of their node for the nodes that are dealt to them; then the board folds what they have received, and
  /// what the node has for itself.
  Program dealt_reduce_scatter() {
    const Address given = scratch(n_ * slots_ * n_), mine = scratch(slots_ * n_), own = scratch(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        const std::size_t distance = slot * n_ + j + 1;
        const std::size_t node = distance < N_ ? (node_ + distance) % N_ : node_;  // folded, and wanted by nobody
        for (std::size_t k = 0; k < n_; ++k) copy(block(given, (j * slots_ + slot) * n_ + k), input_of(node, k));
      }
    }
    board(Kind::reduce_scatter, 0, given, mine, slots_ * n_ * count_);
    std::vector<std::pair<std::int32_t, Address>> posts;
    each_slot(place_, [&](std::size_t, std::size_t distance) {
      const Address at = scratch(n_);
      posts.emplace_back(program_.post(peer((node_ + N_ - distance) % N_, place_), {at, n_ * bytes_}), at);
    });
    each_slot(place_, [&](std::size_t slot, std::size_t distance) {
      program_.send(peer((node_ + distance) % N_, place_), {block(mine, slot * n_), n_ * bytes_});
    });
    for (std::size_t k = 0; k < n_; ++k) copy(block(own, k), input_of(node_, k));
    for (const auto& [post, at] : posts) {
      program_.arrive(post);
      if (count_ != 0) program_.fold(own, at, own, n_ * count_);
    }
    program_.finish();
    board(Kind::reduce_scatter, 0, own, kOutput, count_);
    return std::move(program_);
  }

 private:
  /// The pieces of a round, some for each lane.
  struct Dealt {
    std::size_t each, pieces, most = 0;  ///< most: nodes of which a lane hears

    Dealt(const std::vector<plan::WindowPiece>& list, std::size_t lanes)
        : each(parts_of(list.size(), std::min(list.size(), lanes))), pieces(list.size()) {
      for (std::size_t lane = 0; lane < lanes; ++lane) most = std::max(most, nodes(list, lane));
    }
    std::size_t begin(std::size_t lane) const { return std::min(lane * each, pieces); }
    std::size_t end(std::size_t lane) const { return std::min((lane + 1) * each, pieces); }
    std::size_t nodes(const std::vector<plan::WindowPiece>& list, std::size_t lane) const {
      std::int64_t sum = 0;
      for (std::size_t c = begin(lane); c < end(lane); ++c) sum += list[c].count;
      return static_cast<std::size_t>(sum);
    }
  };

  /// Calls f(slot, how many nodes further) for the nodes that are dealt to a lane.
  template <typename F>
  void each_slot(std::size_t lane, const F& f) const {
    for (std::size_t slot = 0; slot * n_ + lane + 1 < N_; ++slot) f(slot, slot * n_ + lane + 1);
  }
  /// Calls f(block, node, place) for all ranks: of each lane its own block, then those of its nodes.
  template <typename F>
  void between_root_and_lanes(const F& f) const {
    for (std::size_t j = 0; j < n_; ++j) {
      const std::size_t first = j * (slots_ * n_ + 1);
      f(first, node_, j);
      each_slot(j, [&](std::size_t slot, std::size_t distance) {
        for (std::size_t k = 0; k < n_; ++k) f(first + 1 + slot * n_ + k, (node_ + distance) % N_, k);
      });
    }
  }

  int peer_at(std::int64_t distance) const {
    const auto node = modulo(static_cast<std::int64_t>(node_) + distance, static_cast<std::int64_t>(N_));
    return peer(static_cast<std::size_t>(node), place_);
  }

  const std::size_t slots_;  ///< nodes that are dealt to a lane, at most
};

}  // namespace

std::int64_t dealt_messages(std::int64_t nodes, std::int64_t node_size) { return divide_up(nodes - 1, node_size); }

Program dealt_program(const OnNodes& where, const std::vector<std::int64_t>& radices) {
  DealtBuilder builder(where);
  switch (where.shape.kind) {
    case Kind::allgather: return builder.dealt_all_gather(radices);
    case Kind::scan: return builder.dealt_scan(radices);
    case Kind::gather: return builder.dealt_gather();
    case Kind::scatter: return builder.dealt_scatter();
    case Kind::alltoall: return builder.dealt_all_to_all();
    default: return builder.dealt_reduce_scatter();
  }
}

}  // namespace chasqui::run
