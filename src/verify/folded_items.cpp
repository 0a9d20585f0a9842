// SPDX-License-Identifier: MIT
// Reductions of several items, reduce-scatter and all-reduces of several items (docs/model.md): a message of an item carries
// all that its sender has of it by then. In an all-reduce the sender keeps it, otherwise it hands it over. On a cluster a
// publication and its reading do the same. Every item is played once, in order of time. Reports under rules 1, 6 and 7.
#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

/// A fold: how many contributions, and where it matters the intervals of ranks they came from.
struct Fold {
  std::int64_t count = 0;
  std::vector<Part> pieces;

  void take(const Fold& other) {
    count += other.count;
    pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end());
  }

  /// A contribution that both have, or -1. REQUIRES the pieces of both to be in order.
  std::int64_t common(const Fold& other) const {
    auto mine = pieces.begin();
    for (const Part& piece : other.pieces) {
      while (mine != pieces.end() && mine->lo + mine->len <= piece.lo) ++mine;
      if (mine != pieces.end() && mine->lo < piece.lo + piece.len) return std::max(mine->lo, piece.lo);
    }
    return -1;
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

/// A message, or a reading with its publication, which begins it.
struct Move {
  std::int64_t begin = 0, available = 0;
  Rank from, to;
  std::int64_t item = 0;
  std::int64_t message = kNoMessage;

  /// "sends item 3 to rank 2"
  std::string deed() const {
    const bool board = message == kNoMessage;
    return fmt::format("{} item {} {} rank {}", board ? "publishes" : "sends", item, board ? "for" : "to", to.index);
  }
};

std::vector<Move> moves_of(const Case& c, const WellFormed& usable) {
  std::vector<Move> moves;
  for (const std::uint32_t i : usable.sends) {
    const Send& send = c.message(i);
    moves.push_back({c.begin(i), c.available(i), send.from, send.to, send.part.lo, i});
  }
  std::map<std::pair<Rank, std::int32_t>, std::int64_t> published;  // the first of that item
  for (const std::uint32_t i : usable.publications) {
    const Publication& p = c.schedule().publications[i];
    const auto [place, fresh] = published.try_emplace({p.rank, p.part.lo}, p.begin.ticks);
    if (!fresh) place->second = std::min(place->second, p.begin.ticks);
  }
  for (const std::uint32_t i : usable.readings) {
    const Reading& r = c.schedule().readings[i];
    const auto found = published.find({r.from, r.part.lo});
    if (found == published.end()) continue;  // rule 9 reports it
    moves.push_back({found->second, (r.begin + c.nodes().read).ticks, r.from, r.rank, r.part.lo});
  }
  return moves;
}

struct Arrival {
  std::int64_t available = 0;
  std::uint32_t index = 0;

  bool operator>(const Arrival& other) const { return available > other.available; }
};

/// Who must end with the fold of an item, where that is one rank.
Rank wanted_by(const Case& c, std::int64_t item) {
  if (c.problem().kind == Kind::reduce) return c.problem().root;
  return Rank{static_cast<std::int32_t>(item / c.problem().items)};
}

/// The play of one item.
class ItemPlay {
 public:
  ItemPlay(const Case& c, const std::vector<Move>& moves, Findings& findings)
      : c_(c), moves_(moves), findings_(findings) {}

  /// `of_item`: moves of one item, in order of begin.
  void play(const std::vector<std::uint32_t>& of_item) {
    for (const std::uint32_t index : of_item) {
      deliver_until(moves_[index].begin);
      send(index);
    }
    deliver_until(std::numeric_limits<std::int64_t>::max());
  }

  /// How many contributions a rank has.
  std::int64_t count(Rank rank) { return held(rank).count; }

 private:
  Fold& held(Rank rank) {
    auto [place, fresh] = held_.try_emplace(rank.index);
    if (fresh) place->second = own(rank);
    return place->second;
  }

  Fold own(Rank rank) const {
    Fold fold{1, {}};
    if (keeps_ || !c_.problem().commutative) fold.pieces.push_back({rank.index, 1});
    return fold;
  }

  void deliver_until(std::int64_t time) {
    while (!under_way_.empty() && under_way_.top().available <= time) {
      const std::uint32_t index = under_way_.top().index;
      under_way_.pop();
      receive(index, std::move(content_[index]));
    }
  }

  void receive(std::uint32_t index, Fold fold) {
    const Move& move = moves_[index];
    Fold& mine = held(move.to);
    const bool result = keeps_ && fold.count == c_.machine().P;
    if (result && mine.count < fold.count) {
      mine = std::move(fold);  // the whole replaces what it is the fold of
      return;
    }
    const std::int64_t twice = keeps_ ? mine.common(fold) : -1;
    if (twice >= 0) {
      findings_.add(6, move.to, move.available, move.message,
                    "what it receives of item {} from rank {} has contribution {}, which it has counted already",
                    move.item, move.from.index, twice);
      return;
    }
    mine.take(fold);
    if (keeps_) mine.put_in_order(c_.machine().P);
  }

  void send(std::uint32_t index) {
    const Move& move = moves_[index];
    Fold fold = keeps_ ? held(move.from) : std::exchange(held(move.from), Fold{});
    if (move.begin < 0) {
      findings_.add(1, move.from, move.begin, move.message, "it {} before time 0", move.deed());
    } else if (fold.count == 0) {
      findings_.add(1, move.from, move.begin, move.message, "it {} but has nothing of it left", move.deed());
    }
    if (!c_.problem().commutative && !fold.put_in_order(c_.machine().P)) {
      findings_.add(6, move.from, move.begin, move.message,
                    "it {}, but what it has of it is no interval of ranks: out of order", move.deed());
    }
    under_way_.push({move.available, index});
    content_[index] = std::move(fold);
  }

  const Case& c_;
  const std::vector<Move>& moves_;
  Findings& findings_;
  const bool keeps_ = c_.problem().kind == Kind::allreduce;
  std::unordered_map<std::int32_t, Fold> held_;
  std::unordered_map<std::uint32_t, Fold> content_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> under_way_;
};

}  // namespace

