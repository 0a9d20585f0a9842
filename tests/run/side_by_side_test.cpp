// SPDX-License-Identifier: MIT
// A long all-reduce on lanes in pieces that follow each other: all ranks' programs are played against each other without data, with
// messages that leave only when they are asked for. Both ends must have the messages of all pieces in one order, the ranks of a node
// the same steps on their board, and everybody must come to its end.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "chasqui/model/profile.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/messages/all_lanes.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

struct Setting {
  int nodes, node_size, parts, pieces;
  std::size_t count;

  int ranks() const { return nodes * node_size; }
  Shape shape(int rank, std::size_t elements) const {
    return {.kind = Kind::allreduce, .rank = rank, .size = ranks(), .count = elements, .element = 8};
  }
};

Program program_of(const Setting& s, int rank, std::size_t count, int pieces) {
  std::vector<int> ranks(static_cast<std::size_t>(s.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const Shape shape = s.shape(rank, count);
  const Profile profile = default_profile();
  return share_program({shape, s.nodes, s.node_size, ranks}, {Method::exchange, s.parts, pieces},
                       profile.levels.front(), profile);
}

/// Which piece of the call lies at an address of a rank's program.
class Pieces {
 public:
  Pieces(const Setting& s, int rank) {
    std::size_t scratch = 0;
    for (int i = 0; i < s.pieces; ++i) {
      const std::size_t begin = share_begin(s.count, s.pieces, i);
      buffer_.push_back(begin * 8);
      scratch_.push_back(scratch);
      const std::size_t bytes = program_of(s, rank, share_begin(s.count, s.pieces, i + 1) - begin, 1).scratch;
      scratch += (bytes + kLargestAlignment - 1) / kLargestAlignment * kLargestAlignment;
    }
  }
  std::ptrdiff_t at(Address address) const {
    const auto& begins = address.memory == Memory::scratch ? scratch_ : buffer_;
    return std::upper_bound(begins.begin(), begins.end(), address.offset) - begins.begin() - 1;
  }

 private:
  std::vector<std::size_t> buffer_, scratch_;
};

struct Message {
  std::ptrdiff_t piece;
  std::size_t bytes;
  friend bool operator==(const Message&, const Message&) = default;
};
struct OnBoard {
  Kind kind;
  std::size_t count;
  std::ptrdiff_t piece;
  friend bool operator==(const OnBoard&, const OnBoard&) = default;
};

class Play {
 public:
  explicit Play(const Setting& s) : s_(s) {
    for (int r = 0; r < s.ranks(); ++r) ranks_.push_back({program_of(s, r, s.count, s.pieces), Pieces(s, r)});
  }
  /// Empty: everybody ended, and all messages matched.
  std::string run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < s_.ranks(); ++r)
        while (wrong_.empty() && step(r)) moved = true;
    }
    for (int r = 0; r < s_.ranks() && wrong_.empty(); ++r) {
      if (rank(r).next != rank(r).program.list.size()) return "rank " + std::to_string(r) + " waits for ever";
    }
    for (const auto& [pair, sent] : sent_)
      if (wrong_.empty() && sent.size() != asked_[pair].size()) return "messages are left over";
    return wrong_;
  }

 private:
  using Pair = std::pair<int, int>;  // from, to
  struct Place {
    Pair pair;
    std::size_t number;
  };
  struct One {
    Program program;
    Pieces pieces;
    std::size_t next = 0;
    std::vector<Place> posts{}, sends{};
    std::vector<OnBoard> boards{};
  };
  One& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }

  bool step(int r) {
    One& own = rank(r);
    if (own.next == own.program.list.size()) return false;
    const Instruction& now = own.program.list[own.next];
    using What = Instruction::What;
    switch (now.what) {
      case What::post: {
        auto& list = asked_[{now.other, r}];
        own.posts.push_back({{now.other, r}, list.size()});
        list.push_back({own.pieces.at(now.to), now.size});
        break;
      }
      case What::send: {
        auto& list = sent_[{r, now.other}];
        own.sends.push_back({{r, now.other}, list.size()});
        list.push_back({own.pieces.at(now.from), now.size});
        break;
      }
      case What::arrive: {
        const Place& post = own.posts.at(static_cast<std::size_t>(now.other));
        if (sent_[post.pair].size() <= post.number) return false;
        if (!(sent_[post.pair][post.number] == asked_[post.pair][post.number]))
          wrong_ = "rank " + std::to_string(r) + " gets another message than it asked for";
        break;
      }
      case What::finish:
        for (std::size_t i = 0; i + now.size < own.sends.size(); ++i)
          if (asked_[own.sends[i].pair].size() <= own.sends[i].number) return false;
        break;
      case What::board: return board(r, own.program.steps[static_cast<std::size_t>(now.other)]);
      default: break;
    }
    ++own.next;
    return true;
  }

  bool board(int r, const BoardStep& step) {
    One& own = rank(r);
    const auto number = static_cast<std::size_t>(own.program.list[own.next].other);
    const bool here = own.boards.size() > number;
    if (!here) own.boards.push_back({step.kind, step.count, own.pieces.at(step.in)});
    for (int other = r / s_.node_size * s_.node_size, end = other + s_.node_size; other < end; ++other) {
      if (rank(other).boards.size() <= number) return !here;
      if (!(rank(other).boards[number] == own.boards[number])) wrong_ = "the ranks of a node do different steps";
    }
    ++own.next;
    return true;
  }

  Setting s_;
  std::vector<One> ranks_;
  std::map<Pair, std::vector<Message>> sent_, asked_;
  std::string wrong_;
};

RC_GTEST_PROP(SideBySide, PiecesOfAnAllReduceMeet, ()) {
  Setting s{};
  s.nodes = *rc::gen::inRange(2, 18);
  s.node_size = *rc::gen::inRange(1, 4);
  s.parts = std::min(s.nodes, *rc::gen::inRange(2, 6));
  s.pieces = *rc::gen::inRange(2, 9);
  s.count = static_cast<std::size_t>(s.ranks() * s.pieces + *rc::gen::inRange(0, 1000));
  const std::string wrong = Play(s).run();
  if (!wrong.empty())
    RC_FAIL(wrong + ": " + std::to_string(s.nodes) + " nodes of " + std::to_string(s.node_size) + ", parts " +
            std::to_string(s.parts) + ", pieces " + std::to_string(s.pieces) + ", elements " + std::to_string(s.count));
}

}  // namespace
}  // namespace chasqui::run
