// SPDX-License-Identifier: MIT
#include "chasqui/tune/tuner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "chasqui/base/error.hpp"

namespace chasqui::tune {
namespace {

constexpr double kWorthARace = 1.3;     ///< times the best prediction; two race anyway
constexpr double kNearTheBest = 1.3;    ///< times the best prediction: who won around a size needs no race there
constexpr double kWorthARule = 1.02;    ///< times faster than the default, to be written down
constexpr double kWorthASwitch = 1.03;  ///< times faster than who is taken for the size before

/// Sizes of a collective of blocks stop where all blocks together are as long.
std::int64_t largest_of(Kind kind, const TunerOptions& options) {
  const bool blocks = kind == Kind::allgather || kind == Kind::gather || kind == Kind::scatter ||
                      kind == Kind::alltoall || kind == Kind::reduce_scatter;
  return std::max<std::int64_t>(8, blocks ? options.largest / options.ranks : options.largest);
}

std::vector<std::int64_t> sizes_from(std::int64_t first, Kind kind, const TunerOptions& options) {
  if (kind == Kind::barrier) return {0};
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = first; bytes <= largest_of(kind, options); bytes *= 16) sizes.push_back(bytes);
  return sizes;
}

/// Measured over predicted at the raced sizes, between them along a straight line over the logarithm of the size.
class Correction {
 public:
  /// REQUIRES that it was raced somewhere.
  Correction(const Algorithm& algorithm, const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
      const Result* result = cell.of(algorithm);
      if (result != nullptr && result->predicted > 0)
        points_.emplace_back(std::log2(static_cast<double>(std::max<std::int64_t>(cell.bytes, 1))),
                             result->time / result->predicted);
    }
  }
  double at(std::int64_t bytes) const {
    const double x = std::log2(static_cast<double>(std::max<std::int64_t>(bytes, 1)));
    if (x <= points_.front().first) return points_.front().second;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      if (x > points_[i].first) continue;
      const double share = (x - points_[i - 1].first) / (points_[i].first - points_[i - 1].first);
      return points_[i - 1].second + share * (points_[i].second - points_[i - 1].second);
    }
    return points_.back().second;
  }

 private:
  std::vector<std::pair<double, double>> points_;
};

Profile at_low_ends(Profile profile) {
  for (Level& level : profile.levels) {
    for (Estimate* estimate : {&level.L, &level.o_s, &level.o_r, &level.g, &level.G}) estimate->value = estimate->low;
  }
  profile.bsp_g.value = profile.bsp_g.low;
  profile.bsp_G.value = profile.bsp_G.low;
  return profile;
}

}  // namespace

const Result* Cell::best() const {
  const Result* found = nullptr;
  for (const Result& result : results) {
    if (result.time > 0 && (found == nullptr || result.time < found->time)) found = &result;
  }
  return found;
}

const Result* Cell::of(const Algorithm& algorithm) const {
  for (const Result& result : results) {
    if (result.time > 0 && result.algorithm.number == algorithm.number && result.algorithm.name == algorithm.name &&
        result.algorithm.fan == algorithm.fan && result.algorithm.segment == algorithm.segment)
      return &result;
  }
  return nullptr;
}

std::vector<std::int64_t> raced_sizes(Kind kind, const TunerOptions& options) {
  std::vector<std::int64_t> sizes = sizes_from(8, kind, options);
  const std::int64_t largest = largest_of(kind, options) / 8 * 8;
  if (kind != Kind::barrier && sizes.back() * 4 <= largest) sizes.push_back(largest);
  return sizes;
}

std::vector<std::int64_t> unseen_sizes(Kind kind, const TunerOptions& options) {
  return sizes_from(kind == Kind::barrier ? 0 : 32, kind, options);
}

std::vector<Result> predicted(const TunerOptions& options, std::string_view collective, std::int64_t bytes,
                              const Profile& profile) {
  std::vector<Result> list;
  for (const Algorithm& algorithm : algorithms(options.library, collective, options.ranks, bytes)) {
    if (!algorithm.forced_in_place || (!options.commutative && !keeps_order(algorithm))) continue;
    list.push_back({algorithm, 0, predict(*rounds_of(algorithm, options.ranks, bytes), profile)});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Result& a, const Result& b) { return a.predicted < b.predicted; });
  return list;
}

std::vector<Result> shortlist(const TunerOptions& options, std::string_view collective, std::int64_t bytes,
                              const Profile& profile) {
  const std::vector<Result> all = predicted(options, collective, bytes, profile);
  std::vector<Result> chosen;
  const auto is_chosen = [&](const Algorithm& algorithm) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const Result& other) { return other.algorithm == algorithm; });
  };
  // Who would be best if every parameter lay at the low end of its interval: a busy machine measures overheads too long.
  for (const Result& hopeful : predicted(options, collective, bytes, at_low_ends(profile))) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Result& result) { return result.algorithm == hopeful.algorithm; });
    chosen.push_back(*found);
    break;
  }
  std::set<std::string> names;
  for (const bool variants : {false, true}) {
    for (const Result& result : all) {
      if (chosen.size() >= options.most) break;
      if (chosen.size() >= 2 && result.predicted > kWorthARace * all.front().predicted) break;
      const bool fresh = names.insert(result.algorithm.name).second;
      if ((variants || fresh) && !is_chosen(result.algorithm)) chosen.push_back(result);
    }
  }
  return chosen;
}