void judge_folded_items(const Case& c, const WellFormed& usable, Findings& findings) {
  const std::vector<Move> moves = moves_of(c, usable);
  std::map<std::int64_t, std::vector<std::uint32_t>> by_item;
  for (std::uint32_t i = 0; i < moves.size(); ++i) by_item[moves[i].item].push_back(i);
  const bool by_all = c.problem().kind == Kind::allreduce;
  const auto require_all = [&](std::int64_t item, auto count_at) {
    const auto require = [&](Rank rank) {
      const std::int64_t count = count_at(rank);
      if (count == c.machine().P) return;
      findings.add(7, rank, c.finish(), kNoMessage, "it ends with {} of the {} contributions to item {}", count,
                   c.machine().P, item);
    };
    if (!findings.wants(7)) return;
    if (!by_all) return require(wanted_by(c, item));
    for (std::int32_t rank = 0; rank < c.machine().P && !findings.full(); ++rank) require(Rank{rank});
  };
  for (auto& [item, of_item] : by_item) {
    // Of those that begin together, what takes no time goes first.
    std::stable_sort(of_item.begin(), of_item.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(moves[a].begin, moves[a].available) < std::tie(moves[b].begin, moves[b].available);
    });
    ItemPlay play(c, moves, findings);
    play.play(of_item);
    require_all(item, [&](Rank rank) { return play.count(rank); });
  }
  if (c.machine().P == 1 || !findings.wants(7))
    return;  // a rank's own contribution is all there is, of however many items
  const std::int64_t items = c.problem().kind == Kind::reduce_scatter ? c.item_count() : c.problem().items;
  for (std::int64_t item = 0; item < items && !findings.full(); ++item) {
    if (!by_item.contains(item)) require_all(item, [](Rank) { return 1; });
  }
}

}  // namespace chasqui::verifier
