// SPDX-License-Identifier: MIT
// Every command in tests/cli/*.transcript, in README.md and in the pages of docs does what is written there.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "cli/transcript.hpp"

namespace chasqui::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> transcripts() {
  const fs::path root = CHASQUI_SOURCE_DIR;
  std::vector<fs::path> files = {root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(root / "tests" / "cli")) {
    if (entry.path().extension() == ".transcript") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Code points, as a terminal counts them (the tool prints nothing wider than a column).
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Output that programs read: JSON, CSV, traces, roff, shell scripts; and what is not ours.
bool is_for_people(const Step& step, const Outcome& outcome) {
  if (outcome.status > 1) return false;  // an error is one line, however long
  for (const char* word : {"--json", "--format", "chasqui man", "chasqui completion", "cat ", "--out -", "| tr "}) {
    if (step.command.find(word) != std::string::npos) return false;
  }
  return step.command.find("chasqui") != std::string::npos;
}

class Transcripts : public testing::TestWithParam<fs::path> {};

TEST_P(Transcripts, SayWhatHappens) {
  const std::vector<Step> steps = read_transcript(GetParam());
  const fs::path directory =
      fs::path(testing::TempDir()) / fmt::format("chasqui-{}-{}", GetParam().stem().string(), getpid());
  fs::remove_all(directory);
  fs::create_directories(directory);
  for (const char* name : {"data", "docs"})
    fs::create_directory_symlink(fs::path(CHASQUI_SOURCE_DIR) / name, directory / name);
  std::vector<Outcome> outcomes;
  for (const Step& step : steps) {
    outcomes.push_back(run_step(step, directory));
    const Outcome& outcome = outcomes.back();
    if (std::getenv("CHASQUI_UPDATE") != nullptr) continue;
    const std::string place = fmt::format("{}:{}: $ {}", GetParam().string(), step.line, step.command);
    EXPECT_TRUE(matches(step.expected, outcome.lines))
        << place << "\nexpected:\n"
        << fmt::format("{}", fmt::join(step.expected, "\n")) << "\nprinted:\n"
        << fmt::format("{}", fmt::join(outcome.lines, "\n"));
    EXPECT_EQ(outcome.status, step.status) << place;
    if (!is_for_people(step, outcome)) continue;
    for (const std::string& line : outcome.lines) EXPECT_LE(columns(line), 80u) << place << "\ntoo wide: " << line;
  }
  if (std::getenv("CHASQUI_UPDATE") != nullptr && GetParam().extension() == ".transcript") {
    const std::string text = rewritten(GetParam(), steps, outcomes);
    std::ofstream(GetParam()) << text;
  }
  fs::remove_all(directory);
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  // docs/bsp.md, docs/laboratory/bsp.md and bsp.transcript all exist.
  const fs::path page = fs::relative(info.param, fs::path(CHASQUI_SOURCE_DIR) / "docs");
  if (*page.begin() != "..") name = fs::path(page).replace_extension().string() + "_page";
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Transcripts, testing::ValuesIn(transcripts()), test_name);

TEST(Readme, ShowsTheExamples) {
  const fs::path root = CHASQUI_SOURCE_DIR;
  std::ifstream readme(root / "README.md");
  const std::string page(std::istreambuf_iterator<char>(readme), {});
  for (const std::string name : {"hello.cpp", "allreduce.cpp"}) {
    std::ifstream example(root / "examples" / name);
    std::string code(std::istreambuf_iterator<char>(example), {});
    code.erase(0, code.find("#include"));
    ASSERT_GT(code.size(), 100u);
    EXPECT_NE(page.find("```cpp\n" + code + "```"), std::string::npos)
        << "README.md and examples/" << name << " differ";
  }
}

// The runner itself: a test that cannot fail is a defect.
TEST(Transcript, ReadsCommandsOutputAndStatus) {
  const fs::path file = fs::path(testing::TempDir()) / "sample.transcript";
  std::ofstream(file) << "# words\n$ echo a; echo b; exit 3\na\nb\n[exit 3]\n\n$ true\n";
  const std::vector<Step> steps = read_transcript(file);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].expected, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(steps[0].status, 3);
  const Outcome outcome = run_step(steps[0], testing::TempDir());
  EXPECT_EQ(outcome.lines, steps[0].expected);
  EXPECT_EQ(outcome.status, 3);
}

TEST(Transcript, DifferentOutputDoesNotMatch) {
  EXPECT_TRUE(matches({"a", "...", "d"}, {"a", "b", "c", "d"}));
  EXPECT_FALSE(matches({"a", "...", "e"}, {"a", "b", "c", "d"}));
  EXPECT_TRUE(matches({"one of ...; see"}, {"one of x, y; see"}));
  EXPECT_FALSE(matches({"one of ...; see"}, {"one of x, y; look"}));
  EXPECT_FALSE(matches({"a"}, {"a", "b"}));
  EXPECT_FALSE(matches({"a", "b"}, {"a"}));
}

}  // namespace
}  // namespace chasqui::test

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  const char* path = std::getenv("PATH");
  setenv("PATH", fmt::format("{}/bin:{}", CHASQUI_BINARY_DIR, path == nullptr ? "" : path).c_str(), 1);
  setenv("LC_ALL", "C.UTF-8", 1);
  unsetenv("NO_COLOR");
  // Open MPI as it must be asked on a small machine, as root, beside other tests.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"}) {
    setenv(name, "1", 1);
  }
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  return RUN_ALL_TESTS();
}
