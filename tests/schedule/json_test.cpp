// SPDX-License-Identifier: MIT
#include "chasqui/schedule/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <fstream>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

const char* const kBroadcast =
    "{\"chasqui\":1,\n\"machine\":{\"P\":3,\"L\":6,\"o\":2,\"g\":4},\n"
    "\"problem\":{\"kind\":\"broadcast\",\"root\":0,\"items\":1},\n\"finish\":14,\"bound\":14,\n\"sends\":[\n"
    "{\"t\":0,\"from\":0,\"to\":1,\"item\":0},\n{\"t\":4,\"from\":0,\"to\":2,\"item\":0}]}\n";

Schedule broadcast_of_three() {
  Schedule s;
  s.machine = {3, Time{6}, Time{2}, Time{4}};
  s.finish = s.bound = Time{14};
  s.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{4}, Rank{0}, Rank{2}, 0)};
  return s;
}

std::string complaint(std::string text, std::string_view what = "", std::string_view with = "") {
  if (!what.empty()) text.replace(text.find(what), what.size(), with);
  try {
    schedule_from_json(text, "f.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ScheduleJson, IsTheTextOfTheDocumentation) { EXPECT_EQ(to_json(broadcast_of_three()), kBroadcast); }

TEST(ScheduleJson, ReadsWhatItWrites) { EXPECT_EQ(schedule_from_json(kBroadcast, "f"), broadcast_of_three()); }

TEST(ScheduleJson, VersionTwoHasNodesAndTheirBoards) {
  const std::string text =
      "{\"chasqui\":2,\n\"machine\":{\"P\":3,\"L\":6,\"o\":2,\"g\":4},\n"
      "\"nodes\":{\"sizes\":[[1,2],[1,1]],\"gamma\":1,\"publish\":2,\"read\":1},\n"
      "\"problem\":{\"kind\":\"broadcast\",\"root\":0,\"items\":1},\n\"finish\":10,\"bound\":10,\n\"sends\":[\n"
      "{\"t\":0,\"from\":0,\"to\":2,\"item\":0}],\n"
      "\"publications\":[\n{\"t\":2,\"rank\":0,\"item\":0}],\n"
      "\"readings\":[\n{\"t\":4,\"rank\":1,\"from\":0,\"item\":0}]}\n";
  const Schedule s = schedule_from_json(text, "f");
  EXPECT_EQ(s.nodes.count(), 2);
  EXPECT_EQ(s.nodes.read, Time{1});
  EXPECT_EQ(s.readings, (std::vector<Reading>{{Time{4}, Rank{1}, Rank{0}, {0, 1}}}));
  EXPECT_EQ(to_json(s), text);
  EXPECT_EQ(actual_finish(s), Time{10});
}

TEST(ScheduleJson, WritesInCanonicalOrder) {
  Schedule s = broadcast_of_three();
  std::swap(s.sends[0], s.sends[1]);
  EXPECT_EQ(to_json(s), kBroadcast);
}

TEST(ScheduleJson, ComplaintsNameThePlaceAndTheRemedy) {
  EXPECT_EQ(complaint(kBroadcast, "\"t\":4", "\"t\":4.5"), "f.json: sends[1].t: expected an integer, not 4.5");
  EXPECT_EQ(complaint(kBroadcast, "\"to\":2", "\"to\":2,\"to\":3"),
            "f.json: sends[1]: \"to\" is there twice: remove one");
  EXPECT_EQ(complaint(kBroadcast, "\"to\":2,", ""), "f.json: sends[1]: \"to\" is missing: add it");
  EXPECT_EQ(complaint(kBroadcast, "\"L\":6", "\"L\":6,\"l\":7"),
            "f.json: machine: unknown key \"l\": the keys here are \"P\", \"L\", \"o\", \"g\"");
  EXPECT_EQ(complaint(kBroadcast, "\"P\":3", "\"P\":0"), "f.json: machine: P=0 is too small: it must be at least 1");
  EXPECT_EQ(complaint(kBroadcast, "\"root\":0", "\"root\":3"),
            "f.json: problem: root=3 does not exist: ranks are 0..2");
  EXPECT_EQ(complaint(kBroadcast, "\"chasqui\":1", "\"chasqui\":3"),
            "f.json: chasqui: version 3 is unknown: this program reads versions 1 and 2");
  EXPECT_EQ(complaint(kBroadcast, "\"item\":0", "\"lo\":0"),
            "f.json: sends[0]: say what it carries by exactly one of \"item\", \"lo\" with \"len\", and \"parts\"");
  EXPECT_EQ(complaint(kBroadcast, "broadcast", "reduce"),
            "f.json: sends[0]: a reduce carries \"lo\" and \"len\": write them instead of \"item\"");
  EXPECT_EQ(complaint(kBroadcast, "\"from\":0", "\"from\":3000000000"),
            "f.json: sends[0].from: 3000000000 is out of range: use a number of at most 2147483647");
  EXPECT_EQ(complaint(kBroadcast, "\"t\":0", "\"t\":99999999999999999999"),
            "f.json: sends[0].t: 99999999999999999999 is out of range: use a number of at most "
            "4000000000000000000");
  EXPECT_EQ(complaint(kBroadcast, "\"finish\":14", "\"finish\":[14]"),
            "f.json: finish: expected an integer, not an array");
  EXPECT_EQ(complaint(kBroadcast, "\"sends\"", "\"period\":1,\"sends\""),
            "f.json: period: only a stream has it: remove it");
  EXPECT_EQ(complaint("[1]"),
            "f.json: expected an object {\"chasqui\":1, ...}, not an array: is this a schedule file?");
}

TEST(ScheduleJson, BrokenTextIsOneLine) {
  for (const std::string& text : {std::string(""), std::string("{"), std::string(kBroadcast) + "x",
                                  std::string("\0\xff", 2), std::string(100'000, '['), std::string(kBroadcast, 90)}) {
    const std::string message = complaint(text);
    EXPECT_EQ(message.rfind("f.json: ", 0), 0U) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

RC_GTEST_PROP(ScheduleJson, EverySchedulePassesThroughItsFile, ()) {
  const auto small = [](int lo, int hi) { return *rc::gen::inRange(lo, hi); };
  Schedule s;
  s.machine = {small(1, 9), Time{small(1, 9)}, Time{small(0, 4)}, Time{small(1, 6)}};
  s.problem = {static_cast<Kind>(small(0, 10)), Rank{small(0, static_cast<int>(s.machine.P))}, small(1, 5),
               small(0, 2) == 0, small(0, 2) == 0};
  s.finish = Time{small(-5, 1000)};
  s.bound = Time{small(-5, 1000)};
  const bool combining = !names_items(s.problem);
  for (int n = small(0, 20); n > 0; --n) {
    Send send{
        Time{small(-3, 50)}, Rank{small(-2, 12)}, Rank{small(-2, 12)}, {small(-2, 12), combining ? small(-1, 12) : 1}};
    if (combining && small(0, 3) == 0) send.second = {small(-2, 12), small(1, 12)};
    s.sends.push_back(send);
  }
  if (s.problem.kind == Kind::sum) {
    s.operands.assign(static_cast<std::size_t>(s.machine.P), small(0, 5));
    for (int n = small(0, 9); n > 0; --n)
      s.adds.push_back({Time{small(0, 9)}, Rank{small(0, 9)}, Rank{small(0, 9)}, small(0, 9)});
  }
  if (s.problem.kind == Kind::stream) s.period = Time{small(0, 9)}, s.delay = Time{small(0, 9)};
  if (small(0, 2) == 0) {
    for (std::int64_t left = s.machine.P; left > 0;) {
      const std::int64_t size = small(1, static_cast<int>(left) + 1);
      s.nodes.add(size);
      left -= size;
    }
    s.nodes.gamma = Time{small(0, 2)};
    s.nodes.publish = Time{small(0, 2)};
    for (int n = small(0, 9); n > 0; --n) {
      const Part part{small(-2, 12), combining ? small(-1, 12) : 1};
      const Part second = combining && small(0, 3) == 0 ? Part{small(-2, 12), small(1, 12)} : Part{};
      s.publications.push_back({Time{small(-3, 50)}, Rank{small(-2, 12)}, part, second});
      s.readings.push_back({Time{small(-3, 50)}, Rank{small(-2, 12)}, Rank{small(-2, 12)}, part, second});
    }
  }
  normalise(s);
  RC_ASSERT(schedule_from_json(to_json(s), "f") == s);
}

RC_GTEST_PROP(ScheduleJson, AnyDamageIsAnErrorOrASchedule, ()) {
  std::string text = kBroadcast;
  for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    if (*rc::gen::inRange(0, 2) == 0) text[at] = *rc::gen::element('0', '9', '"', ',', '{', '}', '[', ']', '-', 'e');
    else text.erase(at, *rc::gen::inRange<std::size_t>(1, 6));
  }
  try {
    const Schedule s = schedule_from_json(text, "f");
    RC_ASSERT(schedule_from_json(to_json(s), "g").sends.size() == s.sends.size());
  } catch (const Error& error) {
    RC_ASSERT(std::string_view(error.what()).substr(0, 3) == "f: ");
    RC_ASSERT(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

class ScheduleFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / ("chasqui-" + std::to_string(::getpid()));
};

TEST_F(ScheduleFile, RoundTripLeavesNothingElseBehind) {
  write_schedule(folder_ / "a.json", broadcast_of_three());
  write_schedule(folder_ / "a.json", broadcast_of_three());
  EXPECT_EQ(read_schedule(folder_ / "a.json"), broadcast_of_three());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(ScheduleFile, LinksThatLieInWaitAreNotWrittenThrough) {
  const std::filesystem::path victim = folder_ / "victim";
  std::ofstream(victim) << "mine";
  std::filesystem::create_symlink(victim, folder_ / ("a.json." + std::to_string(getpid()) + ".part"));
  write_schedule(folder_ / "a.json", broadcast_of_three());
  EXPECT_FALSE(std::filesystem::is_symlink(folder_ / "a.json"));
  EXPECT_EQ(read_schedule(folder_ / "a.json"), broadcast_of_three());
  std::string text;
  std::ifstream(victim) >> text;
  EXPECT_EQ(text, "mine");
}

TEST_F(ScheduleFile, FailuresNameTheFile) {
  const std::string missing = (folder_ / "none.json").string();
  try {
    read_schedule(missing);
    FAIL() << "read a file that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), missing + ": cannot be read (No such file or directory): give the name of a schedule file");
  }
  EXPECT_THROW(read_schedule(folder_), Error);
  EXPECT_THROW(write_schedule(folder_ / "no" / "such" / "folder.json", broadcast_of_three()), Error);
  EXPECT_THROW(write_schedule("/dev/full", broadcast_of_three()), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace chasqui
