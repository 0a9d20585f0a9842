// SPDX-License-Identifier: MIT
// Any lines "COLLECTIVE RANKS BYTES WHICH BYTES WHICH ...", where WHICH is a place in the list of algorithms, are tuning rules; those
// that make no sense are left out. Written for a library and read as it reads them, numbers after numbers without comments, the rules
// choose these algorithms for these calls, and leave other numbers of ranks to the library. (We write such files and read none.)
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "chasqui/tune/rules.hpp"
#include "require.hpp"

using namespace chasqui;
using namespace chasqui::tune;

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;
constexpr int kMostRanks = 300;

Rules rules_from(const std::string& text, Library library) {
  Rules rules{library, {}};
  std::map<std::string, int> last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && rules.choices.size() < 50;) {
    std::istringstream words(line);
    Choice choice;
    if (!(words >> choice.collective >> choice.ranks)) continue;
    bool known = false;
    for (const CollectiveName& name : collectives()) known = known || name.word == choice.collective;
    if (!known || choice.ranks < 2 || choice.ranks > kMostRanks || choice.ranks <= last[choice.collective]) continue;
    std::int64_t bytes = 0;
    for (std::size_t which = 0; words >> bytes >> which && choice.steps.size() < 20;) {
      const bool first = choice.steps.empty();
      if (!first && !tells_sizes(library, choice.collective)) break;
      if (first) bytes = 0;
      if (bytes > kLargest || (!first && bytes <= choice.steps.back().bytes)) continue;
      const auto list = algorithms(library, choice.collective, choice.ranks, bytes);
      Algorithm algorithm;
      algorithm.library = library, algorithm.collective = choice.collective;
      if (which % (list.size() + 1) != 0) algorithm = list[which % (list.size() + 1) - 1];
      choice.steps.push_back({bytes, algorithm});
    }
    if (choice.steps.empty()) continue;
    last[choice.collective] = choice.ranks;
    rules.choices.push_back(choice);
  }
  return rules;
}

/// As Open MPI's reader of numbers: what stands behind a # is not seen.
class Numbers {
 public:
  explicit Numbers(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) stream_ << line.substr(0, line.find('#')) << '\n';
  }
  std::int64_t next() {
    std::int64_t number = -1;
    require(static_cast<bool>(stream_ >> number) && number >= 0, "a number is missing");
    return number;
  }
  bool ended() { return (stream_ >> std::ws).eof(); }

 private:
  std::stringstream stream_;
};

struct Rule {
  std::int64_t bytes, number, fan, segment;
};
using Entries = std::vector<std::pair<std::int64_t, std::vector<Rule>>>;

std::map<std::int64_t, Entries> read_numbers(const std::string& text, bool requests) {
  Numbers in(text);
  std::map<std::int64_t, Entries> read;
  for (std::int64_t lists = in.next(); lists > 0; --lists) {
    const std::int64_t collective = in.next();
    require(read.count(collective) == 0, "a collective twice");
    Entries& entries = read[collective];
    for (std::int64_t sizes = in.next(); sizes > 0; --sizes) {
      const std::int64_t ranks = in.next();
      require(entries.empty() || entries.back().first < ranks, "numbers of ranks ascend");
      auto& rules = entries.emplace_back(ranks, std::vector<Rule>()).second;
      for (std::int64_t count = in.next(); count > 0; --count) {
        Rule rule{};
        rule.bytes = in.next(), rule.number = in.next(), rule.fan = in.next(), rule.segment = in.next();
        if (requests) in.next();
        require(rules.empty() ? rule.bytes == 0 : rules.back().bytes < rule.bytes, "sizes ascend from 0");
        rules.push_back(rule);
      }
      require(!rules.empty(), "an entry without rules");
    }
  }
  require(in.ended(), "something is behind the last rule");
  return read;
}

/// The last that begins at or before it: what the library takes.
const Rule& taken(const Entries& entries, std::int64_t ranks, std::int64_t bytes) {
  const std::vector<Rule>* rules = &entries.front().second;
  for (const auto& [from, list] : entries) {
    if (from <= ranks) rules = &list;
  }
  const Rule* rule = &rules->front();
  for (const Rule& each : *rules) {
    if (each.bytes <= bytes) rule = &each;
  }
  return *rule;
}

void check_numbers(const Rules& rules, const std::string& text, bool requests) {
  const auto read = read_numbers(text, requests);
  static const std::map<std::string, std::int64_t> numbers = {
      {"allgather", 0},       {"allgatherv", 1},
      {"allreduce", 2},       {"alltoall", 3},
      {"alltoallv", 4},       {"barrier", 6},
      {"bcast", 7},           {"exscan", 8},
      {"gather", 9},          {"reduce", 11},
      {"reduce_scatter", 12}, {"scan", 14},
      {"scatter", 15},        {"reduce_scatter_block", 13}};  // by coll_base_functions.h
  std::map<std::string, std::vector<int>> listed;
  for (const Choice& choice : rules.choices) {
    listed[choice.collective].push_back(choice.ranks);
    const Entries& entries = read.at(numbers.at(choice.collective));
    const bool total = choice.collective == "allgather" || choice.collective == "alltoall" ||
                       choice.collective == "reduce_scatter" || choice.collective == "reduce_scatter_block";
    for (std::size_t i = 0; i < choice.steps.size(); ++i) {
      const Algorithm& wanted = choice.steps[i].algorithm;
      const std::int64_t first = choice.steps[i].bytes * (total ? choice.ranks : 1);
      const std::int64_t end = i + 1 < choice.steps.size() ? choice.steps[i + 1].bytes * (total ? choice.ranks : 1)
                                                           : std::numeric_limits<std::int64_t>::max();
      for (const std::int64_t bytes : {first, end - 1}) {
        const Rule& rule = taken(entries, choice.ranks, bytes);
        require(rule.number == wanted.number && rule.fan == wanted.fan && rule.segment == wanted.segment,
                "the library takes another algorithm");
      }
    }
  }
  for (const auto& [word, ranks] : listed) {
    const Entries& entries = read.at(numbers.at(word));
    if (ranks.front() > 2) require(taken(entries, 2, 100).number == 0, "fewer ranks are left to the library");
    require(taken(entries, 2 * ranks.back(), 100).number == 0, "twice as many ranks are left to the library");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Rules openmpi = rules_from(text, Library::openmpi);
  check_numbers(openmpi, openmpi_classic(openmpi), false);
  const std::string second = openmpi_version_2(openmpi), head = "rule-file-version-2\n";
  require(second.substr(0, head.size()) == head, "version 2 has its head");
  check_numbers(openmpi, second.substr(head.size()), true);
  require(nlohmann::json::accept(openmpi_json(openmpi)), "Open MPI 6 reads JSON");
  ucc_tune(openmpi);
  nccl_csv(openmpi, -1);
  require(nlohmann::json::accept(mpich_json(rules_from(text, Library::mpich))), "MPICH reads JSON");
  return 0;
}
