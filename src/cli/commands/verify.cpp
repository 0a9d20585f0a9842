// SPDX-License-Identifier: MIT
// chasqui verify: is a schedule file legal?
#include "chasqui/verify/verify.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "chasqui/schedule/json.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {
namespace {

std::string report_json(const Report& report) {
  nlohmann::ordered_json object;
  object["legal"] = report.legal();
  object["rules"] = report.rules;
  object["finish"] = report.finish.ticks;
  object["violations"] = nlohmann::ordered_json::array();
  for (const Violation& violation : report.violations) {
    nlohmann::ordered_json entry = {{"rule", violation.rule}, {"name", rule_name(violation.rule)}};
    if (violation.rank != kNoRank) entry["rank"] = violation.rank.index;
    entry["time"] = violation.time.ticks;
    if (violation.message != kNoMessage) entry["message"] = violation.message;
    entry["text"] = violation.text;
    object["violations"].push_back(std::move(entry));
  }
  object["omitted"] = report.omitted;
  return object.dump(2) + "\n";
}

/// Long violations go on below their own words.
std::string within(const std::string& report, std::size_t width) {
  std::string text;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    const bool violation = line.size() > width && line.starts_with("rule ");
    text += (violation ? "rule " + wrap(line.substr(5), 5, width) : line) + "\n";
  }
  return text;
}

class VerifyCommand final : public Command {
 public:
  VerifyCommand() : Command("verify", "check a schedule file against the rules of the model") {
    describe(
        "Names every violation with its rule, rank, time and message. Exit status 0: legal; 1: not legal. The "
        "rules are numbered in docs/model.md.");
    positional("FILE", &file_, "schedule file; - is the standard input").required().file();
    flag("--buffered", buffered_, "messages may wait in a buffer of the receiver");
    flag("--json", json_, "print the report as JSON");
    example("chasqui verify b.json", "the report");
    example("chasqui plan scan -P 9 -L 2 --json | chasqui verify -", "plan and check in one go");
  }

  int run(Output& out) override {
    const Schedule schedule = schedule_from_json(text_of(file_), place_of(file_));
    VerifyOptions options;
    if (buffered_) options.receptions = Receptions::buffered;
    const Report report = verify(schedule, options);
    out.write(json_ ? report_json(report) : within(to_string(report), static_cast<std::size_t>(out.width())));
    return report.legal() ? 0 : 1;
  }

 private:
  std::string file_;
  bool buffered_ = false;
  bool json_ = false;
};

}  // namespace

CommandPtr make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace chasqui::cli
