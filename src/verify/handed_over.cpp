// SPDX-License-Identifier: MIT
// Reductions of several items and reduce-scatter (docs/model.md): a message of an item hands over all that its sender has of
// it by then. Every item is played once, in order of time. Reports under rules 1, 6 and 7.
#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// A fold: how many contributions, and without commutativity the intervals of ranks they came from.
struct Fold {
  std::int64_t count = 0;
  std::vector<Part> pieces;

  void take(Fold other) {
    count += other.count;
    pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
  }

  /// In rank order, neighbours joined. True if it is one interval, or two around the end of the rank order.
  bool put_in_order(std::int64_t P) {
    std::sort(pieces.begin(), pieces.end());
    std::vector<Part> joined;
    for (const Part& piece : pieces) {
      if (!joined.empty() && joined.back().lo + joined.back().len == piece.lo) {
        joined.back().len += piece.len;
      } else {
        joined.push_back(piece);
      }
    }
    pieces = std::move(joined);
    const bool around = pieces.size() == 2 && pieces[0].lo == 0 && pieces[1].lo + pieces[1].len == P;
    return pieces.size() <= 1 || around;
  }
};

struct Arrival {
  std::int64_t available = 0;
  std::uint32_t index = 0;

  bool operator>(const Arrival& other) const { return available > other.available; }
};

/// Who must end with the fold of an item.
Rank wanted_by(const Case& c, std::int64_t item) {
  if (c.problem().kind == Kind::reduce) return c.problem().root;
  return Rank{static_cast<std::int32_t>(item / c.problem().items)};
}

/// The play of one item.
class ItemPlay {
 public:
  ItemPlay(const Case& c, Findings& findings) : c_(c), findings_(findings) {}

  /// `messages`: of one item, in order of begin. Returns how many contributions `at` ends with.
  std::int64_t play(const std::vector<std::uint32_t>& messages, Rank at) {
    for (const std::uint32_t index : messages) {
      deliver_until(c_.begin(index));
      send(index);
    }
    deliver_until(std::numeric_limits<std::int64_t>::max());
    return held(at).count;
  }

 private:
  Fold& held(Rank rank) {
    auto [place, fresh] = held_.try_emplace(rank.index);
    if (fresh) place->second = own(rank);
    return place->second;
  }

  Fold own(Rank rank) const {
    Fold fold{1, {}};
    if (!c_.problem().commutative) fold.pieces.push_back({rank.index, 1});
    return fold;
  }

  void deliver_until(std::int64_t time) {
    while (!under_way_.empty() && under_way_.top().available <= time) {
      const std::uint32_t index = under_way_.top().index;
      under_way_.pop();
      held(c_.message(index).to).take(std::move(content_[index]));
    }
  }

  void send(std::uint32_t index) {
    const Send& message = c_.message(index);
    Fold fold = std::exchange(held(message.from), Fold{});
    if (c_.begin(index) < 0) {
      findings_.add(1, message.from, c_.begin(index), index, "it sends item {} to rank {} before time 0",
                    message.part.lo, message.to.index);
    } else if (fold.count == 0) {
      findings_.add(1, message.from, c_.begin(index), index, "it sends item {} to rank {} but has nothing of it left",
                    message.part.lo, message.to.index);
    }
    if (!c_.problem().commutative && !fold.put_in_order(c_.machine().P)) {
      findings_.add(6, message.from, c_.begin(index), index,
                    "it sends item {} to rank {}, but what it has of it is no interval of ranks: out of order",
                    message.part.lo, message.to.index);
    }
    under_way_.push({c_.available(index), index});
    content_[index] = std::move(fold);
  }

  const Case& c_;
  Findings& findings_;
  std::unordered_map<std::int32_t, Fold> held_;
  std::unordered_map<std::uint32_t, Fold> content_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> under_way_;
};

}  // namespace

void judge_handed_over(const Case& c, const std::vector<std::uint32_t>& usable, Findings& findings) {
  std::map<std::int64_t, std::vector<std::uint32_t>> by_item;
  for (const std::uint32_t index : usable) by_item[c.message(index).part.lo].push_back(index);
  const auto require_all = [&](std::int64_t item, std::int64_t count) {
    if (count == c.machine().P) return;
    findings.add(7, wanted_by(c, item), c.finish(), kNoMessage, "it ends with {} of the {} contributions to item {}",
                 count, c.machine().P, item);
  };
  for (auto& [item, messages] : by_item) {
    std::stable_sort(messages.begin(), messages.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return c.begin(a) < c.begin(b); });
    require_all(item, ItemPlay(c, findings).play(messages, wanted_by(c, item)));
  }
  if (c.machine().P == 1 || !findings.wants(7))
    return;  // a rank's own contribution is all there is, of however many items
  const std::int64_t items = c.problem().kind == Kind::reduce ? c.problem().items : c.item_count();
  for (std::int64_t item = 0; item < items && !findings.full(); ++item) {
    if (!by_item.contains(item)) require_all(item, 1);
  }
}

}  // namespace chasqui::verifier
