// SPDX-License-Identifier: MIT
// Single-sending with an endgame of up to 2L-1 steps (SPAA 3.4), for L odd and P-1 = f_t.
// A block of r ranks per internal node with r children; for each item one of them has it early and sends it r
// times. Copies that are not internal nodes ("inactive") are counted from the item's "offset 0", L steps
// after the last L of these sends begin. Which block serves which, and when, follows the paper's cases;
// reception_pattern() says who inside a block.
#include "plan/published/single_sending.hpp"

#include <algorithm>
#include <map>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "plan/growth.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::plan {

namespace stream_detail {

std::vector<std::vector<std::int64_t>> reception_pattern(std::int64_t r, std::int64_t printed_L) {
  CHASQUI_CHECK(r >= 4, "reception_pattern: r={}", r);
  std::vector<std::vector<std::int64_t>> offsets(static_cast<std::size_t>(r),
                                                 std::vector<std::int64_t>(static_cast<std::size_t>(r), -1));
  const auto at = [&](std::int64_t i, std::int64_t j) -> std::int64_t& {
    return offsets[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(j - 1)];
  };
  const bool odd = r % 2 != 0;
  const std::int64_t low = r / 2;                          // ⌊r/2⌋
  const std::int64_t high = (r + 1) / 2;                   // ⌈r/2⌉
  for (std::int64_t j = 2; j <= r; ++j) at(1, j) = j - 2;  // (a)
  for (std::int64_t i = 2; i <= r - 2; ++i) {              // (b): p_r, p_1, p_2, … without p_i
    std::int64_t step = 0;
    at(i, r) = step++;
    for (std::int64_t j = 1; j < r; ++j) {
      if (j != i) at(i, j) = step++;
    }
  }
  const std::int64_t c = r - 1;  // (c)
  if (odd) {
    at(c, low) = 0;
    at(c, high) = 1;
    at(c, r) = 2;
    at(c, 1) = low == 1 ? at(c, 1) : 3;
    for (std::int64_t j = 2; j < low; ++j) at(c, j) = 5 + 2 * (j - 2);
    for (std::int64_t j = high + 1; j < r - 1; ++j) at(c, j) = 4 + 2 * (j - high - 1);
  } else {
    at(c, low) = 0;
    at(c, 1) = 1;
    at(c, r) = 2;
    for (std::int64_t j = 2; j < low; ++j) at(c, j) = 4 + 2 * (j - 2);
    for (std::int64_t j = low + 1; j < r - 1; ++j) at(c, j) = 3 + 2 * (j - low - 1);
  }
  // (d): "one step after item i-1" is the same offset, "one step before" two less.
  for (std::int64_t j = 2; j < r; ++j) at(r, j) = at(c, j) - 2;
  if (odd) {
    at(r, 1) = 0;
    at(r, low) = printed_L > 0 ? printed_L : r - 2;
    at(r, high) = at(c, high);
    at(r, r - 1) = printed_L > 0 ? printed_L - 1 : r - 3;
  } else {
    at(r, 1) = 2;
    at(r, low) = at(c, low);
    at(r, r - 1) = printed_L > 0 ? printed_L : r - 3;
    for (std::int64_t j = 2; j < low; ++j) at(r, j) = at(c, j);
  }
  return offsets;
}

}  // namespace stream_detail

using namespace stream_detail;

namespace {

struct Block {
  std::int64_t r = 1;
  std::int64_t label = 0;
  std::int64_t first = 0;  ///< inner rank of p_1
};

/// All messages of all items. Items count from 1, as in the paper; time 0 is the source's first send.
class SingleSending {
 public:
  SingleSending(std::int64_t L, const Growth& f, std::int64_t items) : L_(L), t_(f.last()), items_(items) {
    std::int64_t first = 0;
    for (std::int64_t r = t_ - L + 1; r >= 1; --r) {
      for (std::int64_t i = 0; i < f.at_label(t_ - L + 1 - r); ++i) {
        blocks_[r].push_back({r, t_ - L + 1 - r, first});
        first += r;
      }
    }
    receive_only_ = first;
  }

