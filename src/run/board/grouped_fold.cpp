// SPDX-License-Identifier: MIT
#include <utility>

#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {
namespace {

Place plus(Place place, int lines) { return static_cast<Place>(static_cast<int>(place) + lines); }

}  // namespace

GroupedFold::GroupedFold(Board& board, const Call& call)
    : board_(board), call_(call), parts_(parts_of(call)),
      last_(call.kind == Kind::barrier ? 0 : static_cast<std::size_t>(call.count)),
      contributions_(parts_ > 2 ? Place::further : Place::first),
      results_(parts_ > 2 ? plus(Place::further, board.shape().lines()) : Place::result),
      groups_(board.groups().for_lines(parts_)), part_(groups_.place < groups_.smallest ? groups_.place : parts_) {
  if (parts_ > 1) {
    each_ = (last_ + static_cast<std::size_t>(parts_) - 1) / static_cast<std::size_t>(parts_);
    last_ -= static_cast<std::size_t>(parts_ - 1) * each_;
  }
  board.begin(signature_of(call), Method::grouped_fold);
}

void GroupedFold::publish() {
  const auto* in = static_cast<const std::byte*>(call_.in != nullptr ? call_.in : call_.out);
  board_.publish_lines(contributions_, in, parts_, each_ * call_.element, last_ * call_.element);
  published_ = true;
  awaited_ = Awaited(0, groups_.members, groups_.place);
}

/// Asks for a line of all members' contributions.
void GroupedFold::ask_group(int part) const {
  const SlotLines::Cells cells = board_.cells(contributions_);
  for (int i = 0; i < groups_.members; ++i) ask_for_line(cells.at(groups_.member(i), part));
}

/// The first look at what its group contributed.
void GroupedFold::look_at_group() {
  board_.looks().group.wait();
  ask_group(part_);
}

/// In rank order.
void GroupedFold::fold_group(int part) {
  const Place place = plus(contributions_, part), result = plus(results_, part);
  fold_values(call_, board_.payload(groups_.member(0), place), board_.stride(place), groups_.members,
              board_.own_payload(result), count(part));
  board_.announce(result);
}

/// True when all lines that this rank leads are folded and published.
bool GroupedFold::lead() {
  if (part_ >= parts_) return true;
  const SlotLines::Cells cells = board_.cells(contributions_);
  while (part_ < parts_) {
    const auto here = [&](int i) { return board_.published(*cells.at(groups_.member(i), part_), groups_.member(i)); };
    if (!awaited_.none(here)) return ++looks_, false;
    const int next = part_ + groups_.smallest;
    if (next < parts_) ask_group(next);  // a rank's first lines come last: this one is there, too
    fold_group(part_);
    part_ = next;
    awaited_ = Awaited(0, groups_.members, groups_.place);
  }
  board_.looks().group.learn(std::exchange(looks_, 0));
  return true;
}

/// Asks for all lines at once: none waits for another's journey.
void GroupedFold::ask_results() const {
  const SlotLines::Cells cells = board_.cells(results_);
  for (Line line; line.group < groups_.count; next(line)) ask_for_line(cells.at(folded_by(line), line.part));
}

/// A part is taken when the last group's line of it is there.
bool GroupedFold::take_results() {
  const SlotLines::Cells cells = board_.cells(results_);
  const std::size_t bytes = each_ * call_.element,
                    across = static_cast<std::size_t>(groups_.size) * board_.stride(results_);
  const int groups = groups_.count;
  auto* const out = static_cast<std::byte*>(call_.out);
  Line here = here_;
  for (; here.group < groups; next(here)) {
    const int rank = folded_by(here);
    const SlotLines::Line* const line = cells.at(rank, here.part);
    if (!board_.published(*line, rank)) break;
    if (here.group + 1 < groups) continue;
    const std::byte* const first = line->payload - static_cast<std::size_t>(here.group) * across;
    fold_values(call_, first, across, groups, out + static_cast<std::size_t>(here.part) * bytes, count(here.part));
  }
  here_ = here;
  return here.group == groups;
}

bool GroupedFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
    if (part_ < parts_) look_at_group();
  }
  if (!lead()) return false;
  if (call_.kind != Kind::reduce || board_.rank() == static_cast<int>(call_.root)) {
    if (looks_ == 0) {
      board_.looks().results.wait();
      ask_results();
    }
    if (!take_results()) return ++looks_, false;
    board_.looks().results.learn(looks_);
    board_.everybody_began();
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