std::optional<std::int64_t> next_size(const TunerOptions& options, const CollectiveName& name,
                                      const std::vector<Cell>& cells, const Profile& profile) {
  std::vector<std::int64_t> sizes = raced_sizes(name.kind, options);
  if (!tells_sizes(options.library, name.word)) sizes = {sizes[sizes.size() / 2]};
  const auto raced = [&](std::int64_t bytes) {
    return std::find_if(cells.begin(), cells.end(),
                        [&](const Cell& cell) { return cell.collective == name.word && cell.bytes == bytes; });
  };
  for (const std::int64_t end : {sizes.front(), sizes.back()}) {
    if (raced(end) == cells.end()) return end;
  }
  const auto settled = [&](const Cell& low, const Cell& high, std::int64_t bytes) {
    if (low.best() == nullptr || high.best() == nullptr) return false;
    const Algorithm& winner = low.best()->algorithm;
    if (!(winner == high.best()->algorithm)) return false;
    const auto all = predicted(options, name.word, bytes, profile);
    return winner.number == 0 || std::any_of(all.begin(), all.end(), [&](const Result& result) {
             return result.algorithm == winner && result.predicted <= kNearTheBest * all.front().predicted;
           });
  };
  for (std::size_t low = 0, high = 1; high < sizes.size(); ++high) {
    if (raced(sizes[high]) == cells.end()) continue;
    const std::int64_t middle = sizes[(low + high) / 2];
    if (high - low > 1 && !settled(*raced(sizes[low]), *raced(sizes[high]), middle)) return middle;
    low = high;
  }
  return {};
}

std::vector<Algorithm> guests(const TunerOptions& options, const std::vector<Cell>& cells, const Cell& here) {
  const Cell* below = nullptr;
  const Cell* above = nullptr;
  for (const Cell& cell : cells) {
    if (cell.collective != here.collective) continue;
    if (cell.bytes < here.bytes && (below == nullptr || cell.bytes > below->bytes)) below = &cell;
    if (cell.bytes > here.bytes && (above == nullptr || cell.bytes < above->bytes)) above = &cell;
  }
  std::vector<Algorithm> list;
  for (const Cell* next : {below, above}) {
    const Result* best = next == nullptr ? nullptr : next->best();
    if (best == nullptr || best->algorithm.number == 0 || here.of(best->algorithm) != nullptr) continue;
    if (best->algorithm.segment > 0 && 2 * best->algorithm.segment > here.bytes) continue;
    if (std::find(list.begin(), list.end(), best->algorithm) == list.end() &&
        rounds_of(best->algorithm, options.ranks, here.bytes))
      list.push_back(best->algorithm);
  }
  return list;
}

Choice choose(const TunerOptions& options, const std::string& collective, const std::vector<Cell>& cells,
              const Profile& profile) {
  std::vector<Cell> own;
  for (const Cell& cell : cells) {
    if (cell.collective == collective && cell.best() != nullptr) own.push_back(cell);
  }
  Choice choice{collective, options.ranks, {}};
  if (own.empty()) return choice;
  std::sort(own.begin(), own.end(), [](const Cell& a, const Cell& b) { return a.bytes < b.bytes; });
  // Raced on either side of this size, where it can be, and faster than the default on the nearer side; in the middle, on one of them.
  // On the farther side alone is enough where the default is no faster on the nearer one: what it does between the two nobody knows.
  const auto proven = [&](const Algorithm& algorithm, std::int64_t bytes) {
    const auto length = [](std::int64_t size) {
      return std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)));
    };
    struct Side {
      double away = std::numeric_limits<double>::max(), gain = 0;
    } near, far;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool below = own[i].bytes <= bytes && (i + 1 == own.size() || own[i + 1].bytes > bytes);
      const bool above = own[i].bytes >= bytes && (i == 0 || own[i - 1].bytes < bytes);
      if (!below && !above) continue;
      if (algorithm.segment > 0 && 2 * algorithm.segment > own[i].bytes) continue;  // there it is cut into one piece
      const Result* result = own[i].of(algorithm);
      const Result* plain = own[i].of({.library = options.library, .collective = collective});
      if (result == nullptr) return false;
      Side side{std::abs(length(own[i].bytes) - length(bytes)),
                plain == nullptr ? kWorthARule : plain->time / result->time};
      if (side.away < near.away) std::swap(side, near);
      if (side.gain > 0) far = side;
    }
    if (far.away < near.away + 0.5 && far.gain > near.gain) std::swap(near, far);
    return near.gain >= kWorthARule || (near.gain >= 1 && far.gain >= kWorthARule);
  };
  std::vector<std::int64_t> sizes;
  const std::int64_t last = own.back().bytes;
  if (tells_sizes(options.library, collective) && own.size() > 1) {
    for (std::int64_t bytes = 8; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  } else {
    sizes = {own[own.size() / 2].bytes};
  }
  std::int64_t before = 0;
  for (const std::int64_t bytes : sizes) {
    Algorithm taken{options.library, collective};
    double least = 0, kept = 0;  // of the best, and of who was taken for the size before
    for (const Result& candidate : predicted(options, collective, bytes, profile)) {
      if (!proven(candidate.algorithm, bytes)) continue;
      const double time = candidate.predicted * Correction(candidate.algorithm, own).at(bytes);
      if (!choice.steps.empty() && choice.steps.back().algorithm == candidate.algorithm) kept = time;
      if (least != 0 && time >= least) continue;
      least = time;
      taken = candidate.algorithm;
    }
    if (kept > 0 && kept < kWorthASwitch * least) taken = choice.steps.back().algorithm;
    const std::int64_t from = choice.steps.empty() ? 0 : (before + bytes) / 2;
    if (choice.steps.empty() || !(choice.steps.back().algorithm == taken)) choice.steps.push_back({from, taken});
    before = bytes;
  }
  return choice;
}

