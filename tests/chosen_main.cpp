// SPDX-License-Identifier: MIT
// The tests of a folder in one program: runs those that stand in the files it is given, `tests_of_plan kitem_test.cpp`; all without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

/// The tests of these files, as GoogleTest's filter names them.
std::string tests_in(const std::vector<std::string>& files) {
  std::string names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      const std::string place = test.file();
      const auto here = [&](const std::string& file) { return place.ends_with("/" + file); };
      if (!std::any_of(files.begin(), files.end(), here)) continue;
      names += names.empty() ? "" : ":";
      names += std::string(suite.name()) + "." + test.name();
    }
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::vector<std::string> files(argv + 1, argv + argc);
  if (!files.empty() && testing::GTEST_FLAG(filter) == "*") {
    testing::GTEST_FLAG(filter) = tests_in(files);
    if (testing::GTEST_FLAG(filter).empty()) {
      std::fprintf(stderr, "no test stands in %s\n", files.front().c_str());
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
