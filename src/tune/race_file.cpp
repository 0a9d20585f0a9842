// SPDX-License-Identifier: MIT
// The file in which races are kept, so that tuning can go on where it was.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/tuner.hpp"

namespace chasqui::tune {

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