const Step& step_for(const Choice& choice, std::int64_t bytes) {
  CHASQUI_CHECK(!choice.steps.empty(), "{}", choice.collective);
  const Step* found = &choice.steps.front();
  for (const Step& step : choice.steps) {
    if (step.bytes <= bytes) found = &step;
  }
  return *found;
}

std::string to_csv(const std::vector<Cell>& cells, const TunerOptions& options) {
  std::string text = "collective,bytes,number,inner,fan,segment,name,time_ns,predicted_ns,library,ranks\n";
  for (const Cell& cell : cells) {
    for (const Result& result : cell.results) {
      const Algorithm& a = result.algorithm;
      text += fmt::format("{},{},{},{},{},{},{},{:.0f},{:.0f},{},{}\n", cell.collective, cell.bytes, a.number, a.inner,
                          a.fan, a.segment, a.number == 0 ? "default" : a.name, result.time, result.predicted,
                          to_string(options.library), options.ranks);
    }
  }
  return text;
}

std::vector<Cell> cells_from_csv(const std::string& text, const std::string& place, const TunerOptions& options) {
  constexpr std::size_t kColumns = 11;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  constexpr double kMostTime = 1e18;
  std::vector<Cell> cells;
  std::set<std::pair<std::string, std::int64_t>> raced;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  for (int number = 2; std::getline(lines, line); ++number) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
    const auto wrong = [&] {
      return Error(
          "{}:{}: not a line of {} columns as `chasqui tune` writes them: leave --resume out, or mend the line", place,
          number, kColumns);
    };
    if (words.size() != kColumns) throw wrong();
    if (words[9] != to_string(options.library) || words[10] != fmt::format("{}", options.ranks)) {
      throw Error("{}:{}: a race of {} on {} ranks, and this is {} on {}: leave --resume out, or give another --out",
                  place, number, words[9], words[10], to_string(options.library), options.ranks);
    }
    const auto read = [&](std::size_t column, auto most) {
      const char* const end = words[column].data() + words[column].size();
      auto value = most;
      const auto [at, problem] = std::from_chars(words[column].data(), end, value);
      if (problem != std::errc{} || at != end || !(value >= 0 && value <= most)) throw wrong();
      return value;
    };
    const std::int64_t bytes = read(1, kMostBytes), fan = read(4, kMostBytes), segment = read(5, kMostBytes);
    const int which = read(2, 1000), inner = read(3, 1000);
    Result result;
    result.time = read(7, kMostTime);
    result.predicted = read(8, kMostTime);
    result.algorithm.library = options.library;
    result.algorithm.collective = words[0];
    const auto& names = collectives();
    if (std::none_of(names.begin(), names.end(), [&](const CollectiveName& each) { return each.word == words[0]; }))
      throw wrong();
    if (which != 0 || inner != 0 || fan != 0 || segment != 0) {
      // A message of two segments is long enough for every algorithm that cuts into such.
      const auto known = algorithms(options.library, words[0], options.ranks, 2 * segment);
      const auto found = std::find_if(known.begin(), known.end(), [&](const Algorithm& each) {
        return each.number == which && each.inner == inner && each.name == words[6] && each.fan == fan &&
               each.segment == segment;
      });
      if (found == known.end() || result.predicted == 0) throw wrong();
      result.algorithm = *found;
    }
    if (cells.empty() || cells.back().collective != words[0] || cells.back().bytes != bytes) {
      if (!raced.emplace(words[0], bytes).second) throw wrong();  // two races of one size
      cells.push_back({words[0], bytes, {}});
    }
    cells.back().results.push_back(result);
  }
  return cells;
}

}  // namespace chasqui::tune
