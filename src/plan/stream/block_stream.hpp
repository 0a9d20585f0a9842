// SPDX-License-Identifier: MIT
// A block-cyclic stream: finds any rank's messages at any time from prefix sums over the runs of its layout.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/stream/layout.hpp"

namespace chasqui::plan::stream_detail {

/// Nodes of one label are numbered: heads in run order, then leaf slots by (run, block, position), the
/// receive-only rank last. Node number k of a label is a child of head number k among those that have a child
/// there.
class BlockStream final : public Stream {
 public:
  /// REQUIRES layout.L >= L: nodes then wait layout.L - L steps before they send.
  BlockStream(std::int64_t P, std::int64_t L, std::int64_t root, Layout layout, Claim claim);

  std::int64_t period() const override;
  std::vector<StreamMessage> messages_of(std::int64_t item) const override;
  const StreamLayout* layout() const override { return &layout_; }
  std::optional<StreamMessage> pattern_sent(std::int64_t rank, std::int64_t time) const override;
  std::optional<StreamMessage> pattern_received(std::int64_t rank, std::int64_t time) const override;

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
  Place place_of(std::int64_t inner) const;
  std::int64_t player(std::size_t run, std::int64_t block, std::int64_t position, std::int64_t time) const;
  const StreamHead* head_at(const StreamRun& run, std::int64_t position) const;

  /// Heads with a child at this label are head runs 0 .. count-1 with few missing children: their prefix
  /// sums.
  const std::vector<std::int64_t>& parent_sums(std::int64_t child_label) const;
  std::int64_t heads_before(std::int64_t label) const;  ///< heads of smaller labels
  std::int64_t node_player(std::int64_t label, std::int64_t k, std::int64_t item) const;
  std::int64_t parent_player(std::int64_t child_label, std::int64_t k, std::int64_t item) const;
  std::int64_t leaf_number(std::size_t run, std::int64_t block, std::int64_t position) const;

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

}  // namespace chasqui::plan::stream_detail
