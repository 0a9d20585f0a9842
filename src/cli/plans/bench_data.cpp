// SPDX-License-Identifier: MIT
#include "cli/plans/bench_data.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"

namespace chasqui::cli {
namespace {

constexpr std::size_t kMostContestants = 32;  ///< each is a column of every table and a curve of every plot
constexpr std::string_view kHeading = "collective,bytes,ranks,who,predicted_ns,q1_ns,median_ns,q3_ns";

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    fields.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

template <typename Number>
Number number(const std::string& field, std::string_view place, int line) {
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size() || !(value >= 0) ||
      !std::isfinite(static_cast<double>(value))) {
    throw Error("{}:{}: \"{}\" is not a number from 0 on: the file should come from `chasqui bench --out`", place, line,
                field);
  }
  return value;
}

}  // namespace

BenchData bench_data_from_csv(std::string_view text, std::string_view place, std::string name) {
  BenchData data{std::move(name), {}};
  std::set<std::string> contestants;
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view words = text.substr(at, end - at - (end > at && text[end - 1] == '\r' ? 1 : 0));
    at = end + 1;
    ++line;
    if (line == 1 && words != kHeading)
      throw Error("{}:1: is not the heading of a file that `chasqui bench --out` wrote: name such a file", place);
    if (line == 1 || words.empty()) continue;
    const std::vector<std::string> f = fields_of(words);
    if (f.size() != 8) throw Error("{}:{}: has {} fields, not 8: was the file cut off?", place, line, f.size());
    if (contestants.insert(f[3].substr(0, f[3].find(' '))).second && contestants.size() > kMostContestants) {
      throw Error("{}:{}: \"{}\" is contestant number {}; a page holds {} of them: leave some out", place, line, f[3],
                  contestants.size(), kMostContestants);
    }
    data.times.push_back({f[0], number<std::int64_t>(f[1], place, line), number<std::int64_t>(f[2], place, line), f[3],
                          f[4].empty() ? 0 : number<double>(f[4], place, line), number<double>(f[5], place, line),
                          number<double>(f[6], place, line), number<double>(f[7], place, line)});
  }
  if (line == 0) throw Error("{}: is empty: the file should come from `chasqui bench --out`", place);
  return data;
}

BenchData read_bench_data(const std::string& path) {
  return bench_data_from_csv(read_file(path, "check the name and the permissions"), path,
                             std::filesystem::path(path).stem().string());
}

}  // namespace chasqui::cli
