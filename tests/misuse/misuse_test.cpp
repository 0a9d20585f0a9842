// SPDX-License-Identifier: MIT
// Bad inputs, one a file, with what the reader or the verifier must say about it: NAME.json and
// NAME.expected. ruleN-*.json breaks rule N and no other; bad-*.json is refused by the reader;
// *.buffered.json is checked under the buffered rules. CHASQUI_WRITE_EXPECTED=1 rewrites the expectations;
// read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(CHASQUI_SOURCE_DIR) / "tests" / "misuse";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") all.push_back(entry.path().stem().string());
  }
  std::sort(all.begin(), all.end());
  return all;
}

VerifyOptions options_for(const std::string& name) {
  VerifyOptions options;
  if (name.ends_with(".buffered")) options.receptions = Receptions::buffered;
  return options;
}

class Misuse : public testing::TestWithParam<std::string> {};

TEST_P(Misuse, SaysWhatIsWrong) {
  const std::string& name = GetParam();
  std::string said;
  try {
    const Schedule schedule = schedule_from_json(text_of(kFolder / (name + ".json")), name + ".json");
    const Report report = verify(schedule, options_for(name));
    said = to_string(report);
    EXPECT_EQ(report.legal(), name.starts_with("legal-"));
    for (const Violation& violation : report.violations) {
      EXPECT_TRUE(name.starts_with("rule" + std::to_string(violation.rule) + "-")) << "breaks another rule too\n"
                                                                                   << said;
    }
    EXPECT_FALSE(name.starts_with("bad-")) << "the reader let it pass";
  } catch (const Error& error) {
    said = std::string("error: ") + error.what() + "\n";
    EXPECT_TRUE(name.starts_with("bad-")) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
  const fs::path expected = kFolder / (name + ".expected");
  if (std::getenv("CHASQUI_WRITE_EXPECTED") != nullptr) std::ofstream(expected, std::ios::binary) << said;
  EXPECT_EQ(said, text_of(expected));
}

INSTANTIATE_TEST_SUITE_P(Files, Misuse, testing::ValuesIn(names()), [](const auto& file) {
  std::string name = file.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(MisuseCorpus, HasAFileForEveryRule) {
  const auto all = names();
  for (int rule = 1; rule <= 9; ++rule) {
    const std::string prefix = "rule" + std::to_string(rule) + "-";
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const std::string& n) { return n.starts_with(prefix); }))
        << rule;
  }
}

}  // namespace
}  // namespace chasqui
