// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/help.hpp"
#include "cli/frame/nearest.hpp"

namespace chasqui::cli {
namespace {

TEST(ParseInteger, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_integer("0", "-P"), 0);
  EXPECT_EQ(parse_integer("-5", "-P"), -5);
  EXPECT_EQ(parse_integer("1_000", "-P"), 1000);
  EXPECT_EQ(parse_integer("5e6", "-P"), 5'000'000);
  EXPECT_EQ(parse_integer("10^9", "-P"), 1'000'000'000);
  EXPECT_EQ(parse_integer("2^10", "-P"), 1024);
  EXPECT_EQ(parse_integer("9223372036854775807", "-P"), 9223372036854775807);
}

TEST(ParseInteger, RefusesTheRest) {
  for (const char* text :
       {"", "x", "1.5", "1e", "e6", "10^", "^2", "1e99", "9223372036854775808", "2^64", "1 000", "0x10"}) {
    EXPECT_THROW(parse_integer(text, "-P"), Error) << text;
  }
}

class Sample final : public Command {
 public:
  Sample() : Command("sample", "a sample") {
    positional("FILE", &file, "a file").required().file();
    option("-n,--number", "N", &number, "a number");
    option("--colour", "C", &colour, "a colour").choices({"red", "blue"});
    option("--ratio", "R", &ratio, "a ratio");
    option("--word", "W", &words, "words, any number of them");
    flag("--quick", quick, "quickly");
    describe("First paragraph.\nSecond paragraph.");
    example("chasqui sample x", "show it");
  }
  int run(Output&) override { return 0; }

  std::string file;
  std::int64_t number = 7;
  std::string colour;
  double ratio = 0;
  std::vector<std::string> words;
  bool quick = false;
};

std::string complaint(const std::vector<std::string>& arguments) {
  Sample sample;
  try {
    parse(sample, arguments);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Parse, FillsTheVariables) {
  Sample sample;
  parse(sample,
        {"--number", "12", "a.json", "--colour=red", "--quick", "--ratio", "0.5", "--word", "x", "--word", "y"});
  EXPECT_EQ(sample.file, "a.json");
  EXPECT_EQ(sample.number, 12);
  EXPECT_EQ(sample.colour, "red");
  EXPECT_EQ(sample.ratio, 0.5);
  EXPECT_TRUE(sample.quick);
  EXPECT_EQ(sample.words, (std::vector<std::string>{"x", "y"}));
}

TEST(Parse, NegativeNumbersAreValues) {
  Sample sample;
  parse(sample, {"x", "-n", "-3"});
  EXPECT_EQ(sample.number, -3);
}

TEST(Parse, NamesWhatIsWrong) {
  EXPECT_EQ(complaint({}), "FILE is missing (a file)");
  EXPECT_EQ(complaint({"x", "--nmber", "3"}), "--nmber is not an option of this command (did you mean --number?)");
  EXPECT_EQ(complaint({"x", "y"}), "'y' is one argument too many: leave it out");
  EXPECT_EQ(complaint({"x", "--colour", "green"}), "--colour: 'green' is not one of red, blue");
  EXPECT_EQ(complaint({"x", "-n", "two"}), "-n: 'two' is not a whole number below 2^63: write e.g. 8, 1e6 or 10^9");
  EXPECT_EQ(complaint({"x", "--ratio", "half"}), "--ratio: 'half' is not a number: write e.g. 0.5");
  EXPECT_NE(complaint({"x", "-n"}), "");
  EXPECT_NE(complaint({"x", "-n", "1", "-n", "2"}), "");
  EXPECT_EQ(complaint({"x", "-n"}).find('\n'), std::string::npos);
}

TEST(Nearest, OnlySlipsAreSuggested) {
  const std::vector<std::string> names = {"plan", "verify", "draw"};
  EXPECT_EQ(nearest("plna", names), "plan");
  EXPECT_EQ(nearest("verfy", names), "verify");
  EXPECT_EQ(nearest("simulate", names), "");
  EXPECT_EQ(nearest("", names), "");
}

TEST(Help, FitsEightyColumnsAndNamesEverything) {
  for (const CommandPtr& command : make_commands()) {
    const std::string help = help_text(*command, 80);
    const std::string page = man_page(*command);
    EXPECT_FALSE(command->examples().empty()) << command->name();
    for (const Option& option : command->options()) {
      EXPECT_NE(help.find(option.names.substr(0, option.names.find(','))), std::string::npos) << option.names;
      EXPECT_FALSE(option.help.empty()) << option.names;
    }
    std::size_t begin = 0;
    for (std::size_t end; (end = help.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = help.substr(begin, end - begin);
      if (line.starts_with("  chasqui ")) continue;  // an example is not broken
      EXPECT_LE(line.size(), 80u) << command->name() << ": " << line;
    }
    EXPECT_EQ(page.find(".TH "), 0u);
    EXPECT_NE(page.find(".SH EXAMPLES"), std::string::npos);
  }
}

TEST(Help, EveryCommandIsInTheOverviewTheManualAndTheCompletions) {
  const std::string overview = help_overview(80), manual = man_overview(), bash = completion_bash(),
                    zsh = completion_zsh();
  ASSERT_GT(make_commands().size(), 10u);
  for (const CommandPtr& command : make_commands()) {
    const std::string& name = command->name();
    EXPECT_NE(overview.find("\n  " + name + " "), std::string::npos) << name;
    EXPECT_NE(manual.find(name == "check-proof" ? "check\\-proof" : name), std::string::npos) << name;
    EXPECT_NE(man_page(*command).find(".SH SYNOPSIS"), std::string::npos) << name;
    for (const Option& option : command->options()) {
      if (option.positional) continue;
      const std::string flag = option.names.substr(option.names.rfind(',') + 1);
      EXPECT_NE(bash.find(flag), std::string::npos) << name << " " << flag;
      EXPECT_NE(zsh.find(flag), std::string::npos) << name << " " << flag;
    }
    EXPECT_NE(bash.find(name + ")"), std::string::npos) << name;
    EXPECT_NE(zsh.find("'" + name + ":"), std::string::npos) << name;
  }
}

TEST(Help, ManPageEscapesRoff) {
  Sample sample;
  const std::string page = man_page(sample);
  EXPECT_NE(page.find("\\fB\\-n\\fR, \\fB\\-\\-number\\fR \\fIN\\fR"), std::string::npos) << page;
  EXPECT_NE(page.find("Second paragraph."), std::string::npos);
}

TEST(Wrap, KeepsWordsWhole) {
  EXPECT_EQ(wrap("one two three", 2, 9), "one two\n  three");
  EXPECT_EQ(wrap("", 2, 9), "");
  EXPECT_EQ(wrap("incomprehensibilities x", 0, 5), "incomprehensibilities\nx");
}

}  // namespace
}  // namespace chasqui::cli
