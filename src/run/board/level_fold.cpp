// SPDX-License-Identifier: MIT
#include <utility>

#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {
LevelFold::LevelFold(Board& board, const Call& call)
    : board_(board), call_(call), parts_(parts_of(call)),
      last_(call.kind == Kind::barrier ? 0 : static_cast<std::size_t>(call.count)),
      ladder_(board.groups().ladder(parts_, call.op.combine != nullptr && !call.op.commutative)),
      reads_(call.kind != Kind::reduce || board.rank() == static_cast<int>(call.root)), part_(ladder_.place()) {
  if (parts_ > 1) {
    each_ = (last_ + static_cast<std::size_t>(parts_) - 1) / static_cast<std::size_t>(parts_);
    last_ -= static_cast<std::size_t>(parts_ - 1) * each_;
  }
  board.begin(signature_of(call), Method::level_fold);
}

Place LevelFold::place(int time, int part) const {
  return static_cast<Place>(static_cast<int>(place_of(time, parts_, board_.shape().lines() > 2)) + part);
}

void LevelFold::publish() {
  const auto* in = static_cast<const std::byte*>(call_.in != nullptr ? call_.in : call_.out);
  board_.publish_lines(place(0, 0), in, parts_, each_ * call_.element, last_ * call_.element);
  published_ = true;
}

/// For all lines that it folds there at once: none waits for another's journey.
void LevelFold::ask(int rung) const {
  const bool top = rung > ladder_.rungs();
  for (int part = top ? 0 : ladder_.place(); part < parts_; part += top ? 1 : ladder_.members()) {
    for (int i = 0; i < ladder_.sources(rung); ++i) board_.fetch(ladder_.source(rung, i, part), place(rung - 1, part));
  }
}

/// One line of a rung, from what lies on the rung below, when all of that has come. Values that lie equally far apart are folded where they
/// are, as ranks are that a launcher has placed.
bool LevelFold::fold(int rung, int part, Place from, std::byte* to) {
  const int n = ladder_.sources(rung);
  const auto rank = [&](int i) { return ladder_.source(rung, i, part); };
  for (; come_ < n; ++come_) {
    if (!board_.published(rank(come_), from)) return false;
  }
  come_ = 0;
  const int step = n > 1 ? rank(1) - rank(0) : 1;
  bool even = step > 0;
  for (int i = 2; even && i < n; ++i) even = rank(i) - rank(i - 1) == step;
  if (even) {
    fold_values(call_, board_.payload(rank(0), from), static_cast<std::size_t>(step) * board_.stride(from), n, to,
                count(part));
  } else {
    fold_scattered(
        call_, n, [&](int i) { return board_.payload(rank(i), from); }, to, count(part));
  }
  return true;
}

/// True when all that this rank folds for others is folded and published.
bool LevelFold::climb() {
  for (; rung_ <= ladder_.height(); ++rung_) {
    for (; part_ < parts_; part_ += ladder_.members()) {
      const Place to = place(rung_, part_);
      if (!fold(rung_, part_, place(rung_ - 1, part_), board_.own_payload(to))) return ++looks_, false;
      board_.announce(to);
    }
    if (rung_ == 1 && ladder_.place() < parts_) board_.looks().group.learn(std::exchange(looks_, 0));
    part_ = ladder_.place();
    if (rung_ < ladder_.height()) ask(rung_ + 1);
  }
  return true;
}

/// What is at the top, folded to the result.
bool LevelFold::take_top() {
  const int top = ladder_.rungs() + 1;
  auto* const out = static_cast<std::byte*>(call_.out);
  const std::size_t bytes = each_ * call_.element;
  for (; part_ < parts_; ++part_) {
    if (!fold(top, part_, place(top - 1, part_), out + static_cast<std::size_t>(part_) * bytes)) return false;
  }
  return true;
}

/// What another rank tells.
bool LevelFold::take_total() {
  const int from = ladder_.told_by();
  auto* const out = static_cast<std::byte*>(call_.out);
  const std::size_t bytes = each_ * call_.element;
  for (; part_ < parts_; ++part_) {
    const Place at = place(ladder_.rungs() + 1, part_);
    if (!board_.published(from, at)) return false;
    copy_short(out + static_cast<std::size_t>(part_) * bytes, board_.payload(from, at), count(part_) * call_.element);
  }
  return true;
}

bool LevelFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
    if (part_ < parts_) {
      board_.looks().group.wait();
      ask(1);
    }
  }
  const int top = ladder_.rungs() + 1;
  if (rung_ < top) {
    if (!climb()) return false;
    rung_ = top;
    part_ = looks_ = 0;
  }
  const bool told = ladder_.goes_down() && call_.kind != Kind::reduce;
  const bool by_another = told && ladder_.told_by() >= 0;
  if (reads_) {
    if (looks_ == 0) {
      board_.looks().results.wait();
      if (by_another) board_.fetch(ladder_.told_by(), place(top, 0));
      else ask(top);
    }
    if (by_another ? !take_total() : !take_top()) return ++looks_, false;
    board_.looks().results.learn(looks_);
    board_.everybody_began();
    if (told && ladder_.tells())
      board_.publish_lines(place(top, 0), static_cast<const std::byte*>(call_.out), parts_, each_ * call_.element,
                           last_ * call_.element);
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
