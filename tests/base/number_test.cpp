// SPDX-License-Identifier: MIT
#include "base/number.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace chasqui {
namespace {

TEST(Number, IsTheWholeText) {
  EXPECT_EQ(number_from("0.25"), 0.25);
  EXPECT_EQ(number_from("-1e3"), -1000);
  EXPECT_EQ(number_from("+7"), 7);
  for (const char* none : {"", "soon", "1s", "1 ", "1,5", "+-1", "1e999"}) EXPECT_EQ(number_from(none), std::nullopt);
}

/// Whether the C library now writes and reads 0,5: a locale that only has this is made in the folder.
bool takes_commas(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "source")
      << "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
  const std::string make = "localedef -c -i '" + (folder / "source").string() + "' -f UTF-8 '" +
                           (folder / "comma").string() + "' > /dev/null 2>&1";
  if (std::system(make.c_str()) < 0) return false;
  setenv("LOCPATH", folder.c_str(), 1);
  return std::setlocale(LC_NUMERIC, "comma") != nullptr && std::strtod("0.5", nullptr) == 0;
}

TEST(Number, HasAPointInEveryLocale) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("number_" + std::to_string(getpid()));
  const bool commas = takes_commas(folder);
  const auto read = number_from("0.5");
  std::setlocale(LC_NUMERIC, "C");
  unsetenv("LOCPATH");
  std::filesystem::remove_all(folder);
  if (!commas) GTEST_SKIP() << "no locale could be made here";
  EXPECT_EQ(read, 0.5);
}

}  // namespace
}  // namespace chasqui
