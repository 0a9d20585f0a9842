// SPDX-License-Identifier: MIT
// A block-cyclic stream: finds any rank's messages at any time from prefix sums over its runs (streams.md, Theorem 16).
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/stream/item_tree.hpp"
#include "plan/stream/layout.hpp"

namespace chasqui::plan::stream_detail {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Nodes of one label are numbered: heads in run order, then leaf slots by (run, block, position), the receive-only
/// rank last. Node number k of a label is a child of head number k among those that have a child there.
class BlockStream final : public Stream {
 public:
  BlockStream(std::int64_t P, std::int64_t L, std::int64_t root, Layout layout, Claim claim)
      : Stream(P, L, root, std::move(claim)), layout_(std::move(layout)), wait_(layout_.L - L) {
    std::int64_t ranks = 0;
    std::vector<std::map<std::int32_t, std::int64_t>> letters;
    std::int32_t largest = layout_.receive_only.value_or(0);
    for (std::size_t r = 0; r < layout_.runs.size(); ++r) {
      ranks_before_.push_back(ranks);
      ranks += run(r).blocks * run(r).q();
      letters.emplace_back();
      for (std::int64_t j = 0; j < run(r).q(); ++j) {
        if (head_at(run(r), j) != nullptr) continue;
        const std::int32_t letter = run(r).word[index(j)];
        ++letters.back()[letter];
        largest = std::max(largest, letter);
      }
      head_runs_.emplace_back(run(r).heads.size());
      for (std::size_t h = 0; h < run(r).heads.size(); ++h) {
        const StreamHead& head = run(r).heads[h];
        heads_.push_back({head.label, layout_.t - (head.label + layout_.L + head.children - 1), r, h});
      }
    }
    CHASQUI_CHECK(ranks + (layout_.receive_only ? 1 : 0) == P - 1, "BlockStream: ranks={} P={}", ranks, P);
    std::stable_sort(heads_.begin(), heads_.end(), [](const HeadRun& a, const HeadRun& b) {
      return std::tie(a.label, a.missing, a.run) < std::tie(b.label, b.missing, b.run);
    });
    std::int64_t sum = 0;
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      head_sums_.push_back(sum);
      sum += run(heads_[h].run).blocks;
      head_runs_[heads_[h].run][heads_[h].head] = h;
      missing_.push_back(heads_[h].missing);
    }
    head_sums_.push_back(sum);
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    for (const std::int64_t most : missing_) {
      std::vector<std::int64_t> sums = {0};
      for (const HeadRun& head : heads_)
        sums.push_back(sums.back() + (head.missing <= most ? run(head.run).blocks : 0));
      parent_sums_.push_back(std::move(sums));
    }
    leaves_.resize(index(largest) + 1);
    for (std::size_t r = 0; r < layout_.runs.size(); ++r) {
      for (const auto& [letter, each] : letters[r]) {
        auto& list = leaves_[index(letter)];
        const std::int64_t before =
            list.empty() ? 0 : list.back().before + list.back().each * run(list.back().run).blocks;
        list.push_back({r, before, each});
      }
    }
  }

  std::int64_t period() const override {
    std::int64_t period = 1;
    for (const StreamRun& r : layout_.runs) {
      const std::int64_t factor = r.q() / std::gcd(period, r.q());
      period = saturating_multiply(period, factor);
      if (period == kSaturated) return kSaturated;
    }
    return period;
  }

  std::vector<StreamMessage> messages_of(std::int64_t item) const override {
    ItemTree tree(layout_.L);
    for (const HeadRun& head : heads_) {
      const StreamHead& role = run(head.run).heads[head.head];
      for (std::int64_t block = 0; block < run(head.run).blocks; ++block) {
        tree.add_head(role.label, role.children, player(head.run, block, role.position, item + role.label));
      }
    }
    for (std::size_t r = 0; r < layout_.runs.size(); ++r) {
      for (std::int64_t block = 0; block < run(r).blocks; ++block) {
        for (std::int64_t j = 0; j < run(r).q(); ++j) {
          if (head_at(run(r), j) != nullptr) continue;
          const std::int64_t label = layout_.t - run(r).word[index(j)];
          tree.add_leaf(label, player(r, block, j, item + label));
        }
      }
    }
    if (layout_.receive_only) tree.add_leaf(layout_.t - *layout_.receive_only, outer(P_ - 2));
    return tree.messages(item, root_);
  }

