// SPDX-License-Identifier: MIT
// Rules for Open MPI, UCC and NCCL.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/rules.hpp"

namespace chasqui::tune {
namespace {

const std::map<std::string_view, int> kNumbers = {{"allgather", 0},       {"allgatherv", 1},
                                                  {"allreduce", 2},       {"alltoall", 3},
                                                  {"alltoallv", 4},       {"barrier", 6},
                                                  {"bcast", 7},           {"exscan", 8},
                                                  {"gather", 9},          {"reduce", 11},
                                                  {"scan", 14},           {"scatter", 15},
                                                  {"reduce_scatter", 12}, {"reduce_scatter_block", 13}};

/// What Open MPI compares with a rule's bytes: all ranks' together, or one rank's.
std::int64_t openmpi_bytes(const Choice& choice, std::int64_t bytes) {
  static const std::vector<std::string_view> total = {"allgather", "alltoall", "reduce_scatter",
                                                      "reduce_scatter_block"};
  const bool all = std::find(total.begin(), total.end(), choice.collective) != total.end();
  return all ? bytes * choice.ranks : bytes;
}

/// The first number of ranks for which a choice does not hold any more.
int end_of(const Choice& choice, const Choice* next) {
  const int own = choice.ranks == 2 ? 3 : 2 * choice.ranks;
  return next != nullptr ? std::min(next->ranks, own) : own;
}

std::map<std::string, std::vector<const Choice*>> by_collective(const Rules& rules, Library library) {
  CHASQUI_CHECK(rules.library == library, "rules of {}", to_string(rules.library));
  std::map<std::string, std::vector<const Choice*>> lists;
  for (const Choice& choice : rules.choices) {
    CHASQUI_CHECK(!choice.steps.empty() && choice.steps.front().bytes == 0, "{}", choice.collective);
    CHASQUI_CHECK(choice.steps.size() == 1 || tells_sizes(library, choice.collective), "{}", choice.collective);
    auto& list = lists[choice.collective];
    CHASQUI_CHECK(list.empty() || list.back()->ranks < choice.ranks, "{} {}", choice.collective, choice.ranks);
    list.push_back(&choice);
  }
  return lists;
}

std::string openmpi_numbers(const Rules& rules, bool requests) {
  const auto lists = by_collective(rules, Library::openmpi);
  std::string text = fmt::format("{} # collectives\n", lists.size());
  const std::string_view tail = requests ? " 0" : "";
  for (const auto& [word, list] : lists) {
    // Sizes below the first listed one take its rules: an entry that leaves all to the library stands first, and after each range.
    std::string sizes;
    int entries = 0;
    const auto leave = [&](int ranks) {
      sizes += fmt::format("{} 1 # from so many ranks on the library's own choice\n0 0 0 0{}\n", ranks, tail);
      ++entries;
    };
    if (list.front()->ranks > 2) leave(2);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Choice& choice = *list[i];
      sizes += fmt::format("{} {} # ranks, rules\n", choice.ranks, choice.steps.size());
      ++entries;
      for (const Step& step : choice.steps) {
        sizes += fmt::format("{} {} {} {}{} # {}\n", openmpi_bytes(choice, step.bytes), step.algorithm.number,
                             step.algorithm.fan, step.algorithm.segment, tail,
                             step.algorithm.number == 0 ? "the library's own choice" : to_string(step.algorithm));
      }
      const Choice* next = i + 1 < list.size() ? list[i + 1] : nullptr;
      if (const int end = end_of(choice, next); next == nullptr || end < next->ranks) leave(end);
    }
    text += fmt::format("{} # {}\n{} # communicator sizes\n{}", kNumbers.at(word), word, entries, sizes);
  }
  return text;
}

/// The nearest of UCC's, by what an algorithm's word begins or ends with.
std::string_view ucc_word(std::string_view collective, const Algorithm& algorithm) {
  const std::string_view name = algorithm.name;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (collective == "bcast")
    return has("scatter") ? "sag_knomial" : has("binom") || has("knomial") || has("tree") ? "knomial" : "";
  if (collective == "reduce")
    return has("rabenseifner") || has("scatter") ? "srg_knomial" : has("binom") || has("tree") ? "knomial" : "";
  if (collective == "allreduce")
    return has("rabenseifner") || has("reduce_scatter") ? "sra_knomial"
           : has("doubling") || has("recexch")          ? "knomial"
                                                        : "";
  if (collective == "allgather")
    return has("ring")       ? "ring"
           : has("neighbor") ? "neighbor"
           : has("bruck")    ? "bruck"
           : has("doubling") ? "knomial"
                             : "";
  if (collective == "alltoall") return has("bruck") ? "bruck" : has("pairwise") ? "pairwise" : "";
  if (collective == "barrier") return has("doubling") || has("bruck") || has("dissemination") ? "knomial" : "";
  if (collective == "reduce_scatter_block") return has("ring") ? "ring" : has("halving") ? "knomial" : "";
  return "";
}

std::string ucc_size(std::int64_t bytes) {
  if (bytes > 0 && bytes % (1 << 20) == 0) return fmt::format("{}M", bytes >> 20);
  if (bytes > 0 && bytes % 1024 == 0) return fmt::format("{}K", bytes >> 10);
  return fmt::format("{}", bytes);
}

}  // namespace

