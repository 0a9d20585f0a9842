// SPDX-License-Identifier: MIT
// MSCCL programs: written by hand and by our exporter, right and wrong.
#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/translate/translate.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::translate {
namespace {

const Machine kMachine{Time{6}, Time{2}, Time{4}};

std::string file(const std::string& name) {
  return read_file(std::string(CHASQUI_SOURCE_DIR) + "/tests/translate/" + name, "it belongs to the test");
}

/// A ring all-reduce of P chunks on P GPUs, written step by step as MSCCL's users do.
std::string ring(int P, bool broken = false) {
  std::string text = fmt::format(
      R"(<algo name="ring" proto="Simple" nchannels="1" nchunksperloop="{0}" ngpus="{0}" coll="allreduce" inplace="1">)",
      P);
  for (int r = 0; r < P; ++r) {
    text +=
        fmt::format(R"(<gpu id="{}" i_chunks="{}" o_chunks="{}" s_chunks="0"><tb id="0" send="{}" recv="{}" chan="0">)",
                    r, P, P, (r + 1) % P, (r + P - 1) % P);
    int s = 0;
    const auto step = [&](const char* type, int chunk) {
      text += fmt::format(
          R"(<step s="{}" type="{}" srcbuf="i" srcoff="{}" dstbuf="i" dstoff="{}" cnt="1" depid="-1" deps="-1" hasdep="0"/>)",
          s++, type, chunk, chunk);
    };
    const auto chunk = [&](int back) { return ((r - back) % P + P) % P; };
    step("s", chunk(0));
    for (int i = 1; i < P - 1; ++i) step("rrcs", chunk(i));
    step(broken && r == 1 ? "rcs" : "rrcs", chunk(P - 1));
    for (int i = 0; i < P - 2; ++i) step("rcs", chunk(i));
    step("r", chunk(P - 2));
    text += "</tb></gpu>";
  }
  return text + "</algo>";
}

TEST(Msccl, ARingIsFollowed) {
  for (int P = 2; P <= 9; ++P) {
    const Imported imported = from_msccl(ring(P), "ring.xml", kMachine);
    EXPECT_TRUE(imported.faults.empty()) << P << ' ' << imported.faults.front();
    const Report report = verify(imported.schedule);
    EXPECT_TRUE(report.legal()) << P << '\n' << to_string(report);
    EXPECT_EQ(imported.schedule.sends.size(), static_cast<std::size_t>(2 * P * (P - 1)));
    EXPECT_EQ(imported.schedule.finish, Time{2 * (P - 1) * 10}) << P;  // every hop takes L + 2o
  }
}

/// One rank passes on what it got instead of adding its own: the messages are the same, the data are not.
TEST(Msccl, AWrongRingIsSeen) {
  const Imported imported = from_msccl(ring(4, true), "ring.xml", kMachine);
  EXPECT_FALSE(imported.faults.empty());
  EXPECT_EQ(imported.schedule.sends.size(), 24U);
}

TEST(Msccl, WhatWeWriteComesBack) {
  int written = 0;
  for (const Kind kind :
       {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::allgather, Kind::reduce_scatter, Kind::alltoall}) {
    for (const std::int64_t P : {2, 3, 4, 7, 8}) {
      for (const std::int64_t items : {std::int64_t{1}, std::int64_t{2}, P}) {
        for (const LogP& machine : {LogP{P, Time{6}, Time{2}, Time{4}}, LogP::postal(P, Time{3})}) {
          const Problem problem{.kind = kind, .items = items};
          const Schedule plan = plan::make_plan({.machine = machine, .problem = problem})->schedule();
          std::string text;
          try {
            text = to_msccl(plan, "plan");
          } catch (const Error& error) {
            // Windows without the sender's own value, and more steps than a thread block has.
            const std::string what = error.what();
            ASSERT_TRUE(what.find("less than it has") != std::string::npos ||
                        what.find("thread blocks") != std::string::npos)
                << what;
            continue;
          }
          ++written;
          const Imported back = from_msccl(text, "plan.xml", {machine.L, machine.o, machine.g});
          ASSERT_TRUE(back.faults.empty())
              << to_string(kind) << ' ' << to_string(machine) << ' ' << back.faults.front();
          const Report report = verify(back.schedule);
          ASSERT_TRUE(report.legal()) << to_string(kind) << ' ' << to_string(machine) << ' ' << items << '\n'
                                      << to_string(report);
          ASSERT_EQ(back.schedule.sends.size(), plan.sends.size());
          ASSERT_EQ(back.schedule.problem, plan.problem);
          EXPECT_GE(back.schedule.finish, plan.bound);
          if (kind == Kind::broadcast && items == 1) {  // plans of several items pause, which the format cannot say
            EXPECT_LE(back.schedule.finish, plan.finish) << to_string(machine) << ' ' << items;
          }
        }
      }
    }
  }
  EXPECT_GT(written, 100);
}

TEST(Msccl, AllPairsThroughScratchMemory) {
  const Imported imported = from_msccl(file("all_pairs.xml"), "all_pairs.xml", kMachine);
  EXPECT_TRUE(imported.faults.empty()) << imported.faults.front();
  EXPECT_EQ(imported.schedule.problem.items, 1);
  EXPECT_TRUE(verify(imported.schedule).legal()) << to_string(verify(imported.schedule));
}

void expect_refused(std::string text, const std::string& from, const std::string& to, const char* part) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    from_msccl(text, "x.xml", kMachine);
    ADD_FAILURE() << from << " -> " << to;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Msccl, FaultsHaveTheirPlace) {
  const std::string good = ring(3);
  expect_refused(good, "<algo", "<algae", "line 1");
  expect_refused(good, "allreduce", "allrejoice", "coll=\"allrejoice\"");
  expect_refused(good, "ngpus=\"3\"", "ngpus=\"4\"", "gpu 3 of 4 is missing");
  expect_refused(good, "ngpus=\"3\"", "ngpus=\"99999999\"", "use a number from 1");
  expect_refused(good, "type=\"rrcs\"", "type=\"rrcz\"", "type=\"rrcz\"");
  expect_refused(good, "srcoff=\"0\"", "srcoff=\"3\"", "the buffer i has 3");
  expect_refused(good, "srcbuf=\"i\"", "srcbuf=\"q\"", "use i, o or s");
  expect_refused(good, "send=\"1\"", "send=\"-1\"", "send=\"-1\"");
  expect_refused(good, "send=\"1\"", "send=\"2\"", "chunks are sent and");
  expect_refused(good, "depid=\"-1\" deps=\"-1\"", "depid=\"7\" deps=\"0\"", "does not exist");
  expect_refused(good, "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"4\"", "waits for itself");
  expect_refused(good, "id=\"1\" i_chunks=\"3\"", "id=\"1\" i_chunks=\"4\"", "different sizes");
  EXPECT_THROW(from_msccl("", "x", kMachine), Error);
  EXPECT_THROW(from_msccl(good, "x", {Time{-1}}), Error);
}

}  // namespace
}  // namespace chasqui::translate
