// SPDX-License-Identifier: MIT
// The texts for libraries that are not here.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "chasqui/tune/rules.hpp"

namespace chasqui::tune {
namespace {

Algorithm named(Library library, const std::string& collective, const std::string& name) {
  for (const Algorithm& algorithm : algorithms(library, collective, 8, 1 << 20)) {
    if (algorithm.name == name) return algorithm;
  }
  ADD_FAILURE() << collective << " " << name;
  return {};
}

Rules example() {
  const auto of = [](const char* collective, const char* name) { return named(Library::openmpi, collective, name); };
  Algorithm chain = of("bcast", "chain");
  chain.fan = 4;
  chain.segment = 8192;
  return {Library::openmpi,
          {{"bcast", 8, {{0, of("bcast", "binomial")}, {65536, chain}}},
           {"allgather", 8, {{0, of("allgather", "bruck")}, {1024, of("allgather", "ring")}}},
           {"allreduce", 8, {{0, {}}, {4096, of("allreduce", "rabenseifner")}, {1 << 20, of("allreduce", "ring")}}}}};
}

TEST(Writers, Version2) {
  EXPECT_EQ(openmpi_version_2({Library::openmpi, {example().choices[0]}}),
            "rule-file-version-2\n1 # collectives\n7 # bcast\n3 # communicator sizes\n"
            "2 1 # from so many ranks on the library's own choice\n0 0 0 0 0\n"
            "8 2 # ranks, rules\n0 6 0 0 0 # binomial\n65536 2 4 8192 0 # chain of 4 by 8 KiB\n"
            "16 1 # from so many ranks on the library's own choice\n0 0 0 0 0\n");
}

/// As its reader does it: the first rule that holds.
std::string chosen(const nlohmann::json& file, const std::string& collective, std::int64_t ranks, std::int64_t bytes) {
  if (!file.at("collectives").contains(collective)) return "none";
  for (const auto& entry : file.at("collectives").at(collective)) {
    if (ranks < entry.at("comm_size_min") || ranks > entry.at("comm_size_max")) continue;
    for (const auto& rule : entry.at("rules")) {
      const bool below = rule.at("msg_size_max") == "inf" || bytes <= rule.at("msg_size_max").get<std::int64_t>();
      if (bytes >= rule.at("msg_size_min").get<std::int64_t>() && below)
        return fmt::format("{} {} {}", rule.at("alg").get<int>(), rule.at("faninout").get<int>(),
                           rule.at("seg_size").get<int>());
    }
  }
  return "none";
}

TEST(Writers, JsonOfOpenMpi) {
  const auto file = nlohmann::json::parse(openmpi_json(example()));
  EXPECT_EQ(file.at("rule_file_version"), 3);
  EXPECT_EQ(file.at("module"), "tuned");
  EXPECT_EQ(chosen(file, "bcast", 8, 65535), "6 0 0");
  EXPECT_EQ(chosen(file, "bcast", 8, 65536), "2 4 8192");
  EXPECT_EQ(chosen(file, "bcast", 15, 1 << 30), "2 4 8192");
  EXPECT_EQ(chosen(file, "bcast", 16, 8), "none");
  EXPECT_EQ(chosen(file, "bcast", 7, 8), "none");
  EXPECT_EQ(chosen(file, "allgather", 8, 8 * 1024 - 1), "2 0 0");  // all ranks' bytes
  EXPECT_EQ(chosen(file, "allgather", 8, 8 * 1024), "4 0 0");
}

TEST(Writers, Ucc) {
  EXPECT_EQ(
      ucc_tune(example()),
      "bcast:0-64K:host:[8-8]:inf:@knomial#allgather:0-1K:host:[8-8]:inf:@bruck#allgather:1K-inf:host:[8-8]:inf:@ring"
      "#allreduce:4K-1M:host:[8-8]:inf:@sra_knomial");
}

TEST(Writers, Nccl) {
  EXPECT_EQ(nccl_csv(example(), 2),
            "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
            "allgather,1024,1099511627775,ring,simple,-1,2,8\n"
            "allreduce,4096,1048575,tree,simple,-1,2,8\n"
            "allreduce,1048576,1099511627775,ring,simple,-1,2,8\n");
  std::istringstream lines(nccl_csv(example(), 2));
  for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 256U);
}

TEST(Writers, MpichNamesEveryCollective) {
  const auto file = nlohmann::json::parse(mpich_json({Library::mpich, {}}));
  EXPECT_EQ(file.size(), 44U);
  for (const CollectiveName& name : collectives()) EXPECT_TRUE(file.contains("collective=" + std::string(name.word)));
  // Chains of sizes end in =any: a size that no test takes aborts the program.
  const std::function<void(const nlohmann::json&)> look = [&](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) {
      if (key.find("_size") == std::string::npos || key.find('=') == std::string::npos || key.starts_with("chunk"))
        continue;
      const std::string any = key.substr(0, key.find_first_of("<=")) + "=any";
      EXPECT_TRUE(object.contains(any)) << key << " without " << any;
    }
    for (const auto& [key, value] : object.items()) look(value);
  };
  look(file);
}

TEST(Writers, NoTextIsAWholeNumberOfPages) {
  Rules rules{Library::mpich, {{"bcast", 8, {{0, named(Library::mpich, "bcast", "binomial")}}}}};
  for (int i = 1; i < 600; ++i) {
    rules.choices[0].steps.resize(1);
    for (int s = 1; s <= i % 40; ++s)
      rules.choices[0].steps.push_back({1000 * s + i, rules.choices[0].steps[0].algorithm});
    EXPECT_NE(mpich_json(rules).size() % 4096, 0U);
  }
}

}  // namespace
}  // namespace chasqui::tune
