// SPDX-License-Identifier: MIT
// Problems larger than memory: a child process with a limit on its address space sorts several times as much
// data as the limit leaves room for. Without the spill file the same program runs out of memory, so the limit
// is real.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <new>

#include "bsp/virtual/spill_file.hpp"
#include "chasqui/bsp/run.hpp"
#include "chasqui/bsp/variable.hpp"
#include "sanitized.hpp"

namespace chasqui::bsp {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::size_t kRoom = 28 * kMega;
constexpr std::size_t kData = 128 * kMega;
constexpr int kProcessors = 64;

std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Sample sort whose data are registered arrays; throws when the result is not sorted or something is
/// missing.
void sort_program(World& w) {
  const auto p = static_cast<std::size_t>(w.size());
  const std::size_t each = kData / sizeof(std::uint64_t) / p;
  std::uint64_t sum = 0;
  Array<std::uint64_t> data(w, each);
  for (std::size_t i = 0; i < each; ++i) sum += data[i] = scramble(static_cast<std::uint64_t>(w.rank()) * each + i + 1);
  std::sort(data.begin(), data.end());
  for (std::size_t i = 0; i < p; ++i) w.send(0, data[each * i / p]);
  w.sync();
  std::vector<std::uint64_t> splitters;
  if (w.rank() == 0) {
    auto samples = w.received<std::uint64_t>().values();
    std::sort(samples.begin(), samples.end());
    for (std::size_t i = 1; i < p; ++i) splitters.push_back(samples[i * p]);
    for (int to = 0; to < w.size(); ++to) w.send(to, splitters);
  }
  w.sync();
  splitters = w.received<std::uint64_t>().values();
  std::size_t begin = 0;
  for (std::size_t to = 0; to < p; ++to) {
    const auto local = data.local();
    const auto end = to + 1 < p
                         ? static_cast<std::size_t>(std::upper_bound(local.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                     local.end(), splitters[to]) -
                                                    local.begin())
                         : each;
    w.send(static_cast<int>(to), std::span<const std::uint64_t>(local.subspan(begin, end - begin)));
    begin = end;
  }
  data.free();
  w.sync();
  std::size_t count = 0;
  for (const auto& message : w.received<std::uint64_t>()) count += message.values.size();
  Array<std::uint64_t> sorted(w, count);
  auto place = sorted.begin();
  for (const auto& message : w.received<std::uint64_t>())
    place = std::copy(message.values.begin(), message.values.end(), place);
  std::sort(sorted.begin(), sorted.end());
  std::uint64_t sum_after = 0;
  for (const std::uint64_t value : sorted) sum_after += value;
  if (w.rank() + 1 < w.size()) w.send(w.rank() + 1, count > 0 ? sorted[count - 1] : 0);
  w.sync();
  for (const auto& last : w.received<std::uint64_t>()) {
    if (count > 0 && last.value() > sorted[0]) throw std::runtime_error("not sorted across processors");
  }
  if (w.allreduce(sum, std::plus<>{}) != w.allreduce(sum_after, std::plus<>{}))
    throw std::runtime_error("a value is missing");
  if (w.allreduce(count, std::plus<>{}) != each * p) throw std::runtime_error("the count is wrong");
  if (!std::is_sorted(sorted.begin(), sorted.end())) throw std::runtime_error("not sorted");
}

/// Exit status of a child that runs the sort with kRoom bytes of address space to spare.
int sort_in_a_small_process(const std::string& spill) {
  const pid_t child = fork();
  if (child == 0) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + kRoom;
    const rlimit room{limit, limit};
    setrlimit(RLIMIT_AS, &room);
    try {
      run(kProcessors, sort_program, {.engine = Engine::virtual_processors, .carriers = 1, .spill = spill});
    } catch (const std::bad_alloc&) {
      _exit(3);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Spill, SortsSeveralTimesMoreThanItsMemory) {
  if (kSanitized) GTEST_SKIP() << "no address space limit under a sanitizer";
  EXPECT_EQ(sort_in_a_small_process("."), 0);
}

TEST(Spill, WithoutTheFileTheSameLimitIsTooSmall) {
  if (kSanitized) GTEST_SKIP() << "no address space limit under a sanitizer";
  EXPECT_EQ(sort_in_a_small_process(""), 3);
}

TEST(Spill, ADirectoryThatIsNotThereIsNamed) {
  try {
    run(2, [](World&) {}, {.spill = "/nonexistent/place"});
    FAIL();
  } catch (const MachineError& error) {
    EXPECT_EQ(error.fault(), Fault::resources);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/place"), std::string::npos) << error.what();
  }
}

TEST(Spill, ExtentsAreReused) {
  detail::SpillFile file(".");
  const auto a = file.allocate(10000), b = file.allocate(20000), c = file.allocate(5000);
  EXPECT_EQ(a % 4096, 0u);
  const std::uint64_t size = file.size();
  file.release(a, 10000);
  file.release(b, 20000);
  EXPECT_EQ(file.allocate(30000), a);  // the two holes are one
  EXPECT_EQ(file.size(), size);
  std::byte text[3] = {std::byte{1}, std::byte{2}, std::byte{3}}, back[3];
  file.write(c, text);
  file.read(c, back);
  EXPECT_TRUE(std::equal(text, text + 3, back));
}

}  // namespace
}  // namespace chasqui::bsp
