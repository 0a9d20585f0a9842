// SPDX-License-Identifier: MIT
// Continuous broadcast on the postal machine: a new item leaves the root every step, for ever, and everybody
// has it `delay` steps later. The bound is L + B(P-1) (streams.md, Theorem 2). Plans are runs of equal blocks:
// their size depends on L and log P only, and any rank finds its messages at any time by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// One message of a stream: `from` begins to send `item` at `begin`; `to` has it at begin + L.
/// Ranks are 64 bits wide here: a stream can be planned for more ranks than a Schedule can hold.
struct StreamMessage {
  Time begin;             ///< when the send begins
  std::int64_t item = 0;  ///< which item
  std::int64_t from = 0;  ///< sender
  std::int64_t to = 0;    ///< receiver

  friend constexpr auto operator<=>(const StreamMessage&, const StreamMessage&) = default;
};

/// The tree node that the ranks of a block take turns to play, at one position of their word.
struct StreamHead {
  std::int32_t position = 0;  ///< place in the block's cycle
  std::int64_t label = 0;     ///< steps after the item reached the root of its tree
  std::int64_t children = 0;  ///< it sends in so many steps, one after another
};

/// `blocks` equal blocks of word.size() ranks. A rank receives, at a position of its word, the item that
/// completes so many steps later.
struct StreamRun {
  std::vector<StreamHead> heads;   ///< by position; the word's other positions are leaves
  std::vector<std::int32_t> word;  ///< by position: the item received there completes so many steps later
  std::int64_t blocks = 1;         ///< how many blocks use this word

  std::int64_t q() const { return static_cast<std::int64_t>(word.size()); }  ///< length of the word
};

/// A block-cyclic stream as a value.
struct StreamLayout {
  std::int64_t L = 1;                        ///< of the tree; the machine's latency may be smaller
  std::int64_t t = 0;                        ///< height of the tree: the largest label
  std::vector<StreamRun> runs;               ///< by label, fewest missing children first
  std::optional<std::int32_t> receive_only;  ///< the letter of the rank that never sends
};

/// A stream. Immutable; safe to share between threads.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::int64_t P() const { return P_; }        ///< ranks, the root included
  std::int64_t L() const { return L_; }        ///< latency in steps
  std::int64_t root() const { return root_; }  ///< the rank that has the items
  Time delay() const { return delay_; }        ///< from an item's first send to its arrival everywhere
  Time bound() const { return claim_.bound; }  ///< no stream has a shorter delay
  /// finish is the delay.
  const Claim& claim() const { return claim_; }

  /// The pattern repeats after this many steps, the items advanced alike; kSaturated if it does not fit.
  virtual std::int64_t period() const = 0;
  /// What this rank begins to send at this time, at most kMaxTime. Time: O(log of the runs + its block's size).
  std::optional<StreamMessage> sent(std::int64_t rank, Time begin) const;
  /// What this rank has from this time on, at most kMaxTime. Same cost.
  std::optional<StreamMessage> received(std::int64_t rank, Time available) const;
  /// The same for the two-way infinite pattern, whose items may be negative.
  virtual std::optional<StreamMessage> pattern_sent(std::int64_t rank, std::int64_t time) const = 0;
  /// What `rank` receives at `time` in the steady state, as if the stream had always run.
  virtual std::optional<StreamMessage> pattern_received(std::int64_t rank, std::int64_t time) const = 0;
  /// All messages of one item, by begin. Time and memory: O(P). Not made from sent() or received().
  virtual std::vector<StreamMessage> messages_of(std::int64_t item) const = 0;
  /// The block-cyclic layout, or nothing if the stream has another shape.
  virtual const StreamLayout* layout() const { return nullptr; }

 protected:
  /// For the constructions; ranks inside are numbered without the root.
  Stream(std::int64_t P, std::int64_t L, std::int64_t root, Claim claim)
      : P_(P), L_(L), root_(root), delay_(claim.finish), claim_(std::move(claim)) {}

  /// Non-root ranks are numbered 0 .. P-2 inside, the root is -1.
  std::int64_t inner(std::int64_t rank) const { return (rank - root_ + P_) % P_ - 1; }
  /// The rank that the construction calls `inner`.
  std::int64_t outer(std::int64_t inner) const { return (inner + 1 + root_) % P_; }

  std::int64_t P_, L_, root_;  ///< as asked for
  Time delay_;                 ///< of every item
  Claim claim_;                ///< made by the construction
};

using StreamPtr = std::shared_ptr<const Stream>;  ///< streams are shared, never changed

inline constexpr std::int64_t kMaxStreamProcessors = 1'000'000'000'000'000'000;  ///< 10^18
inline constexpr std::int64_t kMaxStreamLatency = 1'000'000'000;  ///< longest latency that streams are planned for

/// The best stream known for P ranks and latency L: delay L + B(P-1) for every P with L = 1 and 3 <= L <= 100, for L =
/// 2 exactly where that is possible, and with the gap stated beyond. Throws an Error for P < 2 or values out of range.
StreamPtr make_stream(std::int64_t P, std::int64_t L, std::int64_t root = 0);

/// A stream as a plan of kind `stream`: one period of the steady state, as docs/model.md says. schedule() and
/// local() throw an Error when a period is too long to list; stream_window() does not need one.
PlanPtr stream_plan(const LogP& machine, StreamPtr stream);
/// The same for the best stream of this machine.
PlanPtr stream(const LogP& machine, Rank root = {});

/// The least delay of a stream with an item every max(g, o) ticks: lambda + B(P-1), as the root sends each item once; on the
/// postal machine with L = 2 one more where that is not possible.
Time stream_bound(const LogP& machine);

/// L = 2: is delay 2 + B(P-1) possible? Exactly when 2(f_t - n) >= f_{t-2} - (t-1), n = P-1, t = B(n).
bool stream_bound_reachable_at_two(std::int64_t P);

}  // namespace chasqui::plan
