// SPDX-License-Identifier: MIT
// Which method of a board runs a collective: a table kind x size, made once when a communicator is made. Every call looks
// it up and explain() prints it, so that what runs is what is explained.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/run/choose.hpp"

namespace chasqui::run {

constexpr bool folds(Kind kind) { return combines(kind) && kind != Kind::barrier; }
constexpr bool exchanges(Kind kind) { return kind == Kind::alltoall || kind == Kind::reduce_scatter; }

/// What a board costs, in nanoseconds.
struct LineCosts {
  int ranks = 1;       ///< that share the board
  double publish = 0;  ///< one line from its writer to all readers
  double each = 0;     ///< reading each further line while everybody does
  Grouping caches{};   ///< ranks that share one; none: all do
  double near = 1;     ///< inside a cache both take so much of that
  friend bool operator==(const LineCosts&, const LineCosts&) = default;
};
LineCosts line_costs(const Profile& profile, int ranks, const Grouping& caches = {});

/// Bytes of a stage that a collective needs in one piece: an element of folds, one or a line for each rank of exchanges.
std::size_t staged_element(Kind kind, std::size_t element, int ranks);

/// The level of a profile that tells of shared memory.
const Level& node_level(const Profile& profile);

/// An all-reduce whose contributions take so many lines. No groups (1 or 2 lines): everybody reads all lines (slots); otherwise a
/// member of each group folds each line, and everybody reads what the groups have.
double grouped_fold_time(const LineCosts& costs, int lines, const Grouping& groups);

/// The fastest groups; of 1 or 2 lines none when nothing is faster than without.
Grouping best_groups(const LineCosts& costs, int lines);
/// Those for contributions of more than two lines: the same for all of them.
Grouping groups_of_many(const LineCosts& costs);

/// A broadcast of so many bytes, that a slot holds, in two steps. Groups: those of the caches.
double relay_time(const LineCosts& costs, double bytes);

/// A scan in chunks of the best length that pass from rank to rank: `work` is what a rank does for all of them.
double pipeline_time(const LineCosts& costs, double work);
/// For each line, in units of LineCosts::each.
inline constexpr double kLineAlong = 1;

/// A collective that puts `bytes` beside the lines of a slot (a scatter: the blocks of all), or takes one of the longer
/// methods that compete with that. REQUIRES relay, slots, grouped_fold, shared_fold, exposed_fold, direct or staged.
double beside_lines_time(const LineCosts& costs, Method method, Kind kind, double bytes);

/// How often as long a payload of two lines takes as one of one line (flat all-reduces of 8 and 64 B on 16 ranks,
/// bench/node/lines.cpp).
inline constexpr double kTwoLines = 1.7;

/// From so many bytes of one rank's contribution on, up to the next entry's.
struct MethodFrom {
  std::size_t bytes = 0;
  Method method = Method::slots;
  bool native = false;  ///< blocking calls go to the MPI library instead
};
const MethodFrom& entry_at(const std::vector<MethodFrom>& entries, std::size_t bytes);

/// What boards of the usual shape for so many ranks do.
std::vector<MethodFrom> usual_methods(const LineCosts& costs, Kind kind, bool threads);

/// Among which methods: the MPI library's own collective serves blocking calls, and cannot be started.
enum class Among { all, ours };

class BoardMethods {
 public:
  BoardMethods() = default;  ///< slots for everything: a rank alone
  /// Of a board inside a node, whose slots hold `wide` bytes beside their lines.
  BoardMethods(const LineCosts& costs, std::size_t wide, bool threads);
  /// Of a board that spans all ranks. REQUIRES topology.board, one node.
  BoardMethods(const Topology& topology, const Profile& profile);

  /// How a blocking call runs; nothing if its elements are too large for the board: then by messages, or natively.
  std::optional<Method> of(Kind kind, std::size_t bytes, std::size_t element) const {
    const Row& row = rows_[static_cast<std::size_t>(kind)];
    if (bytes <= row.short_bytes) return row.short_method;
    return longer(kind, bytes, element, Among::all);
  }
  /// How a call runs that is started.
  std::optional<Method> ours(Kind kind, std::size_t bytes, std::size_t element) const {
    return longer(kind, bytes, element, Among::ours);
  }
  const std::vector<MethodFrom>& entries(Kind kind) const { return rows_[static_cast<std::size_t>(kind)].entries; }
  std::size_t wide() const { return wide_; }  ///< bytes that a slot holds beside its lines
  /// For folds of 1 or 2 lines, and of more; and for broadcasts.
  const std::array<Grouping, 4>& groups() const { return groups_; }

 private:
  static constexpr std::size_t kKinds = 10;  ///< broadcast .. barrier
  struct Row {
    std::size_t short_bytes = ~std::size_t{0};  ///< up to so many the first entry holds, whatever the elements
    Method short_method = Method::slots;        ///< of those
    std::vector<MethodFrom> entries = {{}};     ///< by size; the first from 0 on
  };
  std::optional<Method> longer(Kind kind, std::size_t bytes, std::size_t element, Among among) const;
  void find_short();

  std::array<Row, kKinds> rows_;
  std::array<Grouping, 4> groups_{};
  int ranks_ = 1;
  std::size_t wide_ = 0;
  std::size_t largest_element_ = ~std::size_t{0};  ///< that the stages hold
};

inline Query query_of(const Call& call) {
  return {call.kind, call.kind == Kind::barrier ? 0 : call.bytes(), call.element,
          call.op.combine == nullptr || call.op.commutative};
}

/// How blocks of different lengths go: no rank knows the sizes of all, so nothing is predicted.
Method uneven_method(const Call& call, const Topology& topology);

/// All methods that apply, the one that the table says first.
std::vector<Choice> choices(const Query& query, const Topology& topology, const Profile& profile,
                            const BoardMethods& board);

/// Why a method cannot run this, in words; empty if it can.
std::string objection(const Choice& choice, const Query& query, const Topology& topology, const BoardMethods& board);

}  // namespace chasqui::run
