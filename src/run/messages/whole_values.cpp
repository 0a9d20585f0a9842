// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "chasqui/base/error.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

using Value = std::optional<Address>;

/// The folds a rank knows, by interval of contributions, and those it can make of them.
class Folds {
 public:
  Folds(Program& program, const Shape& shape) : program_(program), shape_(shape) {}

  void know(Part part, Address value) { known_.push_back({part, value}); }
  /// A value that is wanted once, in one fold of all: it joins its neighbours while others are under way.
  void join(Part part, Address value) {
    for (bool joined = true; joined;) {
      joined = false;
      for (std::size_t i = 0; i < known_.size() && !joined; ++i) {
        const Known other = known_[i];
        const bool before = other.part.lo + other.part.len == part.lo;
        if (!before && part.lo + part.len != other.part.lo) continue;
        // What arrived is ours to overwrite.
        const Address to = other.value.memory == Memory::scratch ? other.value : value;
        fold(before ? other.value : value, before ? value : other.value, to);
        part = {std::min(part.lo, other.part.lo), part.len + other.part.len};
        value = to;
        known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(i));
        joined = true;
      }
    }
    know(part, value);
  }

  /// The fold of an interval; nothing if what is known does not tile it.
  Value make(Part part) {
    std::vector<std::size_t> tiles;
    if (!tile(part.lo, part.len, tiles)) return {};
    Address value = known_[tiles[0]].value;
    if (tiles.size() == 1) return value;
    const Address to = program_.more_scratch(shape_.bytes());
    for (std::size_t i = 1; i < tiles.size(); ++i) {
      fold(value, known_[tiles[i]].value, to);
      value = to;
    }
    know(part, to);
    return to;
  }
  /// The fold of everything, beginning wherever the known intervals allow.
  Value make_all() {
    if (const Value value = make({0, shape_.size})) return value;
    for (std::size_t i = 0; shape_.commutative && i < known_.size(); ++i) {
      if (const Value value = make({known_[i].part.lo, shape_.size})) return value;
    }
    return {};
  }

 private:
  struct Known {
    Part part;
    Address value;
  };
  void fold(Address left, Address right, Address to) {
    if (shape_.count != 0) program_.fold(left, right, to, shape_.count);
  }
  /// Longest tile first: the newest windows are the longest, so the search rarely turns back.
  bool tile(std::int32_t lo, std::int32_t len, std::vector<std::size_t>& tiles) const {
    if (len == 0) return !tiles.empty();
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].part.lo == lo && known_[i].part.len <= len && known_[i].part.len > 0) fitting.push_back(i);
    }
    std::sort(fitting.begin(), fitting.end(),
              [&](std::size_t a, std::size_t b) { return known_[a].part.len > known_[b].part.len; });
    for (const std::size_t i : fitting) {
      tiles.push_back(i);
      const std::int64_t next = (static_cast<std::int64_t>(lo) + known_[i].part.len) % shape_.size;
      if (tile(static_cast<std::int32_t>(next), len - known_[i].part.len, tiles)) return true;
      tiles.pop_back();
    }
    return false;
  }

  Program& program_;
  const Shape& shape_;
  std::vector<Known> known_;
};

constexpr Address kOwn{Memory::input, 0};

int values_of(const Step& step) { return (step.part.len > 0 ? 1 : 0) + (step.second.len > 0 ? 1 : 0); }

/// All messages are asked for before the first step: the numbers of the posts, and where the messages will lie.
struct Posted {
  std::int32_t number = 0;
  Address to{Memory::scratch, 0};
};
std::vector<Posted> post_all(Program& program, const std::vector<Step>& steps, std::size_t bytes, bool counts_values) {
  std::vector<Posted> posted(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].receives) continue;
    const std::size_t size = bytes * static_cast<std::size_t>(counts_values ? values_of(steps[i]) : 1);
    posted[i].to = program.more_scratch(size);
    posted[i].number = program.post(steps[i].peer, {posted[i].to, size});
  }
  return posted;
}

}  // namespace

void add_folds(Program& program, const LocalPlan& plan, const Shape& shape, Address result) {
  const std::size_t bytes = shape.bytes();
  Folds folds(program, shape);
  folds.know({shape.rank, 1}, kOwn);
  const auto fold_of = [&](Part part) {
    const Value value = folds.make(part);
    CHASQUI_CHECK(value.has_value(), "rank {} cannot make the fold of {} contributions from {}", shape.rank, part.len,
                  part.lo);
    return *value;
  };
  const auto steps = steps_of(plan);
  const auto posted = post_all(program, steps, bytes, true);
  if (plan.pace.tick > 0) program.begin(0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const Part parts[2] = {step.part, step.second};
    if (plan.pace.tick > 0 && !step.receives) program.pause(plan.pace.tick * static_cast<double>(step.at.ticks));
    if (step.receives) {
      program.arrive(posted[i].number);
      Address at = posted[i].to;
      for (const Part& part : parts) {
        if (part.len <= 0) continue;
        if (shape.kind == Kind::reduce) folds.join(part, at);
        else folds.know(part, at);
        at = at + bytes;
      }
    } else if (bytes == 0) {
      program.send(step.peer, {kOwn, 0});
    } else if (values_of(step) == 1) {
      program.send(step.peer, {fold_of(parts[0].len > 0 ? parts[0] : parts[1]), bytes});
    } else {
      const Address values[2] = {fold_of(parts[0]), fold_of(parts[1])};
      const Address both = program.more_scratch(2 * bytes);
      for (std::size_t k = 0; k < 2; ++k) program.copy(both + k * bytes, {values[k], bytes});
      program.send(step.peer, {both, 2 * bytes});
    }
  }
  Value value;
  if (bytes != 0 && shape.kind == Kind::scan) {
    const std::int32_t length = shape.exclusive ? shape.rank : shape.rank + 1;
    if (length > 0) value = fold_of({0, length});
  } else if (bytes != 0 && (shape.kind == Kind::allreduce || shape.rank == shape.root)) {
    value = folds.make_all();
    CHASQUI_CHECK(value.has_value(), "rank {} cannot make the fold of all {}", shape.rank, shape.size);
  }
  program.finish();
  if (value) program.copy(result, {*value, bytes});
}

void add_there_and_back(Program& program, const LocalPlan& there, const LocalPlan& back, const Shape& shape) {
  const std::size_t bytes = shape.bytes();
  const auto up = steps_of(there), down = steps_of(back);
  const auto folded = post_all(program, up, bytes, false), spread = post_all(program, down, bytes, false);
  Address value = kOwn;
  for (std::size_t i = 0; i < up.size(); ++i) {
    if (!up[i].receives) {
      program.send(up[i].peer, {value, bytes});
      continue;
    }
    program.arrive(folded[i].number);
    if (bytes != 0) program.fold(value, folded[i].to, folded[i].to, shape.count);
    value = folded[i].to;
  }
  for (std::size_t i = 0; i < down.size(); ++i) {
    if (!down[i].receives) {
      program.send(down[i].peer, {value, bytes});
      continue;
    }
    program.arrive(spread[i].number);
    value = spread[i].to;
  }
  program.finish();
  program.copy({Memory::output, 0}, {value, bytes});
}

}  // namespace chasqui::run