  std::vector<StreamMessage> run() {
    active_phase();
    for (auto& [r, blocks] : blocks_) spare_[r] = blocks;
    for (auto of_size = blocks_.rbegin(); of_size != blocks_.rend(); ++of_size) {
      for (const Block& block : of_size->second) end_game(block);
    }
    for (const Block& block : blocks_[2]) {
      const auto [server, offset] = take(extras_);
      for (std::int64_t i = 1; i <= items_; ++i) deliver(i, sender(server, i), player(block, i + 1), offset);
    }
    const Block last = take(spare_[1]);
    for (std::int64_t i = 1; i <= items_; ++i) deliver(i, sender(last, i), receive_only_, L_ - 1);
    return std::move(messages_);
  }

 private:
  struct Extra {
    Block server;
    std::int64_t offset;
  };

  template <typename T>
  static T take(std::vector<T>& list) {
    CHASQUI_CHECK(!list.empty(), "single_sending: a block finds no server");
    T last = list.back();
    list.pop_back();
    return last;
  }

  /// p_j, j modulo r.
  static std::int64_t player(const Block& block, std::int64_t j) { return block.first + modulo(j - 1, block.r); }
  static std::int64_t sender(const Block& block, std::int64_t i) { return player(block, i); }

  /// Item i reaches `to` at time t + i + offset.
  void deliver(std::int64_t i, std::int64_t from, std::int64_t to, std::int64_t offset) {
    messages_.push_back({{t_ + i + offset - L_}, i - 1, from, to});
  }

  /// The internal nodes: an optimal tree of t-L steps, from the root's arrival on.
  void active_phase() {
    std::map<std::int64_t, std::vector<Block>> senders;  // child label -> blocks with an internal child there
    for (auto of_size = blocks_.rbegin(); of_size != blocks_.rend(); ++of_size) {
      for (std::size_t k = 0; k < of_size->second.size(); ++k) {
        const Block& block = of_size->second[k];
        for (std::int64_t i = 1; i <= items_; ++i) {
          const std::int64_t from = block.label == 0 ? -1 : sender(senders[block.label][k], i);
          deliver(i, from, sender(block, i), -block.r);
        }
      }
      for (const Block& block : of_size->second) {
        for (std::int64_t e = block.label + L_; e <= t_ - L_; ++e) senders[e].push_back(block);
      }
    }
  }

  void end_game(const Block& block) {
    const std::int64_t r = block.r;
    if (r >= 2 * L_) {
      large(block);
    } else if (r > L_ + 1) {  // L copies of its own, the rest from a block of r-L, which has one copy to spare
      const Block server = take(spare_[r - L_]);
      inside(block, 0, [&](std::int64_t i, std::int64_t step) { return sender(step < L_ ? block : server, i); });
      extras_.push_back({server, L_ - 1});
    } else if (r == L_ && L_ == 3) {
      three(block, 1, block);
      extras_.push_back({block, 0});
    } else if (r >= L_) {
      inside(block, 0, [&](std::int64_t i, std::int64_t) { return sender(block, i); });
      if (r == L_) extras_.push_back({block, L_ - 1});
    } else if (r > 3) {
      const Block server = take(spare_[r - 1]);
      const std::int64_t first = (L_ - r + 1 + r - 1) / r * r;  // a multiple of r, so that the pattern fits
      inside(block, first, [&](std::int64_t i, std::int64_t) { return sender(server, i); });
    } else if (r == 3) {
      std::int64_t first = L_ - 2;
      while (first % 3 != 1) ++first;
      three(block, first, take(spare_[2]));
    }
  }

  /// Cases 2, 3 and 4: r-1 steps from offset `first` on.
  template <typename From>
  void inside(const Block& block, std::int64_t first, From from) {
    const auto pattern = reception_pattern(block.r);
    for (std::int64_t i = 1; i <= items_; ++i) {
      const auto& offsets = pattern[static_cast<std::size_t>(modulo(i - 1, block.r))];
      for (std::int64_t j = 1; j <= block.r; ++j) {
        const std::int64_t step = offsets[static_cast<std::size_t>(j - 1)];
        if (step >= 0) deliver(i, from(i, step), player(block, j), first + step);
      }
    }
  }

