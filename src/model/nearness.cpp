// SPDX-License-Identifier: MIT
#include "chasqui/model/nearness.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace chasqui {
namespace {

constexpr std::string_view kSharedNames[kSharedKinds] = {"core", "l2", "l3", "numa", "socket"};

/// Ranks of one key are a group; groups are numbered by their first ranks.
template <typename Key>
NearLevel level_by(Shared what, const std::vector<Key>& keys) {
  NearLevel level{what};
  std::map<Key, int> numbers;
  std::vector<int> sizes;
  for (const Key& key : keys) {
    const int group = numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
    level.group_of.push_back(group);
    sizes.resize(numbers.size());
    level.largest = std::max(level.largest, ++sizes[static_cast<std::size_t>(group)]);
  }
  level.groups = static_cast<int>(numbers.size());
  return level;
}

bool lies_in(const NearLevel& inner, const NearLevel& outer) {
  std::vector<int> around(static_cast<std::size_t>(inner.groups), -1);
  for (std::size_t r = 0; r < inner.group_of.size(); ++r) {
    int& known = around[static_cast<std::size_t>(inner.group_of[r])];
    if (known >= 0 && known != outer.group_of[r]) return false;
    known = outer.group_of[r];
  }
  return true;
}

}  // namespace

std::string_view to_string(Shared what) { return kSharedNames[static_cast<std::size_t>(what)]; }

Nearness::Nearness(const std::vector<Seat>& seats) : ranks_(static_cast<int>(seats.size())) {
  using Key = std::pair<int, int>;  // what is shared, and which of them; or nothing, and the rank
  std::vector<Key> keys;
  for (int r = 0; r < ranks_; ++r) keys.emplace_back(-1, r);
  std::vector<NearLevel> found;
  for (std::size_t what = 0; what < kSharedKinds; ++what) {
    for (std::size_t r = 0; r < seats.size(); ++r) {  // whose place is not known keeps to what is nearer
      if (seats[r][what] >= 0) keys[r] = {static_cast<int>(what), seats[r][what]};
    }
    NearLevel level = level_by(static_cast<Shared>(what), keys);
    if (level.groups > 1 && level.groups < ranks_) found.push_back(std::move(level));
  }
  // Some sockets share a cache, some caches lie in parts of the memory, and others the other way round.
  std::stable_sort(found.begin(), found.end(),
                   [](const NearLevel& a, const NearLevel& b) { return a.groups > b.groups; });
  for (NearLevel& level : found) {
    if (!levels_.empty() && (levels_.back().groups == level.groups || !lies_in(levels_.back(), level))) continue;
    levels_.push_back(std::move(level));
  }
  const auto count = static_cast<int>(levels_.size());
  for (int outer = 0; outer <= count; ++outer) {
    std::vector<int>& row = most_inside_.emplace_back();
    for (int inner = -1; inner < outer; ++inner) {
      std::set<std::pair<int, int>> all;  // a group of the outer level, one in it
      for (int r = 0; r < ranks_; ++r) {
        const auto rank = static_cast<std::size_t>(r);
        const auto in = [&](int level) { return levels_[static_cast<std::size_t>(level)].group_of[rank]; };
        all.emplace(outer == count ? 0 : in(outer), inner < 0 ? r : in(inner));
      }
      std::map<int, int> sizes;
      int most = 0;
      for (const auto& [group, one] : all) most = std::max(most, ++sizes[group]);
      row.push_back(most);
    }
  }
}

int Nearness::most_inside(int inner, int outer) const {
  return most_inside_[static_cast<std::size_t>(outer)][static_cast<std::size_t>(inner + 1)];
}

bool Nearness::in_rank_order(int level) const {
  const std::vector<int>& groups = levels_[static_cast<std::size_t>(level)].group_of;
  return std::is_sorted(groups.begin(), groups.end());
}

bool operator==(const Nearness& a, const Nearness& b) {
  return a.ranks_ == b.ranks_ && std::equal(a.levels_.begin(), a.levels_.end(), b.levels_.begin(), b.levels_.end(),
                                            [](const NearLevel& x, const NearLevel& y) {
                                              return x.what == y.what && x.group_of == y.group_of;
                                            });
}

std::shared_ptr<const Nearness> nearness_of(const std::vector<Seat>& seats) {
  if (seats.size() < 4) return nullptr;
  if (std::all_of(seats.begin(), seats.end(), [](const Seat& seat) { return seat == kNoSeat; })) return nullptr;
  auto found = std::make_shared<const Nearness>(seats);
  return found->levels().empty() ? nullptr : found;
}

std::optional<std::vector<Seat>> made_up_seats(std::string_view text, int ranks) {
  struct Part {
    std::size_t what;
    int each;  ///< of one of the part before
  };
  std::vector<Part> parts;
  constexpr int kMost = 1 << 12;  // of each
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ,", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const std::size_t colon = std::min(word.find(':'), word.size());
    const auto* const name = std::find(std::begin(kSharedNames), std::end(kSharedNames), word.substr(0, colon));
    const std::string_view digits = word.substr(std::min(colon + 1, word.size()));
    Part part{static_cast<std::size_t>(name - kSharedNames), 0};
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), part.each);
    const bool number = error == std::errc() && rest == digits.data() + digits.size();
    const bool twice =
        std::any_of(parts.begin(), parts.end(), [&](const Part& other) { return other.what == part.what; });
    if (part.what == kSharedKinds || !number || part.each < 1 || part.each > kMost || twice) return {};
    parts.push_back(part);
  }
  if (parts.empty()) return {};
  std::int64_t units = 1;
  for (const Part& part : parts) {
    units *= part.each;
    if (units > kMost) return {};
  }
  std::vector<Seat> seats(static_cast<std::size_t>(ranks), kNoSeat);
  for (std::size_t r = 0; r < seats.size(); ++r) {
    auto unit = static_cast<std::int64_t>(r) * units / std::max(1, ranks);  // of the last part
    for (std::size_t i = parts.size(); i-- > 0; unit /= parts[i].each) seats[r][parts[i].what] = static_cast<int>(unit);
  }
  return seats;
}

}  // namespace chasqui
