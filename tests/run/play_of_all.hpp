// SPDX-License-Identifier: MIT
// The programs of all ranks of nodes played against each other, with messages that leave only when they are asked for and boards that
// nobody leaves before all have come. Both ends must have their messages in one order, the ranks of a node the same steps on their
// board, everybody must come to its end, and have the result.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "run/messages/local_plan.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

using Word = std::uint64_t;

/// A broadcast, a reduction or an all-reduce. Messages call the ranks in another order, named().
class Play {
 public:
  /// In place: what a rank contributes lies where it gets the sum. program(shape, names): that of a rank.
  template <typename ProgramOf>
  Play(const Nodes& nodes, const Shape& call, bool in_place, ProgramOf program) : nodes_(nodes), call_(call) {
    std::vector<int> names(static_cast<std::size_t>(nodes.ranks()));
    for (std::size_t r = 0; r < names.size(); ++r) names[r] = named(static_cast<int>(r));
    for (int r = 0; r < static_cast<int>(names.size()); ++r) {
      Shape shape = call;
      shape.rank = r;
      shape.size = static_cast<int>(names.size());
      shape.element = sizeof(Word);
      One one{program(shape, names)};
      one.output.resize(call.count);
      one.input.resize(call.count);
      const bool spreads = call.kind == Kind::broadcast;
      for (std::size_t i = 0; i < call.count; ++i)
        (spreads ? one.output : one.input)[i] = !spreads || r == call.root ? contribution(r, i) : 0;
      if (in_place && !spreads) one.output.swap(one.input);
      one.scratch.resize((one.program.scratch + sizeof(Word) - 1) / sizeof(Word));
      one.in_place = in_place;
      ranks_.push_back(std::move(one));
    }
  }
  /// Empty: everybody who is to have the result has it, and nothing is left over.
  std::string run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < ranks(); ++r)
        while (wrong_.empty() && step(r)) moved = true;
    }
    for (int r = 0; r < ranks() && wrong_.empty(); ++r) {
      if (rank(r).next != rank(r).program.list.size()) return "rank " + std::to_string(r) + " waits for ever";
      if (call_.kind == Kind::reduce && r != call_.root) continue;
      for (std::size_t i = 0; i < call_.count; ++i) {
        Word sum = 0;
        for (int other = 0; other < ranks(); ++other)
          if (call_.kind != Kind::broadcast || other == call_.root) sum += contribution(other, i);
        if (rank(r).output[i] != sum) return "rank " + std::to_string(r) + " has another result";
      }
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
    Address at;
  };
  struct One {
    Program program;
    std::vector<Word> input{}, output{}, scratch{};
    bool in_place = false;
    std::size_t next = 0;
    std::vector<Place> posts{}, sends{};
    std::vector<BoardStep> boards{};
  };
  static Word contribution(int rank, std::size_t i) { return (static_cast<Word>(rank) + 1) * (i * i + 3); }
  int ranks() const { return static_cast<int>(nodes_.ranks()); }
  One& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }
  int named(int name) const { return ranks() - 1 - name; }

  Word* at(One& one, Address address) {
    auto& memory = address.memory == Memory::scratch                  ? one.scratch
                   : address.memory == Memory::output || one.in_place ? one.output
                                                                      : one.input;
    return memory.data() + address.offset / sizeof(Word);
  }

  bool step(int r) {
    One& own = rank(r);
    if (own.next == own.program.list.size()) return false;
    const Instruction& now = own.program.list[own.next];
    using What = Instruction::What;
    switch (now.what) {
      case What::post: {
        const Pair pair{named(now.other), r};
        own.posts.push_back({pair, asked_[pair].size(), now.to});
        asked_[pair].push_back(now.size);
        break;
      }
      case What::send: {
        const Pair pair{r, named(now.other)};
        own.sends.push_back({pair, sent_[pair].size(), now.from});
        const Word* from = at(own, now.from);
        sent_[pair].emplace_back(from, from + now.size / sizeof(Word));
        break;
      }
      case What::arrive: {
        const Place& post = own.posts.at(static_cast<std::size_t>(now.other));
        if (sent_[post.pair].size() <= post.number) return false;
        const auto& message = sent_[post.pair][post.number];
        if (message.size() * sizeof(Word) != asked_[post.pair][post.number])
          wrong_ = "rank " + std::to_string(r) + " gets another message than it asked for";
        std::copy(message.begin(), message.end(), at(own, post.at));
        break;
      }
      case What::fold:
        for (std::size_t i = 0; i < now.size; ++i) at(own, now.to)[i] = at(own, now.from)[i] + at(own, now.right)[i];
        break;
      case What::copy: std::memmove(at(own, now.to), at(own, now.from), now.size); break;
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

  /// The last of a node to come does it for all.
  bool board(int r, const BoardStep& step) {
    One& own = rank(r);
    const auto number = static_cast<std::size_t>(own.program.list[own.next].other);
    if (own.boards.size() <= number) own.boards.push_back(step);
    const std::int64_t node = nodes_.node_of({r});
    const auto first = static_cast<int>(nodes_.first_rank(node)), end = first + static_cast<int>(nodes_.size(node));
    for (int other = first; other < end; ++other) {
      if (rank(other).boards.size() <= number) return false;
      const BoardStep& theirs = rank(other).boards[number];
      if (theirs.kind != step.kind || theirs.root != step.root || theirs.count != step.count)
        wrong_ = "the ranks of a node do different steps";
    }
    One& root = rank(first + step.root);
    const BoardStep& rooted = root.boards[number];
    for (std::size_t i = 0; i < step.count && step.kind == Kind::reduce; ++i) {
      Word sum = 0;
      for (int other = first; other < end; ++other) sum += at(rank(other), rank(other).boards[number].in)[i];
      at(root, rooted.out)[i] = sum;
    }
    for (int other = first; other < end; ++other) {
      if (step.kind == Kind::broadcast && other != first + step.root)
        std::copy_n(at(root, rooted.in), step.count, at(rank(other), rank(other).boards[number].out));
      ++rank(other).next;
    }
    return true;
  }

  Nodes nodes_;
  Shape call_;
  std::vector<One> ranks_;
  std::map<Pair, std::vector<std::vector<Word>>> sent_;
  std::map<Pair, std::vector<std::size_t>> asked_;
  std::string wrong_;
};

}  // namespace chasqui::run
