// SPDX-License-Identifier: MIT
// Certificates: written, checked, and rejected with the reason once anything in them is changed.
#include "chasqui/solve/certificate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/solve/solve.hpp"
#include "solve/certificate_files.hpp"

namespace chasqui::solve {
namespace {

namespace fs = std::filesystem;

class Certificate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
    folder_ = fs::path(testing::TempDir()) /
              ("chasqui_certificate_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void make(const Instance& instance) {
    const Answer answer = solve(instance);
    ASSERT_EQ(answer.status, Status::optimal) << to_string(instance);
    ASSERT_TRUE(write_certificate(folder_, instance, answer));
    const CertificateReport report = check_certificate(folder_);
    ASSERT_TRUE(report.accepted) << report.reason;
    EXPECT_EQ(report.instance, instance);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(name);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    write(name, text.replace(at, from.size(), to));
  }
  std::string rejection() const {
    const CertificateReport report = check_certificate(folder_);
    EXPECT_FALSE(report.accepted);
    return report.reason;
  }
  void expect_rejected(const std::string& because) const {
    EXPECT_NE(rejection().find(because), std::string::npos) << rejection();
  }

  fs::path folder_;
  const Instance allgather_{.machine = {4, Time{2}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}};
};

TEST_F(Certificate, OfEveryKindIsAccepted) {
  make(allgather_);
  EXPECT_TRUE(fs::exists(folder_ / "bound.drat"));
  make({.machine = {4, Time{1}, Time{2}, Time{2}}, .problem = {.kind = Kind::allreduce}});
  make({.machine = LogP::postal(5, Time{2}), .problem = {.kind = Kind::allreduce, .commutative = false}});
  EXPECT_TRUE(fs::exists(folder_ / "bound.drat"));
  make({.machine = {3, Time{1}, Time{1}, Time{1}}, .problem = {.root = Rank{2}, .items = 3}});
  make({.machine = LogP::postal(6, Time{2}), .problem = {.kind = Kind::stream}, .period = Time{4}});
  make({.machine = LogP::postal(6, Time{2}),
        .problem = {.kind = Kind::stream},
        .period = Time{1}});  // 6 is impossible: proof
  EXPECT_EQ(check_certificate(folder_).evidence, Evidence::search);
  make({.machine = LogP::postal(1, Time{2}), .problem = {}});
}

TEST_F(Certificate, OfTheCountingBoundNeedsNoSolver) {
  make({.machine = LogP::postal(10, Time{4}), .problem = {.items = 2}});
  EXPECT_FALSE(fs::exists(folder_ / "bound.cnf"));
  EXPECT_EQ(check_certificate(folder_).evidence, Evidence::argument);
  replace("certificate.json", "\"finish\": 11", "\"finish\": 12");
  expect_rejected("finishes at 11, not at 12");
}

TEST_F(Certificate, OfTheTrafficIsCountedAgain) {
  make({.machine = {5, Time{1}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}});
  const CertificateReport report = check_certificate(folder_);
  EXPECT_EQ(report.evidence, Evidence::traffic);  // the formula of 17 is too hard for a proof in passing
  EXPECT_FALSE(fs::exists(folder_ / "bound.cnf"));
  EXPECT_FALSE(fs::exists(folder_ / "bound.drat"));
  // A schedule that is one step late cannot pass for an optimum.
  Schedule late = read_schedule(folder_ / "schedule.json");
  for (Send& send : late.sends) send.begin += Time{1};
  late.finish += Time{1};
  write_schedule(folder_ / "schedule.json", late);
  replace("certificate.json", "\"finish\": 18", "\"finish\": 19");
  expect_rejected("the ports alone could finish by 18");
  make({.machine = LogP::postal(6, Time{2}), .problem = {.kind = Kind::stream}, .period = Time{1}});
  replace("certificate.json", "\"proof\"", "\"traffic\"");
  expect_rejected("only an exchange with overhead");
}

TEST_F(Certificate, ATamperedScheduleIsRejected) {
  make(allgather_);
  const std::string schedule = read("schedule.json");
  replace("schedule.json", "{\"t\":0,", "{\"t\":1,");
  expect_rejected("the schedule is illegal: rule");
  write("schedule.json", schedule);
  replace("schedule.json", "\"finish\":14", "\"finish\":13");
  expect_rejected("the schedule is illegal: rule 7");
  write("schedule.json", schedule);
  replace("schedule.json", "\"L\":2", "\"L\":1");
  expect_rejected("another instance");
  fs::remove(folder_ / "schedule.json");
  expect_rejected("schedule.json");
}

TEST_F(Certificate, ATamperedFormulaIsRejected) {
  make(allgather_);
  const std::string formula = read("bound.cnf");
  write("bound.cnf", formula + "1 0\n");
  expect_rejected("not the formula of the instance with one step less");
  write("bound.cnf", formula);
  replace("certificate.json", "\"finish\": 14", "\"finish\": 15");
  expect_rejected("finishes at 14, not at 15");
}

TEST_F(Certificate, WithAKeyTwiceIsBadInput) {
  make(allgather_);
  replace("certificate.json", "\"finish\": 14", "\"finish\": 14,\n \"finish\": 14");
  try {
    check_certificate(folder_);
    ADD_FAILURE() << "a key twice was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the key \"finish\" is there twice"), std::string::npos) << error.what();
  }
}

