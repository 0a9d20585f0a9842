// SPDX-License-Identifier: MIT
#include <utility>

#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {
namespace {

constexpr Place after_two(int part, int result) {
  return static_cast<Place>(static_cast<int>(Place::further) + 2 * (part - 2) + result);
}
constexpr Place contribution(int part) {
  return part == 0 ? Place::first : part == 1 ? Place::second : after_two(part, 0);
}
constexpr Place result(int part) {
  return part == 0 ? Place::result : part == 1 ? Place::second_result : after_two(part, 1);
}

}  // namespace

GroupedFold::GroupedFold(Board& board, const Call& call)
    : board_(board), call_(call), count_(call.kind == Kind::barrier ? 0 : static_cast<std::size_t>(call.count)),
      parts_(count_ * call.element <= kLinePayload ? 1 : lines_of(count_, call.element)),
      each_(parts_ == 1 ? count_ : (count_ + static_cast<std::size_t>(parts_) - 1) / static_cast<std::size_t>(parts_)),
      groups_(board.groups().for_lines(parts_, call.op)),
      part_(groups_.place < groups_.smallest ? groups_.place : parts_) {
  board.begin(signature_of(call), Method::grouped_fold);
}

/// The first line last: it is the one that is looked for first.
void GroupedFold::publish() {
  const auto* in = static_cast<const std::byte*>(call_.in != nullptr ? call_.in : call_.out);
  const std::size_t element = call_.element;
  for (int part = parts_; part-- > 0;) {
    board_.publish_line(board_.rank(), contribution(part), in + begin(part) * element, count(part) * element);
  }
  published_ = true;
  awaited_ = Awaited(0, groups_.members, groups_.place);
}

/// In rank order.
void GroupedFold::fold_group(int part) {
  const Place place = contribution(part);
  fold_values(call_, board_.payload(groups_.member(0), place),
              static_cast<std::size_t>(groups_.step) * board_.stride(place), groups_.members,
              board_.own_payload(result(part)), count(part));
  board_.announce(result(part));
}

/// The results of all groups, in order. All are there.
void GroupedFold::take(int part) {
  const Place place = result(part);
  fold_values(call_, board_.payload(groups_.rank_of(0, leader(part)), place),
              static_cast<std::size_t>(groups_.leap) * board_.stride(place), groups_.count,
              static_cast<std::byte*>(call_.out) + begin(part) * call_.element, count(part));
}

/// True when all lines that this rank leads are folded and published.
bool GroupedFold::lead() {
  if (part_ >= parts_) return true;
  while (part_ < parts_) {
    const auto here = [&](int i) { return board_.published(groups_.member(i), contribution(part_)); };
    if (!awaited_.none(here)) return ++looks_, false;
    fold_group(part_);
    part_ += groups_.smallest;
    awaited_ = Awaited(0, groups_.members, groups_.place);
  }
  board_.looks().group.learn(std::exchange(looks_, 0));
  return true;
}

/// Asks for all lines at once, the first time: none waits for another's journey.
bool GroupedFold::results_here() {
  const int all = parts_ * groups_.count;
  const auto from = [&](int i) { return groups_.rank_of(i / parts_, leader(i % parts_)); };
  for (int i = 0; looks_ == 0 && i < all; ++i) board_.fetch(from(i), result(i % parts_));
  while (here_ < all && board_.published(from(here_), result(here_ % parts_))) ++here_;
  return here_ == all;
}

/// The first look at what its group contributed.
void GroupedFold::look_at_group() {
  board_.looks().group.wait();
  for (int part = part_; part < parts_; part += groups_.smallest) {
    for (int i = 0; i < groups_.members; ++i) board_.fetch(groups_.member(i), contribution(part));
  }
}

bool GroupedFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
    if (part_ < parts_) look_at_group();
  }
  if (!lead()) return false;
  if (call_.kind != Kind::reduce || board_.rank() == static_cast<int>(call_.root)) {
    if (looks_ == 0) board_.looks().results.wait();
    if (!results_here()) return ++looks_, false;
    board_.looks().results.learn(looks_);
    for (int part = 0; part < parts_; ++part) take(part);
    board_.everybody_began();
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
