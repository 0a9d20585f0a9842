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
#include "run/board/groups.hpp"
#include "run/choose/line_cost.hpp"

namespace chasqui::run {

/// Bytes of a stage that a collective needs in one piece: an element of folds, one or a line for each rank of exchanges.
std::size_t staged_element(Kind kind, std::size_t element, int ranks);

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
    return among(kind, bytes, element, Among::all);
  }
  /// How a call runs that is started.
  std::optional<Method> ours(Kind kind, std::size_t bytes, std::size_t element) const {
    return among(kind, bytes, element, Among::ours);
  }
  const std::vector<MethodFrom>& entries(Kind kind) const { return rows_[static_cast<std::size_t>(kind)].entries; }
  std::size_t wide() const { return wide_; }  ///< bytes that a slot holds beside its lines
  const BoardGroups& groups() const { return groups_; }

 private:
  static constexpr std::size_t kKinds = 10;  ///< broadcast .. barrier
  struct Row {
    std::size_t short_bytes = ~std::size_t{0};  ///< up to so many the first entry holds, whatever the elements
    Method short_method = Method::slots;        ///< of those
    std::vector<MethodFrom> entries = {{}};     ///< by size; the first from 0 on
  };
  std::optional<Method> among(Kind kind, std::size_t bytes, std::size_t element, Among which) const {
    const Row& row = rows_[static_cast<std::size_t>(kind)];
    if (bytes <= row.short_bytes) return row.short_method;
    return longer(kind, bytes, element, which);
  }
  /// REQUIRES more bytes than short ones have.
  std::optional<Method> longer(Kind kind, std::size_t bytes, std::size_t element, Among which) const;
  void find_short();

  std::array<Row, kKinds> rows_;
  BoardGroups groups_;
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
