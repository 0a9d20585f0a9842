// SPDX-License-Identifier: MIT
#include <utility>

#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {
namespace {

constexpr Place contribution(int part) { return part == 0 ? Place::first : Place::second; }
constexpr Place result(int part) { return part == 0 ? Place::result : Place::second_result; }

/// Elements in the first of two parts.
std::size_t half(const Call& call) { return static_cast<std::size_t>(call.count + 1) / 2; }

bool one_line(const Call& call) { return call.kind == Kind::barrier || call.bytes() <= kLinePayload; }

}  // namespace

GroupedFold::GroupedFold(Board& board, const Call& call)
    : board_(board), call_(call), total_(call.kind == Kind::barrier ? 0 : call.bytes()), parts_(one_line(call) ? 1 : 2),
      groups_(board.groups(parts_)) {
  board.begin(signature_of(call), Method::grouped_fold);
  const std::size_t count = total_ == 0 ? 0 : static_cast<std::size_t>(call.count);
  begin_[0] = 0;
  begin_[1] = parts_ == 1 ? count : half(call);
  begin_[2] = count;
}

void GroupedFold::publish() {
  const auto* in = static_cast<const std::byte*>(call_.in != nullptr ? call_.in : call_.out);
  const std::size_t element = call_.element;
  for (int part = parts_; part-- > 0;) {
    board_.publish_line(board_.rank(), contribution(part), in + begin_[part] * element, count(part) * element);
  }
  published_ = true;
  awaited_ = Awaited(groups_.base, groups_.base + groups_.members, board_.rank());
}

/// In rank order.
void GroupedFold::fold_group(int part) {
  fold_values(call_, board_.payload(groups_.base, contribution(part)), board_.stride(), groups_.members,
              board_.own_payload(result(part)), count(part));
  board_.announce(result(part));
}

/// The results of all groups, in order. All are there.
void GroupedFold::take(int part) {
  fold_values(call_, board_.payload(part, result(part)), static_cast<std::size_t>(groups_.size) * board_.stride(),
              groups_.count, static_cast<std::byte*>(call_.out) + begin_[part] * call_.element, count(part));
}

/// True when the part that this rank leads is folded and published.
bool GroupedFold::lead() {
  for (; part_ < parts_; ++part_) {
    if (!leads(part_)) continue;
    if (!awaited_.none([&](int r) { return board_.published(r, contribution(part_)); })) return ++looks_, false;
    fold_group(part_);
  }
  board_.look_at_group().learn(std::exchange(looks_, 0));
  folded_ = true;
  return true;
}

/// Asks for all lines at once: none waits for another's journey.
bool GroupedFold::results_here() const {
  bool all = true;
  for (int part = 0; part < parts_; ++part) {
    for (int group = 0; group < groups_.count; ++group) {
      const bool here = board_.published(leader(group, part), result(part));
      all = all && here;
    }
  }
  return all;
}

/// The first look at what its group contributed.
void GroupedFold::look_at_group() {
  board_.look_at_group().wait();
  for (int part = 0; part < parts_; ++part) {
    for (int r = groups_.base; leads(part) && r < groups_.base + groups_.members; ++r)
      board_.fetch(r, contribution(part));
  }
  lead();
}

bool GroupedFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
    if (folded_ = board_.rank() - groups_.base >= parts_; !folded_) look_at_group();
  }
  if (!folded_ && !lead()) return false;
  if (call_.kind != Kind::reduce || board_.rank() == static_cast<int>(call_.root)) {
    if (looks_ == 0) board_.look_at_results().wait();
    if (!results_here()) return ++looks_, false;
    board_.look_at_results().learn(looks_);
    for (int part = 0; part < parts_; ++part) take(part);
    board_.everybody_began();
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
