// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <memory>

#include "chasqui/base/error.hpp"
#include "outstanding.hpp"

namespace chasqui::run {
namespace {

/// The folds a rank knows, by interval of contributions, and those it can make of them.
class Folds {
 public:
  Folds(const Operator& op, std::size_t count, std::size_t bytes, int ranks)
      : op_(op), count_(count), bytes_(bytes), ranks_(ranks) {}

  void know(Part part, const std::byte* value) { known_.push_back({part, value}); }
  /// The same where every value is wanted once, in one fold of all: it joins its neighbours while others are under way.
  void join(Part part, const std::byte* value) {
    for (bool joined = true; joined;) {
      joined = false;
      for (std::size_t i = 0; i < known_.size() && !joined; ++i) {
        const Known other = known_[i];
        const bool before = other.part.lo + other.part.len == part.lo;
        if (!before && part.lo + part.len != other.part.lo) continue;
        const std::byte* own = is_fresh(other.value) ? other.value : is_fresh(value) ? value : nullptr;
        std::byte* fold = own != nullptr ? const_cast<std::byte*>(own) : fresh();
        if (bytes_ != 0) op_(before ? other.value : value, before ? value : other.value, fold, count_);
        part = {std::min(part.lo, other.part.lo), part.len + other.part.len};
        value = fold;
        known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(i));
        joined = true;
      }
    }
    know(part, value);
  }
  std::byte* fresh() {
    owned_.push_back(std::make_unique<std::byte[]>(std::max<std::size_t>(bytes_, 1)));
    return owned_.back().get();
  }

  /// The fold of an interval, or nullptr if what is known does not tile it.
  const std::byte* make(Part part) {
    std::vector<std::size_t> tiles;
    if (!tile(part.lo, part.len, tiles)) return nullptr;
    const std::byte* value = known_[tiles[0]].value;
    if (tiles.size() == 1) return value;
    std::byte* fold = fresh();
    for (std::size_t i = 1; i < tiles.size(); ++i) {
      if (bytes_ != 0) op_(value, known_[tiles[i]].value, fold, count_);
      value = fold;
    }
    know(part, fold);
    return fold;
  }
  /// The fold of everything, beginning wherever the known intervals allow.
  const std::byte* make_all(bool commutative) {
    if (const auto* value = make({0, ranks_})) return value;
    for (std::size_t i = 0; commutative && i < known_.size(); ++i) {
      if (const auto* value = make({known_[i].part.lo, ranks_})) return value;
    }
    return nullptr;
  }

 private:
  bool is_fresh(const std::byte* value) const {
    return std::any_of(owned_.begin(), owned_.end(), [&](const auto& own) { return own.get() == value; });
  }
  struct Known {
    Part part;
    const std::byte* value;
  };
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
      const std::int64_t next = (static_cast<std::int64_t>(lo) + known_[i].part.len) % ranks_;
      if (tile(static_cast<std::int32_t>(next), len - known_[i].part.len, tiles)) return true;
      tiles.pop_back();
    }
    return false;
  }

  const Operator& op_;
  std::size_t count_;
  std::size_t bytes_;
  std::int32_t ranks_;
  std::vector<Known> known_;
  std::vector<std::unique_ptr<std::byte[]>> owned_;
};

}  // namespace

Task move_folds(Group group, Script script, Call call) {
  const auto steps = steps_of(script);
  const std::size_t bytes = call.bytes();
  Folds folds(call.op, static_cast<std::size_t>(call.count), bytes, group.size);
  const bool barrier = call.kind == Kind::barrier;
  folds.know({group.rank, 1}, static_cast<const std::byte*>(call.in != nullptr ? call.in : call.out));
  std::vector<std::vector<std::byte>> buffers(steps.size());
  std::vector<std::size_t> index(steps.size());
  Outstanding messages(group);
  const auto values = [](const Step& step) { return (step.part.len > 0 ? 1u : 0u) + (step.second.len > 0 ? 1u : 0u); };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].receives) continue;
    buffers[i].resize(values(steps[i]) * bytes);
    index[i] = messages.receive(steps[i].peer, buffers[i].data(), buffers[i].size());
  }
  const auto fold_of = [&](Part part) {
    const std::byte* value = folds.make(part);
    CHASQUI_CHECK(value != nullptr, "rank {} cannot make the fold of {} contributions from {}", group.rank, part.len,
                  part.lo);
    return value;
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const Part parts[2] = {step.part, step.second};
    if (step.receives) {
      co_await messages.complete(index[i]);
      std::size_t at = 0;
      for (const Part& part : parts) {
        if (part.len <= 0) continue;
        if (call.kind == Kind::reduce) folds.join(part, buffers[i].data() + at);
        else folds.know(part, buffers[i].data() + at);
        at += bytes;
      }
    } else if (barrier || bytes == 0) {
      index[i] = messages.send(step.peer, nullptr, 0);
    } else if (values(step) == 1) {
      index[i] = messages.send(step.peer, fold_of(step.part.len > 0 ? step.part : step.second), bytes);
    } else {
      buffers[i].resize(2 * bytes);
      std::memcpy(buffers[i].data(), fold_of(step.part), bytes);
      std::memcpy(buffers[i].data() + bytes, fold_of(step.second), bytes);
      index[i] = messages.send(step.peer, buffers[i].data(), 2 * bytes);
    }
  }
  const std::byte* result = nullptr;
  if (bytes != 0 && !barrier) {
    if (call.kind == Kind::scan) {
      const std::int32_t length = call.exclusive ? group.rank : group.rank + 1;
      if (length > 0) result = fold_of({0, length});
    } else if (call.kind == Kind::allreduce || group.rank == static_cast<int>(call.root)) {
      result = folds.make_all(call.op.commutative);
      CHASQUI_CHECK(result != nullptr, "rank {} cannot make the fold of all {}", group.rank, group.size);
    }
  }
  for (std::size_t i = 0; i < messages.count(); ++i) {
    if (messages.open(i)) co_await messages.complete(i);
  }
  if (result != nullptr && result != call.out) std::memcpy(call.out, result, bytes);
}

}  // namespace chasqui::run