  /// r = 3: p_{i-1} first, then p_{i+1}.
  void three(const Block& block, std::int64_t first, const Block& server) {
    for (std::int64_t i = 1; i <= items_; ++i) {
      deliver(i, sender(server, i), player(block, i - 1), first);
      deliver(i, sender(server, i), player(block, i + 1), first + 1);
    }
  }

  /// Case 1, r >= 2L: L copies of its own, r-2L from blocks of one, L-1 from a block of L-1. The last copy of
  /// the last item comes a step earlier, from the block's own sender, who has nothing else to send by then.
  void large(const Block& block) {
    const std::int64_t r = block.r;
    const Block server = take(spare_[L_ - 1]);
    for (std::int64_t s = 0; s < L_; ++s) {
      for (std::int64_t i = 1; i <= items_; ++i) deliver(i, sender(block, i), player(block, i - 1 + r - s), s);
    }
    for (std::int64_t j = L_ + 1; j <= r - L_; ++j) {
      const Block single = take(spare_[1]);
      for (std::int64_t i = 1; i <= items_; ++i) deliver(i, sender(single, i), player(block, i - 1 + j), L_ - 1);
    }
    for (std::int64_t j = 2; j <= L_; ++j) {
      for (std::int64_t i = 1; i <= items_; ++i) {
        const bool last = j == 2 && i == items_;
        deliver(i, sender(last ? block : server, i), player(block, i - 1 + j), 2 * L_ - j + 1 - (last ? 1 : 0));
      }
    }
  }

  std::int64_t L_, t_, items_;
  std::map<std::int64_t, std::vector<Block>> blocks_, spare_;
  std::vector<Extra> extras_;
  std::int64_t receive_only_ = 0;
  std::vector<StreamMessage> messages_;
};

}  // namespace

PlanPtr single_sending(const LogP& machine, std::int64_t items, Rank root) {
  validate(machine);
  validate(Problem{.kind = Kind::broadcast, .root = root, .items = items}, machine);
  const std::int64_t L = machine.L.ticks;
  const std::int64_t n = machine.P - 1;
  if (!machine.is_postal() || L % 2 == 0 || L < 3 || n < 1) {
    throw Error("{}: single-sending is for the postal machine with L odd, L >= 3 (use stream instead)",
                to_string(machine));
  }
  if (machine.P > 1'000'000 || machine.P * items > 100'000'000) {
    throw Error("P={} with {} items is too much to list for this construction", machine.P, items);
  }
  const Growth f(L, n);
  if (f(f.last()) != n || f.last() < 2 * L) {
    throw Error("P={} L={}: single-sending needs P-1 = f_t with t >= 2L, for instance P={} (use stream instead)",
                machine.P, L, [&] {
                  Growth nearest = f;
                  nearest.extend_to(std::max(2 * L, f.last()));
                  return nearest(nearest.last()) + 1;
                }());
  }
  std::vector<Send> sends;
  for (const StreamMessage& m : SingleSending(L, f, items).run()) {
    const auto rank = [&](std::int64_t inner) {
      return Rank{static_cast<std::int32_t>((inner + 1 + root.index) % machine.P)};
    };
    sends.push_back(send_item(m.begin, rank(m.from), rank(m.to), static_cast<std::int32_t>(m.item)));
  }
  std::sort(sends.begin(), sends.end());
  Claim claim;
  claim.finish = Time{0};
  for (const Send& send : sends) claim.finish = std::max(claim.finish, available(machine, send));
  claim.bound = kitem_bound(machine, items);
  claim.bound_source = kCountingBound;
  claim.construction = "single-sending, endgame of up to 2L-1 steps (SPAA 3.4)";
  return std::make_shared<ListedPlan>(machine, Problem{.kind = Kind::broadcast, .root = root, .items = items}, claim,
                                      std::move(sends));
}

std::vector<std::int64_t> single_sending_blocks(std::int64_t P, std::int64_t L) {
  const Growth f(L, P - 1);
  std::vector<std::int64_t> sizes;
  for (std::int64_t r = f.last() - L + 1; r >= 1; --r) {
    sizes.insert(sizes.end(), static_cast<std::size_t>(f.at_label(f.last() - L + 1 - r)), r);
  }
  return sizes;
}

}  // namespace chasqui::plan