  const StreamLayout* layout() const override { return &layout_; }
  std::optional<StreamMessage> pattern_sent(std::int64_t rank, std::int64_t time) const override {
    const std::int64_t me = inner(rank);
    if (me < 0) return StreamMessage{{time}, time, root_, node_player(0, 0, time)};
    if (is_receive_only(me)) return std::nullopt;
    const std::int64_t tau = time - L_ - wait_;
    const Place place = place_of(me);
    const StreamRun& mine = run(place.run);
    const std::int64_t position = modulo(tau - place.member, mine.q());
    for (std::size_t h = 0; h < mine.heads.size(); ++h) {
      const StreamHead& head = mine.heads[h];
      const std::int64_t sends = modulo(position - head.position, mine.q());
      if (sends >= head.children) continue;
      const std::int64_t item = tau - sends - head.label;
      const std::int64_t child_label = head.label + layout_.L + sends;
      const std::int64_t k = parent_sums(child_label)[head_runs_[place.run][h]] + place.block;
      return StreamMessage{{time}, item, rank, node_player(child_label, k, item)};
    }
    return std::nullopt;
  }

  std::optional<StreamMessage> pattern_received(std::int64_t rank, std::int64_t time) const override {
    const std::int64_t me = inner(rank);
    if (me < 0) return std::nullopt;
    const std::int64_t tau = time - L_;
    std::int64_t label = 0;
    std::int64_t k = 0;
    if (is_receive_only(me)) {
      label = layout_.t - *layout_.receive_only;
      k = heads_before(label + 1) - heads_before(label);
      if (const auto letter = index(*layout_.receive_only); letter < leaves_.size() && !leaves_[letter].empty()) {
        const LeafRun& last = leaves_[letter].back();
        k += last.before + last.each * run(last.run).blocks;
      }
    } else {
      const Place place = place_of(me);
      const StreamRun& mine = run(place.run);
      const std::int64_t position = modulo(tau - place.member, mine.q());
      label = layout_.t - mine.word[index(position)];
      if (const StreamHead* head = head_at(mine, position)) {
        const std::size_t h = head_runs_[place.run][static_cast<std::size_t>(head - mine.heads.data())];
        k = head_sums_[h] - heads_before(label) + place.block;
      } else {
        k = heads_before(label + 1) - heads_before(label) + leaf_number(place.run, place.block, position);
      }
    }
    const std::int64_t item = tau - label;
    const std::int64_t from = label == 0 ? root_ : parent_player(label, k, item);
    return StreamMessage{{time - L_}, item, from, rank};
  }

 private:
  /// All heads of one kind: one per block of the run.
  struct HeadRun {
    std::int64_t label = 0;
    std::int64_t missing = 0;  ///< labels up to t that have no child of it
    std::size_t run = 0;
    std::size_t head = 0;
  };
  struct LeafRun {
    std::size_t run = 0;
    std::int64_t before = 0;  ///< leaf slots of this letter in earlier runs
    std::int64_t each = 0;    ///< in every block
  };
  struct Place {
    std::size_t run = 0;
    std::int64_t block = 0;
    std::int64_t member = 0;
  };

  bool is_receive_only(std::int64_t inner) const { return layout_.receive_only && inner == P_ - 2; }
  const StreamRun& run(std::size_t index) const { return layout_.runs[index]; }
  Place place_of(std::int64_t inner) const {
    const auto next = std::upper_bound(ranks_before_.begin(), ranks_before_.end(), inner);
    const auto r = static_cast<std::size_t>(next - ranks_before_.begin()) - 1;
    const std::int64_t offset = inner - ranks_before_[r];
    return {r, offset / run(r).q(), offset % run(r).q()};
  }

  /// Who of this block is at `position` at `time`, as a rank.
  std::int64_t player(std::size_t r, std::int64_t block, std::int64_t position, std::int64_t time) const {
    return outer(ranks_before_[r] + block * run(r).q() + modulo(time - position, run(r).q()));
  }

  const StreamHead* head_at(const StreamRun& r, std::int64_t position) const {
    for (const StreamHead& head : r.heads) {
      if (head.position == position) return &head;
    }
    return nullptr;
  }

