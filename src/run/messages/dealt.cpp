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
  explicit DealtBuilder(const OnNodes& where) : LaneBuilder(where) {}

  /// Everybody of a node knows what its board knows: after each round a window of nodes, which begins with its own.
  Program dealt_all_gather(const std::vector<std::int64_t>& radices) {
    const Address known = scratch(on_.ranks());
    board(Kind::allgather, 0, kInput, known, count_);
    const auto nodes = [&](Address data, std::int64_t first) {
      return block(data, ranks_of(static_cast<std::size_t>(first)));
    };
    for (const auto& pieces : plan::node_windows(static_cast<std::int64_t>(N_), radices)) {
      const Dealt dealt(pieces.size(), n_);
      const auto blocks_of = [&](std::size_t begin, std::size_t end) {  // of these pieces, which follow each other
        std::size_t blocks = 0;
        for (std::size_t c = begin; c < end; ++c)
          blocks += ranks_of(static_cast<std::size_t>(pieces[c].window + pieces[c].count)) -
                    ranks_of(static_cast<std::size_t>(pieces[c].window));
        return blocks;
      };
      std::size_t most = 0;  // blocks of which a lane hears
      for (std::size_t lane = 0; lane < n_; ++lane)
        most = std::max(most, blocks_of(dealt.begin(lane), dealt.end(lane)));
      const Address news = scratch(most), all = scratch(most * n_);
      std::vector<std::int32_t> posts;
      std::size_t at = 0;
      for (std::size_t c = dealt.begin(place_); c < dealt.end(place_); ++c) {
        const std::size_t blocks = blocks_of(c, c + 1);
        posts.push_back(
            program_.post(lane_of(further(pieces[c].sender), pieces.size(), c), {block(news, at), blocks * bytes_}));
        at += blocks;
      }
      for (std::size_t c = dealt.begin(place_); c < dealt.end(place_); ++c) {
        const std::int64_t first = pieces[c].window - pieces[c].sender;
        const std::size_t begin = ranks_of(static_cast<std::size_t>(first)),
                          end = ranks_of(static_cast<std::size_t>(first + pieces[c].count));
        program_.send(lane_of(further(-pieces[c].sender), pieces.size(), c),
                      {block(known, begin), (end - begin) * bytes_});
      }
      for (const std::int32_t post : posts) program_.arrive(post);
      board(Kind::allgather, 0, news, all, most * count_);
      for (std::size_t lane = 0; lane < n_ && dealt.begin(lane) < dealt.end(lane); ++lane) {
        program_.copy(nodes(known, pieces[dealt.begin(lane)].window),
                      {block(all, lane * most), blocks_of(dealt.begin(lane), dealt.end(lane)) * bytes_});
      }
    }
    program_.finish();
    for (std::size_t i = 0; i < N_; ++i) {
      const std::size_t node = (node_ + i) % N_;
      for (std::size_t k = 0; k < size(node); ++k) copy(output_of(node, k), block(known, ranks_of(i) + k));
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
      const std::size_t others = static_cast<std::size_t>(radix) - 1;
      const Dealt dealt(others, n_);
      const Address all = below ? folded(*below, total) : total;  // of the window that ends here
      std::vector<std::pair<std::int32_t, Address>> posts;
      for (std::size_t c = dealt.begin(place_); c < dealt.end(place_); ++c) {
        const std::size_t distance = (c + 1) * window;
        if (node_ >= distance) {
          const Address at = scratch(1);
          posts.emplace_back(program_.post(lane_of(node_ - distance, others, c), {at, bytes_}), at);
        }
        if (node_ + distance < N_) program_.send(lane_of(node_ + distance, others, c), {all, bytes_});
      }
      std::optional<Address> news;
      for (const auto& [post, at] : posts) {
        program_.arrive(post);
        news = news ? folded(at, *news) : at;
      }
      const std::size_t heard = std::min(others, node_ / window);
      if (heard != 0) {
        const Address told = scratch(1);
        board(Kind::allreduce, 0, news.value_or(told), told, count_, false, parts_of(heard, dealt.each));
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
      if (place_ == 0) program_.send(lane_of_root(), {all, n_ * bytes_});
      program_.finish();
      return std::move(program_);
    }
    const std::size_t each = 1 + most_dealt(kAhead);  // own block, then nodes
    const Address mine = scratch(each), all = at_root_ ? scratch(n_ * each) : kOutput;
    std::vector<std::int32_t> posts;
    each_dealt(place_, kAhead, [&](std::size_t at, std::size_t node, std::size_t) {
      posts.push_back(program_.post(peer(node, 0), {block(mine, 1 + at), size(node) * bytes_}));
    });
    copy(mine, kInput);
    for (const std::int32_t post : posts) program_.arrive(post);
    board(Kind::gather, root_place_, mine, all, each * count_);
    if (at_root_)
      between_root_and_lanes(
          each, [&](std::size_t at, std::size_t node, std::size_t i) { copy(output_of(node, i), block(all, at)); });
    return std::move(program_);
  }

  Program dealt_scatter() {
    if (node_ != root_node_) {
      const Address all = place_ == 0 ? scratch(n_) : kInput;
      if (place_ == 0) program_.receive(lane_of_root(), {all, n_ * bytes_});
      board(Kind::scatter, 0, all, kOutput, count_);
      return std::move(program_);
    }
    const std::size_t each = 1 + most_dealt(kAhead);
    const Address mine = scratch(each), all = at_root_ ? scratch(n_ * each) : kInput;
    if (at_root_)
      between_root_and_lanes(
          each, [&](std::size_t at, std::size_t node, std::size_t i) { copy(block(all, at), input_of(node, i)); });
    board(Kind::scatter, root_place_, all, mine, each * count_);
    each_dealt(place_, kAhead, [&](std::size_t at, std::size_t node, std::size_t) {
      program_.send(peer(node, 0), {block(mine, 1 + at), size(node) * bytes_});
    });
    copy(kOutput, mine);
    program_.finish();
    return std::move(program_);
  }

  /// Twice over the board: what the node has for others goes to the lanes, what lanes have received to its readers.
  Program dealt_all_to_all() {
    const std::size_t each = 1 + most_dealt(kAhead);  // for the lane itself, then for the ranks of its nodes
    const Address given = scratch(n_ * each), mine = scratch(n_ * each);
    for (std::size_t j = 0; j < n_; ++j) {
      copy(block(given, j * each), input_of(node_, j));
      each_dealt(j, kAhead, [&](std::size_t at, std::size_t node, std::size_t) {
        for (std::size_t k = 0; k < size(node); ++k) copy(block(given, j * each + 1 + at + k), input_of(node, k));
      });
    }
    board(Kind::alltoall, 0, given, mine, each * count_);
    const std::size_t heard = most_dealt(kBehind);  // by a reader, from a lane
    const Address arrived = scratch(heard * n_), handed = scratch(heard * n_), gotten = scratch(heard * n_);
    std::vector<std::int32_t> posts;
    each_dealt(place_, kBehind, [&](std::size_t at, std::size_t node, std::size_t distance) {
      posts.push_back(program_.post(dealt_lane(node, distance), {block(arrived, at * n_), size(node) * n_ * bytes_}));
    });
    each_dealt(place_, kAhead, [&](std::size_t at, std::size_t node, std::size_t distance) {
      const Address message = scratch(size(node) * n_);  // by receiver, then by sender
      for (std::size_t k = 0; k < size(node); ++k)
        for (std::size_t i = 0; i < n_; ++i) copy(block(message, k * n_ + i), block(mine, i * each + 1 + at + k));
      program_.send(dealt_lane(node, distance), {message, size(node) * n_ * bytes_});
    });
    for (std::size_t i = 0; i < n_; ++i) copy(output_of(node_, i), block(mine, i * each));
    for (const std::int32_t post : posts) program_.arrive(post);
    each_dealt(place_, kBehind, [&](std::size_t at, std::size_t node, std::size_t) {
      const std::size_t senders = size(node);
      for (std::size_t k = 0; k < n_; ++k)
        program_.copy(block(handed, k * heard + at), {block(arrived, at * n_ + k * senders), senders * bytes_});
    });
    program_.finish();
    board(Kind::alltoall, 0, handed, gotten, heard * count_);
    for (std::size_t j = 0; j < n_; ++j) {
      each_dealt(j, kBehind, [&](std::size_t at, std::size_t node, std::size_t) {
        for (std::size_t i = 0; i < size(node); ++i) copy(output_of(node, i), block(gotten, j * heard + at + i));
      });
    }
    return std::move(program_);
  }

  /// Lanes have the folds of their node for the nodes that are dealt to them; then the board folds what they have received, and
  /// what the node has for itself.
  Program dealt_reduce_scatter() {
    const std::size_t each = most_dealt(kAhead);
    const Address given = scratch(n_ * each), mine = scratch(each), own = scratch(n_);
    for (std::size_t j = 0; j < n_; ++j) {
      std::size_t filled = 0;
      each_dealt(j, kAhead, [&](std::size_t at, std::size_t node, std::size_t) {
        for (std::size_t k = 0; k < size(node); ++k) copy(block(given, j * each + at + k), input_of(node, k));
        filled = at + size(node);
      });
      for (; filled < each; ++filled)  // folded, and wanted by nobody
        copy(block(given, j * each + filled), input_of(node_, 0));
    }
    board(Kind::reduce_scatter, 0, given, mine, each * count_);
    std::vector<std::pair<std::int32_t, Address>> posts;
    each_dealt(place_, kBehind, [&](std::size_t, std::size_t node, std::size_t distance) {
      const Address at = scratch(n_);
      posts.emplace_back(program_.post(dealt_lane(node, distance), {at, n_ * bytes_}), at);
    });
    each_dealt(place_, kAhead, [&](std::size_t at, std::size_t node, std::size_t distance) {
      program_.send(dealt_lane(node, distance), {block(mine, at), size(node) * bytes_});
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
    std::size_t each, pieces;

    Dealt(std::size_t count, std::size_t lanes) : each(parts_of(count, std::min(count, lanes))), pieces(count) {}
    std::size_t begin(std::size_t lane) const { return std::min(lane * each, pieces); }
    std::size_t end(std::size_t lane) const { return std::min((lane + 1) * each, pieces); }
  };
  /// Who has piece c of so many on that node.
  int lane_of(std::size_t node, std::size_t pieces, std::size_t c) const {
    return peer(node, c / Dealt(pieces, size(node)).each);
  }

  static constexpr bool kAhead = true, kBehind = false;
  /// Calls f(how many ranks its nodes before have, node, how far it is) for the nodes that are dealt to a lane.
  template <typename F>
  void each_dealt(std::size_t lane, bool ahead, const F& f) const {
    std::size_t ranks = 0;
    for (std::size_t distance = lane + 1; distance < N_; distance += n_) {
      const std::size_t node = (node_ + (ahead ? distance : N_ - distance)) % N_;
      f(ranks, node, distance);
      ranks += size(node);
    }
  }
  /// Ranks of the nodes that are dealt to a lane, at most.
  std::size_t most_dealt(bool ahead) const {
    std::size_t most = 0;
    for (std::size_t lane = 0; lane < n_; ++lane)
      each_dealt(lane, ahead, [&](std::size_t before, std::size_t node, std::size_t) {
        most = std::max(most, before + size(node));
      });
    return most;
  }
  /// Who of a node deals with those that are so far from it.
  int dealt_lane(std::size_t node, std::size_t distance) const { return peer(node, (distance - 1) % size(node)); }
  int lane_of_root() const { return dealt_lane(root_node_, (node_ + N_ - root_node_) % N_); }

  /// Calls f(block, node, place) for all ranks: of each lane its own block, then those of its nodes.
  template <typename F>
  void between_root_and_lanes(std::size_t each, const F& f) const {
    for (std::size_t j = 0; j < n_; ++j) {
      f(j * each, node_, j);
      each_dealt(j, kAhead, [&](std::size_t at, std::size_t node, std::size_t) {
        for (std::size_t k = 0; k < size(node); ++k) f(j * each + 1 + at + k, node, k);
      });
    }
  }

  std::size_t further(std::int64_t distance) const {
    return static_cast<std::size_t>(modulo(static_cast<std::int64_t>(node_) + distance, static_cast<std::int64_t>(N_)));
  }
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
