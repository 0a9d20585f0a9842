// SPDX-License-Identifier: MIT
#include <cstdint>
#include <utility>

#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {
namespace {

constexpr Place kOfGroup = Place::result, kOfAll = Place::second_result;

/// An all-reduce is one part: more flags cost more than longer ones (docs/laboratory.md). The last group may have fewer
/// members than the others, and each part needs one in every group.
int most_parts(const Board& board, const Groups& groups, Kind kind) {
  return kind == Kind::allreduce ? 1 : std::min(groups.size, board.ranks() - (groups.count - 1) * groups.size);
}

}  // namespace

TreeFold::TreeFold(Board& board, const Call& call)
    : board_(board), call_(call), total_(call.bytes()), groups_(board.groups(3)),
      share_(share_elements(static_cast<std::size_t>(call.count), call.element, most_parts(board, groups_, call.kind))),
      parts_(static_cast<int>((static_cast<std::size_t>(call.count) + share_ - 1) / share_)),
      part_(board.rank() - groups_.base), everywhere_(call.kind == Kind::allreduce), group_folded_(part_ >= parts_),
      all_folded_(!everywhere_ || groups_.base != 0 || group_folded_) {
  board.begin(signature_of(call), Method::tree_fold);
}

/// to = that part of `sources` ranks from `first` on, so many `apart`, in rank order. All are there.
void TreeFold::fold(int sources, int first, int apart, int part, std::byte* to) const {
  fold_in_order(call_, sources, size(part) / call_.element, to,
                [&](int i) { return static_cast<const std::byte*>(part_at(first + i * apart, part)); });
}

void TreeFold::publish() {
  board_.publish(board_.rank(), call_.in != nullptr ? call_.in : call_.out, total_);
  published_ = true;
  if (group_folded_) return;
  awaited_ = Awaited(groups_.base, groups_.base + groups_.members, board_.rank());
  board_.look_at_group().wait();
  for (int r = groups_.base; r < groups_.base + groups_.members; ++r) {
    board_.fetch(r, Place::first);
    if (r != board_.rank() && !board_.look_at_group().apart()) fetch_lines(part_at(r, part_), size(part_));
  }
  fold_group();
}

bool TreeFold::fold_group() {
  if (group_folded_) return true;
  const bool late = looks_ > 0 || board_.look_at_group().apart();  // else it was asked for before
  const bool found = awaited_.none([this, late](int r) {
    if (!board_.published(r)) return false;
    if (late) fetch_lines(part_at(r, part_), size(part_));
    return true;
  });
  if (!found) return ++looks_, false;
  board_.look_at_group().learn(std::exchange(looks_, 0));
  fold(groups_.members, groups_.base, 1, part_, part_at(board_.rank(), part_));
  board_.announce(kOfGroup);
  return group_folded_ = true;
}

/// Are n flags there? All are looked at, and what a late one announces is asked for when it comes, else before it is announced.
template <typename Here, typename Fetch>
bool TreeFold::all_here(FirstLook& look, int n, Here here, Fetch fetch) {
  if (looks_ == 0) {
    seen_ = 0;
    look.wait();
    for (int i = 0; i < n && !look.apart(); ++i) fetch(i);
  }
  bool all = true;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    if (!here(i)) {
      all = false;
    } else if ((looks_ > 0 || look.apart()) && (seen_ & bit) == 0) {
      seen_ |= bit;
      fetch(i);
    }
  }
  if (!all) return ++looks_, false;
  look.learn(std::exchange(looks_, 0));
  return true;
}

bool TreeFold::fold_groups() {
  if (all_folded_) return true;
  const int others = groups_.count - 1;
  const auto from = [this](int i) { return leader(i + 1, part_); };
  for (int i = 0; i < others && looks_ == 0; ++i) board_.fetch(from(i), kOfGroup);
  const auto here = [&](int i) { return board_.published(from(i), kOfGroup); };
  const auto fetch = [&](int i) { fetch_lines(part_at(from(i), part_), size(part_)); };
  if (!all_here(board_.look_at_results(), others, here, fetch)) return false;
  fold(groups_.count, part_, groups_.size, part_, part_at(part_, part_));
  board_.announce(kOfAll);
  return all_folded_ = true;
}

/// The parts of the first ranks, or what the groups have of every part.
bool TreeFold::take() {
  const int sources = everywhere_ ? 1 : groups_.count;
  const Place place = everywhere_ ? kOfAll : kOfGroup;
  const auto from = [&](int i) { return leader(i % sources, i / sources); };
  const auto here = [&](int i) { return board_.published(from(i), place); };
  const auto fetch = [&](int i) {
    if (!everywhere_) fetch_lines(part_at(from(i), i / sources), size(i / sources));
  };
  if (!all_here(board_.look_at_shares(), parts_ * sources, here, fetch)) return false;
  if (everywhere_) fetch_lines(board_.wide(0), total_);  // not before it is there: all would take it from its writer
  auto* out = static_cast<std::byte*>(call_.out);
  for (int part = 0; part < parts_; ++part) fold(sources, part, groups_.size, part, out + begin(part));
  return true;
}

bool TreeFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
  }
  if (!fold_group() || !fold_groups()) return false;
  if (everywhere_ || board_.rank() == static_cast<int>(call_.root)) {
    if (!take()) return false;
    board_.everybody_began();
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