  /// Heads with a child at this label are head runs 0 .. count-1 with few missing children: their prefix sums.
  const std::vector<std::int64_t>& parent_sums(std::int64_t child_label) const {
    const auto over = std::upper_bound(missing_.begin(), missing_.end(), layout_.t - child_label);
    return parent_sums_[static_cast<std::size_t>(over - missing_.begin()) - 1];
  }

  /// Heads of smaller labels
  std::int64_t heads_before(std::int64_t label) const {
    const auto first =
        std::partition_point(heads_.begin(), heads_.end(), [&](const HeadRun& head) { return head.label < label; });
    return head_sums_[static_cast<std::size_t>(first - heads_.begin())];
  }

  /// The rank that is node number k of this label for this item.
  std::int64_t node_player(std::int64_t label, std::int64_t k, std::int64_t item) const {
    const std::int64_t first = heads_before(label);
    const std::int64_t heads = heads_before(label + 1) - first;
    if (k < heads) {
      const auto next = std::upper_bound(head_sums_.begin(), head_sums_.end(), first + k);
      const auto h = static_cast<std::size_t>(next - head_sums_.begin()) - 1;
      const HeadRun& head = heads_[h];
      return player(head.run, first + k - head_sums_[h], run(head.run).heads[head.head].position, item + label);
    }
    std::int64_t slot = k - heads;
    const std::int64_t letter = layout_.t - label;
    if (index(letter) < leaves_.size()) {
      const auto& list = leaves_[index(letter)];
      const auto next =
          std::partition_point(list.begin(), list.end(), [&](const LeafRun& l) { return l.before <= slot; });
      if (next != list.begin()) {
        const LeafRun& leaf = *std::prev(next);
        slot -= leaf.before;
        if (slot < leaf.each * run(leaf.run).blocks) {
          std::int64_t skip = slot % leaf.each;
          for (std::int64_t j = 0;; ++j) {
            if (run(leaf.run).word[index(j)] != letter || head_at(run(leaf.run), j) != nullptr) continue;
            if (skip-- == 0) return player(leaf.run, slot / leaf.each, j, item + label);
          }
        }
      }
    }
    CHASQUI_CHECK(layout_.receive_only == letter, "node_player: label={} k={}", label, k);
    return outer(P_ - 2);
  }

  /// The rank that sends this item to node number k of this label.
  std::int64_t parent_player(std::int64_t child_label, std::int64_t k, std::int64_t item) const {
    const auto& sums = parent_sums(child_label);
    const auto next = std::upper_bound(sums.begin(), sums.end(), k);
    const auto h = static_cast<std::size_t>(next - sums.begin()) - 1;
    const HeadRun& head = heads_[h];
    return player(head.run, k - sums[h], run(head.run).heads[head.head].position, item + head.label);
  }

  std::int64_t leaf_number(std::size_t r, std::int64_t block, std::int64_t position) const {
    const std::int32_t letter = run(r).word[index(position)];
    const auto& list = leaves_[index(letter)];
    const auto mine = std::partition_point(list.begin(), list.end(), [&](const LeafRun& leaf) { return leaf.run < r; });
    std::int64_t number = mine->before + block * mine->each;
    for (std::int64_t j = 0; j < position; ++j) {
      if (run(r).word[index(j)] == letter && head_at(run(r), j) == nullptr) ++number;
    }
    return number;
  }

  Layout layout_;
  std::int64_t wait_;
  std::vector<std::int64_t> ranks_before_;              ///< by run
  std::vector<HeadRun> heads_;                          ///< by label, missing, run
  std::vector<std::int64_t> head_sums_;                 ///< heads in head runs before this one
  std::vector<std::int64_t> missing_;                   ///< the values that occur, ascending
  std::vector<std::vector<std::int64_t>> parent_sums_;  ///< by index in missing_: heads that miss at most so many
  std::vector<std::vector<LeafRun>> leaves_;            ///< by letter
  std::vector<std::vector<std::size_t>> head_runs_;     ///< by run and head: index in heads_
};

}  // namespace

StreamPtr block_stream(std::int64_t P, std::int64_t L, std::int64_t root, Layout layout, Claim claim) {
  return std::make_shared<BlockStream>(P, L, root, std::move(layout), std::move(claim));
}

}  // namespace chasqui::plan::stream_detail
