// SPDX-License-Identifier: MIT
#include "explorer/engine/engine.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chasqui::explorer {
namespace {

using Json = nlohmann::json;

Json ask(const Json& question) { return Json::parse(answer(question.dump())); }

Json machine(std::int64_t P, std::int64_t L, std::int64_t o, std::int64_t g) {
  return {{"do", "plan"}, {"P", P}, {"L", L}, {"o", o}, {"g", g}};
}

Json with(Json question, const Json& more) {
  question.update(more);
  return question;
}

TEST(Engine, ThePaperExampleIsOptimalAndLegal) {
  const Json reply = ask(with(machine(8, 6, 2, 4), {{"collective", "broadcast"}}));
  ASSERT_FALSE(reply.contains("error")) << reply.dump();
  EXPECT_EQ(reply["claim"]["finish"], 24);
  EXPECT_EQ(reply["claim"]["bound"], 24);
  EXPECT_TRUE(reply["verify"]["legal"]);
  EXPECT_EQ(reply["messages"].size(), 7U);
  EXPECT_EQ(reply["played"]["finish"], 24);
}

TEST(Engine, EveryCollectiveOnSeveralMachines) {
  const Json about = ask({{"do", "about"}});
  ASSERT_EQ(about["collectives"].size(), 12U);
  for (const Json& collective : about["collectives"]) {
    for (const auto& base : {machine(1, 3, 1, 2), machine(2, 3, 0, 1), machine(9, 5, 0, 1), machine(13, 4, 2, 3)}) {
      Json question = with(base, {{"collective", collective["name"]}});
      if (collective["operands"]) question["operands"] = 50;
      const Json reply = ask(question);
      ASSERT_FALSE(reply.contains("error")) << question.dump() << reply.dump();
      EXPECT_TRUE(reply["verify"]["legal"]) << question.dump();
      for (const char* picture : {"tree", "chart", "table"}) {
        EXPECT_EQ(reply["pictures"][picture].get<std::string>().rfind("<svg", 0), 0U) << question.dump();
      }
      EXPECT_GE(reply["shown"]["finish"], reply["shown"]["bound"]) << question.dump();
    }
  }
}

TEST(Engine, ComparesWithAllThreeTrees) {
  const Json reply = ask(with(machine(16, 6, 2, 4), {{"collective", "broadcast"}}));
  ASSERT_EQ(reply["compare"].size(), 4U);
  for (const Json& row : reply["compare"]) {
    EXPECT_TRUE(row["legal"]) << row.dump();
    EXPECT_GE(row["finish"], reply["claim"]["bound"]);
  }
  EXPECT_EQ(reply["compare"][2]["finish"], 15 * 10);             // a chain pays L + 2o for each hop
  EXPECT_EQ(reply["compare"][3]["finish"], 14 * 4 + 6 + 2 * 2);  // a flat tree pays g for each rank
}

TEST(Engine, EveryCollectiveIsComparedOrSaysWhyNot) {
  for (const Json& more :
       {Json{{"collective", "sum"}, {"operands", 60}}, Json{{"collective", "stream"}, {"k", 9}, {"o", 0}, {"g", 1}},
        Json{{"collective", "allgather"}, {"k", 3}}, Json{{"collective", "alltoall"}, {"k", 2}},
        Json{{"collective", "reduce-scatter"}}, Json{{"collective", "scan"}, {"exclusive", true}}}) {
    const Json question = with(machine(9, 6, 1, 2), more);
    const Json reply = ask(question);
    ASSERT_FALSE(reply.contains("error")) << reply["error"] << question.dump();
    ASSERT_EQ(reply["compare"].size(), 4U) << question.dump();
    for (const Json& row : reply["compare"]) {
      if (row.contains("why")) {
        EXPECT_EQ(more["collective"], "scan") << row.dump();
        continue;
      }
      EXPECT_TRUE(row["legal"]) << question.dump() << row.dump();
      EXPECT_GE(row["finish"], reply["compare"][0]["finish"]) << question.dump() << row.dump();
      const Json drawn = ask(with(question, {{"shape", row["shape"]}}));
      EXPECT_TRUE(drawn["verify"]["legal"]) << question.dump() << row.dump();
    }
  }
}

TEST(Engine, EveryTreeOfAnExchangeIsDrawn) {
  for (const auto& [name, each] :
       {std::pair{"alltoall", "from rank"}, {"reduce-scatter", "item"}, {"scan", "into rank"}}) {
    for (const int of : {0, 4}) {
      const Json reply = ask(with(machine(5, 3, 1, 2), {{"collective", name}, {"of", of}}));
      EXPECT_EQ(reply["trees"], 5) << name;
      EXPECT_EQ(reply["tree_of"], each) << name;
      EXPECT_EQ(reply["pictures"]["tree"].get<std::string>().rfind("<svg", 0), 0U) << name;
    }
  }
}

TEST(Engine, LatenessIsSeen) {
  const Json question = with(machine(8, 6, 2, 4), {{"collective", "broadcast"}, {"late_rank", 0}, {"late_by", 7}});
  const Json reply = ask(question);
  EXPECT_EQ(reply["played"]["planned"], 24);
  EXPECT_EQ(reply["played"]["finish"], 31);
  const Json random = with(machine(8, 6, 2, 4), {{"latency", "uniform"}, {"low", 1}, {"seed", 5}, {"event", true}});
  EXPECT_LT(ask(random)["played"]["finish"], 24);
  EXPECT_EQ(ask(random), ask(random));
}

TEST(Engine, AdversaryIsNeverKinderThanThePlan) {
  const Json reply = ask(with(machine(9, 4, 0, 1), {{"collective", "allgather"}, {"latency", "adversarial"}}));
  ASSERT_TRUE(reply.contains("played")) << reply.dump();
  EXPECT_GE(reply["played"]["finish"], reply["played"]["planned"]);
  EXPECT_FALSE(reply["played"]["note"].get<std::string>().empty());
}

TEST(Engine, LoadedFileIsJudged) {
  const Json good = ask(with(machine(8, 6, 2, 4), {{"collective", "broadcast"}}));
  const std::string text = good["schedule"];
  EXPECT_TRUE(ask({{"do", "load"}, {"name", "b.json"}, {"text", text}})["verify"]["legal"]);

  Json file = Json::parse(text);
  file["sends"][3]["t"] = file["sends"][3]["t"].get<int>() + 1;
  const Json bad = ask({{"do", "load"}, {"name", "b.json"}, {"text", file.dump()}});
  ASSERT_FALSE(bad.contains("error")) << bad.dump();
  EXPECT_FALSE(bad["verify"]["legal"]);
  EXPECT_FALSE(bad["verify"]["violations"].empty());
  EXPECT_FALSE(bad.contains("played"));
}

TEST(Engine, BadQuestionsAreAnsweredInOneLine) {
  const auto error = [](const std::string& question) { return Json::parse(answer(question)).value("error", ""); };
  EXPECT_EQ(error("nonsense"), "the question is no JSON object");
  EXPECT_EQ(error(R"({"do":"sing"})"), "do = sing: use about, plan or load");
  EXPECT_EQ(error(R"({"do":"plan","P":0})"), "P = 0: use a whole number from 1 to 100000");
  EXPECT_EQ(error(R"({"do":"plan","P":8,"L":6,"o":2,"g":4,"root":8})"), "root 8 does not exist: ranks are 0..7");
  EXPECT_EQ(error(R"({"do":"plan","P":2,"L":0,"o":0,"g":1})").find('\n'), std::string::npos);
  EXPECT_NE(error(R"({"do":"plan","P":100000,"k":100000,"L":1})").find("too many"), std::string::npos);
  EXPECT_NE(error(R"({"do":"load","name":"x.json","text":"{\"chasqui\":1"})").find("x.json"), std::string::npos);
  EXPECT_EQ(error(R"({"do":"plan","colour":1})"), "colour: unknown word in the question");
}

Json cluster(std::int64_t N, std::int64_t n) {
  return {{"do", "plan"}, {"N", N}, {"n", n}, {"L", 10}, {"o", 1}, {"g", 4}, {"gamma", 1}, {"publish", 1}, {"read", 1}};
}

TEST(Engine, ClustersAreChartsWithBandsAndBoards) {
  const Json reply = ask(with(cluster(6, 3), {{"collective", "broadcast"}}));
  ASSERT_FALSE(reply.contains("error")) << reply.dump();
  EXPECT_EQ(reply["claim"]["finish"], 20);
  EXPECT_TRUE(reply["claim"]["optimal"]);
  EXPECT_TRUE(reply["verify"]["legal"]);
  EXPECT_EQ(reply["played"]["finish"], 20);
  EXPECT_EQ(reply["shown"]["machine"], "N=6 n=3 L=10 o=1 g=4 gamma=1 publish=1 read=1");
  EXPECT_EQ(reply["shown"]["nodes"], Json({0, 3, 6, 9, 12, 15}));
  EXPECT_EQ(reply["boards"].size(), 18U);
  EXPECT_NE(reply["pictures"]["chart"].get<std::string>().find("cq-band"), std::string::npos);
  EXPECT_FALSE(reply["pictures"].contains("tree"));
  ASSERT_EQ(reply["compare"].size(), 2U);
  EXPECT_EQ(reply["compare"][1]["shape"], "leaders");
  EXPECT_EQ(reply["compare"][1]["finish"], 26);
  EXPECT_TRUE(reply["compare"][1]["legal"]);
  const Json leaders = ask(with(cluster(6, 3), {{"collective", "broadcast"}, {"shape", "leaders"}}));
  EXPECT_EQ(leaders["shown"]["finish"], 26);
  const Json loaded = ask({{"do", "load"}, {"name", "c.json"}, {"text", reply["schedule"]}});
  EXPECT_EQ(loaded["pictures"]["chart"], reply["pictures"]["chart"]);
}

TEST(Engine, AFileSaysWhatToAskForToGetIt) {
  for (const Json& asked :
       {with(machine(9, 6, 2, 4), {{"collective", "broadcast"}, {"root", 3}}),
        with(machine(6, 2, 0, 1), {{"collective", "broadcast"}, {"k", 4}}),
        with(machine(8, 4, 1, 2), {{"collective", "sum"}, {"operands", 40}}),
        with(machine(8, 4, 1, 2), {{"collective", "scan"}, {"exclusive", true}}),
        with(machine(7, 5, 1, 2), {{"collective", "reduce"}, {"root", 2}, {"commutative", false}}),
        with(machine(5, 3, 0, 1), {{"collective", "stream"}}), with(cluster(6, 3), {{"collective", "allreduce"}})}) {
    const Json reply = ask(asked);
    ASSERT_FALSE(reply.contains("error")) << reply.dump();
    Json again = ask({{"do", "load"}, {"name", "s.json"}, {"text", reply["schedule"]}})["form"];
    again["do"] = "plan";
    EXPECT_EQ(ask(again)["schedule"], reply["schedule"]) << again.dump();
  }
  const std::string unequal =
      R"({"chasqui":2,"machine":{"P":3,"L":4,"o":1,"g":2},"nodes":{"sizes":[[1,2],[1,1]],"gamma":1,"publish":1,"read":1},)"
      R"("problem":{"kind":"barrier"},"finish":0,"bound":0,"sends":[],"publications":[],"readings":[]})";
  const Json reply = ask({{"do", "load"}, {"name", "u.json"}, {"text", unequal}});
  ASSERT_FALSE(reply.contains("error")) << reply.dump();
  EXPECT_TRUE(reply["form"].is_null()) << reply["form"].dump();
}

TEST(Engine, ClustersArePlayed) {
  const Json late = ask(with(cluster(6, 3), {{"collective", "broadcast"}, {"late_rank", 0}, {"late_by", 7}}));
  EXPECT_EQ(late["played"]["finish"], 27);
  const Json worst = ask(with(cluster(6, 3), {{"collective", "reduce"}, {"latency", "adversarial"}, {"low", 0}}));
  EXPECT_GT(worst["played"]["finish"], worst["played"]["planned"]);
}

TEST(Engine, QuestionsAboutClustersAreCheckedToo) {
  const auto error = [](const Json& question) { return ask(question).value("error", ""); };
  EXPECT_EQ(error(with(machine(8, 6, 2, 4), {{"gamma", 1}})),
            "gamma, publish and read are for clusters: give N and n, too");
  EXPECT_EQ(error({{"do", "plan"}, {"N", 4}, {"L", 6}}), "a cluster has N nodes of n ranks: give both");
  EXPECT_NE(error(with(cluster(6, 3), {{"read", 99}})).find("read"), std::string::npos);
  EXPECT_EQ(error(cluster(1000, 101)), "N n = 101000: use at most 100000 ranks together");
  EXPECT_EQ(error(with(cluster(6, 3), {{"shape", "chain"}})), "shape chain: on a cluster use plan or leaders");
}

TEST(Engine, LargeMachinesAreSummarised) {
  const Json reply = ask(with(machine(1000, 6, 2, 4), {{"collective", "broadcast"}}));
  ASSERT_FALSE(reply.contains("error")) << reply.dump();
  EXPECT_EQ(reply["messages"].size(), 999U);
  EXPECT_TRUE(reply["verify"]["legal"]);
}

}  // namespace
}  // namespace chasqui::explorer