/// A schedule that idles for long asks for a formula of gigabytes, or for the count of much traffic.
TEST_F(Certificate, AGiantIsRejectedAtOnce) {
  make(allgather_);
  Schedule late = read_schedule(folder_ / "schedule.json");
  for (Send& send : late.sends) send.begin += Time{100'000};
  late.finish += Time{100'000};
  write_schedule(folder_ / "schedule.json", late);
  replace("certificate.json", "\"finish\": 14", "\"finish\": 100014");
  expect_rejected("not the optimum: a plan finishes at 14");
  replace("certificate.json", "\"proof\"", "\"traffic\"");
  expect_rejected("not the optimum: a plan finishes at 14");
}

/// Of a machine with many ticks even the optimum has a formula of gigabytes: it is not made if the file cannot be it.
TEST_F(Certificate, AGiantFormulaIsNotMadeToCompareIt) {
  const Instance slow{.machine = {3, Time{9999}, Time{0}, Time{100}}, .problem = {.items = 3}};
  const std::optional<Schedule> plan = best_plan(slow);
  ASSERT_TRUE(plan);
  fs::create_directories(folder_);
  write_schedule(folder_ / "schedule.json", *plan);
  write("certificate.json", to_json(CertificateText{slow, objective(*plan), Evidence::search}));
  write("bound.cnf", "p cnf 1 1\n1 0\n");
  expect_rejected("the formula of the instance with one step less is longer");
}

TEST_F(Certificate, ATamperedProofIsRejected) {
  make(allgather_);
  const std::string proof = read("bound.drat");
  std::istringstream lines(proof);
  std::vector<std::string> additions;
  for (std::string line; std::getline(lines, line);) {
    if (line[0] != 'd' && line != "0") additions.push_back(line);
  }
  // Without its first half the rest no longer follows.
  std::string rest;
  for (std::size_t n = additions.size() / 2; n < additions.size(); ++n) rest += additions[n] + "\n";
  write("bound.drat", rest + "0\n");
  expect_rejected("does not follow");
  write("bound.drat", proof.substr(0, proof.size() / 2));
  expect_rejected("bound.drat:");
  write("bound.drat", "0\n");
  expect_rejected("the empty clause does not follow");
  fs::remove(folder_ / "bound.drat");
  expect_rejected("bound.drat: cannot be read");
}

TEST_F(Certificate, AnArgumentCannotReplaceAProof) {
  make(allgather_);
  replace("certificate.json", "\"proof\"", "\"argument\"");
  expect_rejected("the bound by argument is");
}

TEST_F(Certificate, OneValueAMessageIsChecked) {
  make({.machine = LogP::postal(5, Time{2}),
        .problem = {.kind = Kind::allreduce, .commutative = false},
        .two_values = true});
  replace("certificate.json", "\"two_values\": true", "\"two_values\": false");
  expect_rejected("a message carries two values");
}

TEST_F(Certificate, SingleSendingIsChecked) {
  const Instance once{.machine = LogP::postal(6, Time{3}), .problem = {.items = 1}, .single_sending = true};
  make(once);
  const Instance any{.machine = LogP::postal(6, Time{3}), .problem = {.items = 1}};
  make(any);
  replace("certificate.json", "\"single_sending\": false", "\"single_sending\": true");
  expect_rejected("the source sends an item twice");
}

TEST_F(Certificate, AFolderWithoutOneIsBadInput) { EXPECT_THROW(check_certificate(folder_), Error); }

TEST_F(Certificate, StoppingLeavesNoCertificate) {
  const Answer answer = solve(allgather_);
  EXPECT_FALSE(write_certificate(folder_, allgather_, answer, [] { return true; }));
  EXPECT_THROW(check_certificate(folder_), Error);
}

}  // namespace
}  // namespace chasqui::solve
