// SPDX-License-Identifier: MIT
// One function per rule of docs/model.md.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "verify/case.hpp"

namespace chasqui::verifier {

WellFormed rule6_well_formed(const Schedule& schedule, Findings& findings);

/// Who received an item, and when.
struct Holding {
  std::int64_t item = 0;
  std::int64_t available = 0;
  std::int64_t message = 0;  ///< index into Schedule::sends; -1 - i: reading i of Schedule::readings

  bool was_read() const { return message < 0; }
  std::size_t reading() const { return static_cast<std::size_t>(-1 - message); }  ///< REQUIRES was_read()
};

/// All receptions and readings of items: one flat array, by processor and then by item.
class Holdings {
 public:
  /// REQUIRES: a kind that moves items.
  explicit Holdings(const Case& c) {
    first_.reserve(c.ranks().count() + 1);
    first_.push_back(0);
    all_.reserve(c.schedule().sends.size());
    for (std::size_t id = 0; id < c.ranks().count(); ++id) {
      for (const Event& event : c.receptions().of(id)) {
        all_.push_back({c.item(event.index), c.available(event.index), event.index});
      }
      for (const Event& event : c.readings().of(id)) {
        all_.push_back({c.item(c.schedule().readings[event.index]), event.time + c.nodes().read.ticks,
                        -1 - std::int64_t{event.index}});
      }
      std::sort(all_.begin() + static_cast<std::ptrdiff_t>(first_.back()), all_.end(),
                [](const Holding& a, const Holding& b) {
                  return std::tie(a.item, a.available, a.message) < std::tie(b.item, b.available, b.message);
                });
      first_.push_back(all_.size());
    }
  }

  /// By item, then availability.
  std::span<const Holding> of(std::size_t id) const { return {all_.data() + first_[id], first_[id + 1] - first_[id]}; }

  /// The first copy of the item received there, or nullptr.
  const Holding* find(std::size_t id, std::int64_t item) const {
    const auto held = of(id);
    const auto place =
        std::lower_bound(held.begin(), held.end(), item, [](const Holding& h, std::int64_t x) { return h.item < x; });
    return place != held.end() && place->item == item ? &*place : nullptr;
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Holding> all_;
};

enum class Cover : unsigned char {
  exact,        ///< a tiling exists
  overlapping,  ///< the pieces inside the interval cover it, but only by counting something twice
  missing,      ///< they do not even cover it
  empty,        ///< there is nothing to cover
};

/// Combining kinds: could each sender make the folds it sends, and can each rank make the result it is promised? Judged
/// once; rule 1 reports what is missing, rule 6 what is counted twice, rule 7 results that are missing.
struct Folds {
  std::vector<Cover> message;      ///< by index into Schedule::sends: the worse of its parts
  std::vector<Cover> publication;  ///< by index into Schedule::publications: the worse of its parts
  std::vector<Cover> result;       ///< by processor id; exact where nothing is promised
};

/// What a rank must be able to fold at the end, if anything.
std::optional<Part> promised_fold(const Case& the_case, Rank rank);

Folds judge_folds(const Case& the_case);

/// The evidence that rules 1, 6 and 7 share: who holds which item, or who can make which fold.
struct Evidence {
  explicit Evidence(const Case& the_case);
  std::optional<Holdings> holdings;
  std::optional<Folds> folds;
};

void rule1_possession(const Case& the_case, const Evidence& evidence, Findings& findings);
void rule2_send_gap(const Case& the_case, Findings& findings);
void rule3_receive_gap(const Case& the_case, Findings& findings);
void rule4_one_thing(const Case& the_case, Findings& findings);
void rule5_capacity(const Case& the_case, Findings& findings);
void rule6_counted_once(const Case& the_case, const Evidence& evidence, Findings& findings);
/// `complete`: no message was left out as malformed, so the claimed finish can be compared.
void rule7_promise(const Case& the_case, const Evidence& evidence, bool complete, Findings& findings);

void rule8_node_gap(const Case& the_case, Findings& findings);
void rule9_board(const Case& the_case, Findings& findings);

/// Counts the promised items that a rank neither owns nor received, and finds the first.
struct Missing {
  std::int64_t count = 0;
  std::int64_t first = 0;
};

/// All-to-all: of the items that the other ranks have for `rank`.
Missing missing_blocks(const Case& the_case, Rank rank, std::span<const Holding> held);

/// Reductions and all-reduces of several items, reduce-scatter: what is sent and kept is judged by playing each item, for rules 1, 6 and 7.
inline bool folds_items(const Case& c) { return combines(c.problem().kind) && names_items(c.problem()); }
void judge_folded_items(const Case& the_case, const WellFormed& usable, Findings& findings);

/// "item 3", in an all-to-all "item 3 (0 to 3)".
std::string named_item(const Case& the_case, std::int64_t item);

/// "item 3", "contributions 2..5", "contributions 6..0 and 1..3".
std::string cargo(const Case& the_case, const Part& part, const Part& second);
inline std::string cargo(const Case& the_case, const Send& send) { return cargo(the_case, send.part, send.second); }
std::string interval(const Case& the_case, const Part& part);

}  // namespace chasqui::verifier