bool tells_sizes(Library library, std::string_view collective) {
  // Gather and scatter: a library looks at counts that only some ranks must give. Scans, all-to-alls with vectors: Open MPI looks at
  // the size of the type alone, or at nothing.
  if (collective == "gather" || collective == "scatter" || collective == "barrier") return false;
  return library == Library::mpich ? collective != "scan" && collective != "exscan"
                                   : collective != "scan" && collective != "exscan" && collective != "alltoallv";
}

std::string openmpi_classic(const Rules& rules) { return openmpi_numbers(rules, false); }

std::string openmpi_version_2(const Rules& rules) { return "rule-file-version-2\n" + openmpi_numbers(rules, true); }

std::string openmpi_json(const Rules& rules) {
  nlohmann::ordered_json collectives = nlohmann::ordered_json::object();
  for (const auto& [word, list] : by_collective(rules, Library::openmpi)) {
    auto& entries = collectives[word] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Choice& choice = *list[i];
      nlohmann::ordered_json steps = nlohmann::ordered_json::array();
      for (std::size_t s = 0; s < choice.steps.size(); ++s) {
        const Step& step = choice.steps[s];
        nlohmann::ordered_json rule = {{"msg_size_min", openmpi_bytes(choice, step.bytes)}};
        if (s + 1 < choice.steps.size()) rule["msg_size_max"] = openmpi_bytes(choice, choice.steps[s + 1].bytes) - 1;
        else rule["msg_size_max"] = "inf";
        rule["alg"] = step.algorithm.number;
        rule["faninout"] = step.algorithm.fan;
        rule["seg_size"] = step.algorithm.segment;
        rule["reqs"] = 0;
        steps.push_back(rule);
      }
      entries.push_back({{"comm_size_min", choice.ranks},
                         {"comm_size_max", end_of(choice, i + 1 < list.size() ? list[i + 1] : nullptr) - 1},
                         {"comm_rank_distribution", "any"},
                         {"rules", steps}});
    }
  }
  const nlohmann::ordered_json file = {{"rule_file_version", 3}, {"module", "tuned"}, {"collectives", collectives}};
  return file.dump(1) + "\n";
}

std::string ucc_tune(const Rules& rules) {
  static const std::map<std::string_view, std::string_view> words = {{"reduce_scatter_block", "reduce_scatter"}};
  std::string text;
  for (const Choice& choice : rules.choices) {
    const auto word = words.find(choice.collective);
    for (std::size_t i = 0; i < choice.steps.size(); ++i) {
      const Step& step = choice.steps[i];
      const std::string_view algorithm = ucc_word(choice.collective, step.algorithm);
      if (algorithm.empty() || step.algorithm.number == 0) continue;
      const std::string end = i + 1 < choice.steps.size() ? ucc_size(choice.steps[i + 1].bytes) : "inf";
      text += fmt::format("{}{}:{}-{}:host:[{}-{}]:inf:@{}", text.empty() ? "" : "#",
                          word == words.end() ? std::string_view(choice.collective) : word->second,
                          ucc_size(step.bytes), end, choice.ranks, choice.ranks, algorithm);
    }
  }
  return text;
}

std::string nccl_csv(const Rules& rules, int nodes) {
  static const std::map<std::string_view, std::string_view> words = {{"bcast", "broadcast"},
                                                                     {"reduce", "reduce"},
                                                                     {"allreduce", "allreduce"},
                                                                     {"allgather", "allgather"},
                                                                     {"reduce_scatter_block", "reducescatter"}};
  constexpr std::int64_t kLowLatency = 16384;  // bytes up to which the protocol of flags in each word is usual
  std::string text = "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n";
  for (const Choice& choice : rules.choices) {
    const auto word = words.find(choice.collective);
    if (word == words.end()) continue;
    const bool has_tree = choice.collective == "allreduce";  // NCCL's only tree
    for (std::size_t i = 0; i < choice.steps.size(); ++i) {
      const Step& step = choice.steps[i];
      if (step.algorithm.number == 0) continue;
      const bool ring = step.algorithm.name.find("ring") != std::string::npos;
      if (!ring && !has_tree) continue;
      const std::int64_t end =
          i + 1 < choice.steps.size() ? choice.steps[i + 1].bytes - 1 : (std::int64_t{1} << 40) - 1;
      text += fmt::format("{},{},{},{},{},-1,{},{}\n", word->second, step.bytes, end, ring ? "ring" : "tree",
                          end < kLowLatency ? "ll" : "simple", nodes, choice.ranks);
    }
  }
  return text;
}

}  // namespace chasqui::tune
