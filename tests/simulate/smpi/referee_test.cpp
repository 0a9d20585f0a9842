// SPDX-License-Identifier: MIT
// A referee no one here wrote: SimGrid's SMPI runs our schedules as MPI programs in simulated time, with parameters that
// make it a LogP machine whose gap is its overhead. Its finish must be ours, within kTolerance.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/simulate/simulate.hpp"

namespace chasqui::simulate {
namespace {

constexpr double kTolerance = 1e-6;  // relative
constexpr double kTick = 1e-4;       // seconds

struct Operation {
  Time time;
  std::string line;
  bool operator<(const Operation& other) const { return time < other.time; }
};

/// What every rank does in planned order; receptions count from the moment their overhead begins.
void write_program(const Schedule& schedule, const std::filesystem::path& path) {
  std::vector<Operation> operations;
  for (std::size_t m = 0; m < schedule.sends.size(); ++m) {
    const Send& send = schedule.sends[m];
    operations.push_back(
        {reception_begin(schedule.machine, send), fmt::format("{} recv {} {}\n", send.to.index, send.from.index, m)});
    operations.push_back({send.begin, fmt::format("{} send {} {}\n", send.from.index, send.to.index, m)});
  }
  std::stable_sort(operations.begin(), operations.end());
  std::ofstream file(path);
  for (const Operation& operation : operations) file << operation.line;
}

double referee(const Schedule& schedule) {
  const LogP& machine = schedule.machine;
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("chasqui-smpi-{}", getpid());
  std::filesystem::create_directories(directory);
  write_program(schedule, directory / "program.txt");
  std::ofstream(directory / "platform.xml") << fmt::format(
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
      "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-{}\" speed=\"1Gf\" bw=\"1000TBps\" lat=\"{:.9f}s\"/>\n"
      "</platform>\n",
      machine.P - 1, static_cast<double>(machine.L.ticks) * kTick / 2);
  std::ofstream hosts(directory / "hosts");
  for (std::int64_t r = 0; r < machine.P; ++r) hosts << "n" << r << "\n";
  hosts.close();
  const double o = static_cast<double>(machine.o.ticks) * kTick;
  std::string command = fmt::format(
      "cd {} && smpirun -no-privatize -np {} -platform platform.xml -hostfile hosts"
      " --cfg=network/model:CM02 --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1"
      " --cfg=network/weight-S:0 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:1e15 --cfg=surf/precision:1e-12"
      " --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=smpi/test:0 --cfg=smpi/iprobe:0"
      " --cfg=smpi/host-speed:1f --cfg=smpi/os:0:{:.9f}:0 --cfg=smpi/ois:0:{:.9f}:0 --cfg=smpi/or:0:{:.9f}:0"
      " --cfg=smpi/async-small-thresh:65536 --cfg=smpi/send-is-detached-thresh:65536"
      " --cfg=contexts/stack-size:256 --cfg=contexts/guard-size:0 {} program.txt 2>err.txt",
      directory.string(), machine.P, o, o, o, CHASQUI_SMPI_PLAYER);
  std::FILE* pipe = popen(command.c_str(), "r");
  double finish = -1;
  std::array<char, 256> line{};
  while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe) != nullptr) {
    std::sscanf(line.data(), "finish %lf", &finish);
  }
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  EXPECT_EQ(status, 0) << command;
  std::filesystem::remove_all(directory);
  return finish;
}

void expect_agreement(const plan::Plan& plan) {
  const Schedule schedule = plan.schedule();
  const Trace ours =
      simulate(schedule, exactly_L(plan.machine()), {.mode = Mode::event_driven, .order = {}, .stragglers = {}});
  const double expected = static_cast<double>(ours.finish.ticks) * kTick;
  EXPECT_NEAR(referee(schedule), expected, kTolerance * expected)
      << to_string(plan.problem().kind) << " " << to_string(plan.machine());
}

TEST(SmpiReferee, TreesFinishWhenWeSay) {
  for (const std::int64_t P : {2, 7, 16, 33}) {
    const LogP machine{P, Time{60}, Time{7}, Time{7}};
    expect_agreement(*plan::broadcast(machine));
    expect_agreement(*plan::reduce(machine, Rank{1}));
    expect_agreement(*plan::scatter(machine));
    expect_agreement(*plan::gather(machine));
  }
}

TEST(SmpiReferee, AllReduceFinishesWhenWeSay) {
  for (const std::int64_t P : {2, 5, 8, 12}) expect_agreement(*plan::allreduce({P, Time{60}, Time{7}, Time{7}}, true));
}

}  // namespace
}  // namespace chasqui::simulate
