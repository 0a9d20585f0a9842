// SPDX-License-Identifier: MIT
// The installed MPI libraries read our files and do what they say: Open MPI calls the function of each rule, with its segments and
// chains; MPICH sends the messages that the algorithm's rounds say. A file that says something else fails the same comparison.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "chasqui/base/file.hpp"
#include "chasqui/tune/rules.hpp"

namespace chasqui::tune {
namespace {

constexpr int kRanks = 4;
constexpr std::int64_t kStep = 4096;  ///< bytes from one rule to the next

/// What the rules say for a call.
struct Call {
  std::string collective;
  std::int64_t bytes;
  Algorithm algorithm;

  std::string word() const { return fmt::format("{}:{}", collective, bytes); }
};

/// A rule for every algorithm of a collective, each from its own size on; where sizes are not told apart the one of this round.
Rules rules_for(Library library, const std::vector<std::string>& collectives, std::size_t round) {
  Rules rules{library, {}};
  for (const std::string& word : collectives) {
    Choice choice{word, kRanks, {}};
    std::vector<Algorithm> list = algorithms(library, word, kRanks, 16 * kStep);
    if (tells_sizes(library, word)) {
      for (std::size_t i = 0; i < list.size(); ++i)
        choice.steps.push_back({static_cast<std::int64_t>(i) * kStep, list[i]});
    } else {
      choice.steps.push_back({0, list[round % list.size()]});
    }
    rules.choices.push_back(choice);
  }
  return rules;
}

/// Calls at the begin and at the end of every rule.
std::vector<Call> calls_of(const Rules& rules) {
  std::vector<Call> calls;
  for (const Choice& choice : rules.choices) {
    for (const Step& step : choice.steps) {
      if (choice.collective == "barrier") calls.push_back({choice.collective, 0, step.algorithm});
      else calls.push_back({choice.collective, std::max<std::int64_t>(step.bytes, 8 * kRanks), step.algorithm});
      if (choice.steps.size() > 1)
        calls.push_back({choice.collective, step.bytes + kStep - 8 * kRanks, step.algorithm});
    }
  }
  return calls;
}

/// "word rank" -> the rest of the line.
std::map<std::string, std::string> run(const char* launch_variable, const std::string& file_variable,
                                       const std::string& text, const std::vector<Call>& calls) {
  const char* launch = std::getenv(launch_variable);
  EXPECT_NE(launch, nullptr) << launch_variable << " has the launcher and the program";
  const std::string path = testing::TempDir() + "chasqui_rules_" + std::to_string(getpid());
  replace_file(path, text);
  std::string command = "env " + file_variable + path + " " + launch;
  for (const Call& call : calls) command += " " + call.word();
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::map<std::string, std::string> lines;
  std::string all;
  for (char buffer[4096]; std::fgets(buffer, sizeof buffer, pipe) != nullptr;) all += buffer;
  pclose(pipe);
  std::istringstream stream(all);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(' '), second = std::min(line.find(' ', first + 1), line.size());
    if (first != std::string::npos) lines[line.substr(0, second)] = second < line.size() ? line.substr(second + 1) : "";
  }
  std::remove(path.c_str());
  return lines;
}

/// Open MPI's functions by number, from its own sources.
const std::map<std::string, std::vector<std::string>> kFunctions = {
    {"bcast",
     {"basic_linear", "chain", "pipeline", "split_bintree", "bintree", "binomial", "knomial", "scatter_allgather",
      "scatter_allgather_ring"}},
    {"reduce", {"basic_linear", "chain", "pipeline", "binary", "binomial", "in_order_binary", "redscat_gather"}},
    {"allreduce",
     {"basic_linear", "nonoverlapping", "recursivedoubling", "ring", "ring_segmented", "redscat_allgather"}},
    {"allgather", {"basic_linear", "bruck", "recursivedoubling", "ring", "neighborexchange", "two_procs"}},
    {"alltoall", {"basic_linear", "pairwise", "bruck", "linear_sync", "two_procs"}},
    {"barrier", {"basic_linear", "doublering", "recursivedoubling", "bruck", "two_procs", "tree"}},
    {"gather", {"basic_linear", "binomial", "linear_sync"}},
    {"scatter", {"basic_linear", "binomial", "linear_nb"}},
    {"reduce_scatter_block", {"basic_linear", "recursivedoubling", "recursivehalving", "butterfly"}},
    {"scan", {"linear", "recursivedoubling"}},
    {"exscan", {"linear", "recursivedoubling"}}};

std::string expected_function(const Call& call) {
  const std::string name = kFunctions.at(call.collective)[static_cast<std::size_t>(call.algorithm.number) - 1];
  const bool outside = call.collective == "reduce_scatter_block" && name == "basic_linear";
  std::string text = call.collective + (outside ? "_" : "_intra_") + name;
  const bool segments = (call.collective == "bcast" || call.collective == "reduce") && name != "basic_linear" &&
                        name.find("redscat") == std::string::npos &&
                        name.find("scatter_allgather") == std::string::npos;
  if (segments) text += fmt::format(" {}", call.algorithm.segment);
  if (name == "chain") text += fmt::format(" {}", call.algorithm.fan);
  return text;
}

/// How many calls were done otherwise than the rules say.
int openmpi_mismatches(const Rules& rules, const std::string& text, bool complain) {
  const auto calls = calls_of(rules);
  auto lines = run("CHASQUI_LAUNCH_OPENMPI",
                   "OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_dynamic_rules_filename=", text, calls);
  int wrong = 0;
  for (const Call& call : calls) {
    const std::string got = lines[call.word() + " 0"], wanted = expected_function(call);
    const bool same = got == wanted || got.starts_with(wanted + " ");
    wrong += same ? 0 : 1;
    if (complain && !same) ADD_FAILURE() << call.word() << ": " << got << " instead of " << wanted;
  }
  return wrong;
}

const std::vector<std::string> kOpenMpiCollectives = {
    "bcast", "reduce", "allreduce", "allgather", "alltoall", "barrier", "gather", "scatter", "reduce_scatter_block",
    "scan",  "exscan"};

TEST(OpenMpi, DoesWhatTheRulesSay) {
  if (std::getenv("CHASQUI_LAUNCH_OPENMPI") == nullptr) GTEST_SKIP() << "no Open MPI";
  for (const std::size_t round : {0U, 1U, 2U, 3U, 4U}) {
    const Rules rules = rules_for(
        Library::openmpi,
        round == 0 ? kOpenMpiCollectives : std::vector<std::string>{"barrier", "gather", "scatter", "scan", "exscan"},
        round);
    EXPECT_EQ(openmpi_mismatches(rules, openmpi_classic(rules), true), 0);
  }
}

TEST(OpenMpi, ABrokenFileIsNoticed) {
  if (std::getenv("CHASQUI_LAUNCH_OPENMPI") == nullptr) GTEST_SKIP() << "no Open MPI";
  const Rules rules = rules_for(Library::openmpi, {"bcast", "allreduce"}, 0);
  const std::string text = openmpi_classic(rules);
  EXPECT_GT(openmpi_mismatches(rules, text.substr(0, text.size() / 2), false), 5);  // it is not taken at all
  Rules other = rules;
  std::reverse(other.choices[0].steps.begin(), other.choices[0].steps.end());
  std::int64_t bytes = 0;
  for (Step& step : other.choices[0].steps) step.bytes = std::exchange(bytes, bytes + kStep);
  EXPECT_GT(openmpi_mismatches(rules, openmpi_classic(other), false), 5);
}

TEST(OpenMpi, OtherCommunicatorsKeepTheDefault) {
  if (std::getenv("CHASQUI_LAUNCH_OPENMPI") == nullptr) GTEST_SKIP() << "no Open MPI";
  // Rules for three ranks hold for four and five; rules for eight, or for two, do not.
  Rules rules{Library::openmpi, {{"bcast", 3, {{0, algorithms(Library::openmpi, "bcast", 3, 8)[1]}}}}};
  const auto asked = [&] {
    const Call call{"bcast", 64, rules.choices[0].steps[0].algorithm};
    return run("CHASQUI_LAUNCH_OPENMPI",
               "OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_dynamic_rules_filename=",
               openmpi_classic(rules), {call})["bcast:64 0"];
  };
  EXPECT_TRUE(asked().starts_with("bcast_intra_chain")) << asked();
  for (const int ranks : {2, 8}) {
    rules.choices[0].ranks = ranks;
    EXPECT_FALSE(asked().starts_with("bcast_intra_chain")) << ranks << ": " << asked();
  }
}

/// What ranks send, each rank's messages by size, ranks in any order: which of two halves a rank keeps is no matter.
using Traffic = std::multiset<std::multiset<std::int64_t>>;

Traffic expected_traffic(const Call& call) {
  std::vector<std::multiset<std::int64_t>> sent(kRanks);
  const auto rounds = rounds_of(call.algorithm, kRanks, call.bytes);
  for (const Round& round : rounds->list) {
    for (const Message& message : round)
      sent[static_cast<std::size_t>(message.from)].insert(std::llround(message.bytes));
  }
  if (call.algorithm.name == "scattered") {  // a rank's own block goes the same way
    for (auto& own : sent) own.insert(call.bytes);
  }
  return {sent.begin(), sent.end()};
}

int mpich_mismatches(const Rules& rules, const std::string& text, bool complain) {
  const auto calls = calls_of(rules);
  auto lines =
      run("CHASQUI_LAUNCH_MPICH", "MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=", text, calls);
  int wrong = 0;
  for (const Call& call : calls) {
    Traffic sent;
    std::string all;
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::string& line = lines[fmt::format("{} {}", call.word(), rank)];
      all += line + "; ";
      std::istringstream numbers(line);
      std::multiset<std::int64_t> own;
      for (std::int64_t bytes = 0; numbers >> bytes;) own.insert(bytes);
      sent.insert(own);
    }
    // Blocks that do not lie side by side are counted, not measured.
    if (call.collective == "reduce_scatter_block" && call.algorithm.name == "recursive_doubling") continue;
    if (sent == expected_traffic(call)) continue;
    ++wrong;
    if (complain) ADD_FAILURE() << call.word() << " " << to_string(call.algorithm) << " sent " << all;
  }
  return wrong;
}

TEST(Mpich, SendsWhatTheFileSays) {
  if (std::getenv("CHASQUI_LAUNCH_MPICH") == nullptr) GTEST_SKIP() << "no MPICH";
  const Rules rules = rules_for(
      Library::mpich,
      {"bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter_block", "barrier", "gather", "scatter"},
      0);
  EXPECT_EQ(mpich_mismatches(rules, mpich_json(rules), true), 0);
}

TEST(Mpich, ABrokenFileIsNoticed) {
  if (std::getenv("CHASQUI_LAUNCH_MPICH") == nullptr) GTEST_SKIP() << "no MPICH";
  const Rules rules = rules_for(Library::mpich, {"bcast"}, 0);
  std::string text = mpich_json(rules);
  for (std::size_t at = text.find("avg_msg_size<="); at != std::string::npos; at = text.find("avg_msg_size<=", at + 1))
    text.insert(at + 14, "1");  // other bounds
  EXPECT_GT(mpich_mismatches(rules, text, false), 5);
}

}  // namespace
}  // namespace chasqui::tune
