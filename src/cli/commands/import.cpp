// SPDX-License-Identifier: MIT
// chasqui import: another planner's program becomes a schedule, is judged, and held against the bound.
#include <nlohmann/json.hpp>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/translate/translate.hpp"
#include "chasqui/verify/verify.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {
namespace {

class ImportCommand final : public Command {
 public:
  ImportCommand() : Command("import", "judge a program of another planner (MSCCL XML, GOAL) against the bound") {
    describe(
        "Reads MSCCL's XML or the GOAL text of LogGOPSim, sends every message as early as the machine allows, follows the "
        "data, verifies the result and prints how far it is from the bound and from the plan of Chasqui. --out writes a "
        "schedule file for draw, simulate and verify. Exit status 1: the program is wrong.");
    positional("FILE", &file_, "MSCCL XML or GOAL text; - is the standard input").required().file();
    option("-L", "TICKS", &L_, "latency of a message in the network; with a unit (1.5us) a tick is a nanosecond")
        .required();
    option("-o", "TICKS", &o_, "overhead of sending, and again of receiving, a message; default 0");
    option("-g", "TICKS", &g_, "gap between two sends, and two receptions, of one processor; default 1");
    option("--collective", "NAME", &collective_, "GOAL: what it is, as the file does not say")
        .offers(plan::collective_names());
    option("--root", "RANK", &root_, "the root of a broadcast, reduction, scatter or gather; default 0");
    option("--out", "FILE", &out_, "write the schedule").file();
    flag("--json", json_, "print the judgement as JSON");
    example("chasqui import ring.xml -L 6 -o 2 -g 4 --out ring.json", "an MSCCL program, judged and kept");
    example("chasqui import tree.goal --collective broadcast -L 6 -o 2 -g 4", "GOAL does not name its collective");
  }

  int run(Output& out) override {
    translate::Imported imported = read();
    Schedule& schedule = imported.schedule;
    const plan::PlanPtr ours = plan::make_plan({.machine = schedule.machine, .problem = schedule.problem});
    schedule.bound = ours->claim().bound;
    const Report report = verify(schedule);
    if (out_) write_file(*out_, to_json(schedule), out);
    json_ ? print_json(imported, report, *ours, out) : print_text(imported, report, *ours, out);
    return report.legal() && imported.faults.empty() ? 0 : 1;
  }

 private:
  translate::Imported read() const {
    const std::string text = text_of(file_, "give the name of a program: MSCCL XML or GOAL text");
    const translate::Machine machine{Time{L_}, Time{o_}, Time{g_}};
    const auto root = static_cast<std::int32_t>(root_);
    if (root != root_) throw Error("--root {} does not exist: ranks begin at 0", root_);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{')
      throw Error("{}: this is neither MSCCL XML nor GOAL; `chasqui verify FILE` judges a schedule file",
                  place_of(file_));
    if (first != std::string::npos && text[first] == '<') {
      if (collective_) throw Error("--collective is for GOAL: an MSCCL program names its collective; leave it out");
      return translate::from_msccl(text, place_of(file_), machine, Rank{root});
    }
    if (!collective_)
      throw Error("--collective is missing: GOAL does not say what it is; broadcast, reduce, allreduce, …");
    return translate::from_goal(text, place_of(file_), machine,
                                {.kind = plan::collective(*collective_).kind, .root = Rank{root}});
  }

  void print_text(const translate::Imported& imported, const Report& report, const plan::Plan& ours,
                  Output& out) const {
    const Schedule& schedule = imported.schedule;
    const auto line = [&](const char* what, const std::string& text) {
      out.print("{:<10}{}\n", what, wrap(text, 10, static_cast<std::size_t>(out.width())));
    };
    const auto against = [&](Time other, const std::string& why) {
      const double times =
          other == Time{0} ? 1.0 : static_cast<double>(schedule.finish.ticks) / static_cast<double>(other.ticks);
      return fmt::format("{}, and this takes {:.2f} times as long: {}", other.ticks, times, why);
    };
    out.print("{}\n", out.bold(imported.name));
    line("problem", fmt::format("{} of {} item{} on P={} L={} o={} g={}", to_string(schedule.problem.kind),
                                schedule.problem.items, schedule.problem.items == 1 ? "" : "s", schedule.machine.P,
                                schedule.machine.L.ticks, schedule.machine.o.ticks, schedule.machine.g.ticks));
    for (const std::string& note : imported.notes) line("note", note);
    for (const std::string& fault : imported.faults) line("fault", fault);
    for (const std::string& violation : violations(report)) line("fault", violation);
    const bool right = imported.faults.empty();
    if (right && !report.legal()) line("note", "the data come out right, but the model has no such messages");
    if (right && report.legal()) line("verdict", fmt::format("right, and legal under the {} rules", report.rules));
    line("messages", fmt::format("{}", schedule.sends.size()));
    line("finish", fmt::format("{}", schedule.finish.ticks));
    line("bound", against(schedule.bound, ours.claim().bound_source));
    line("our plan", against(ours.claim().finish, ours.claim().construction));
  }

  /// A page of violations helps nobody here: `chasqui verify` prints all.
  static std::vector<std::string> violations(const Report& report) {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> lines;
    for (const Violation& violation : report.violations) {
      if (lines.size() == kShown) break;
      lines.push_back(to_string(violation));
    }
    const auto more = static_cast<std::int64_t>(report.violations.size() - lines.size()) + report.omitted;
    if (more > 0) lines.push_back(fmt::format("and {} more; --out FILE and `chasqui verify FILE` show them", more));
    return lines;
  }

  void print_json(const translate::Imported& imported, const Report& report, const plan::Plan& ours,
                  Output& out) const {
    const Schedule& schedule = imported.schedule;
    nlohmann::ordered_json object;
    object["name"] = imported.name;
    object["collective"] = to_string(schedule.problem.kind);
    object["items"] = schedule.problem.items;
    object["P"] = schedule.machine.P;
    object["messages"] = schedule.sends.size();
    object["legal"] = report.legal();
    object["faults"] = imported.faults;
    object["notes"] = imported.notes;
    object["finish"] = schedule.finish.ticks;
    object["bound"] = schedule.bound.ticks;
    object["our_finish"] = ours.claim().finish.ticks;
    out.write(object.dump(1) + "\n");
  }

  std::string file_;
  std::int64_t L_ = 0;
  std::int64_t o_ = 0;
  std::int64_t g_ = 1;
  std::int64_t root_ = 0;
  std::optional<std::string> collective_;
  std::optional<std::string> out_;
  bool json_ = false;
};

}  // namespace

CommandPtr make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace chasqui::cli
