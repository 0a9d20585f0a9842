// SPDX-License-Identifier: MIT
// chasqui export: a schedule file as a program of other tools.
#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/simulate/goal.hpp"
#include "chasqui/translate/translate.hpp"
#include "chasqui/verify/verify.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {
namespace {

class ExportCommand final : public Command {
 public:
  ExportCommand() : Command("export", "write a schedule as a program of other tools: MSCCL XML or GOAL") {
    describe(
        "GOAL is the input of LogGOPSim; it takes every collective but streams. MSCCL XML takes allreduce, "
        "allgather, reduce-scatter, alltoall, broadcast and reduce, with a chunk for each item, and at most 64 "
        "thread blocks a rank and 64 steps in each. Both keep the order of the messages, not their times.");
    positional("FILE", &file_, "schedule file; - is the standard input").required().file();
    option("--to", "FORMAT", &format_, "which format").required().choices({"msccl", "goal"});
    option("--name", "NAME", &name_, "MSCCL: what the program is called; default chasqui");
    option("--out", "FILE", &out_, "write it to a file instead of the standard output").file();
    example("chasqui export ring.json --to msccl --out ring.xml", "for MSCCL");
    example("chasqui plan allgather -P 8 -L 6 --json | chasqui export - --to goal", "for LogGOPSim");
  }

  int run(Output& out) override {
    const Schedule schedule = schedule_from_json(text_of(file_), place_of(file_));
    if (schedule.problem.kind == Kind::stream)
      throw Error("a stream has no end: export a broadcast of some items instead");
    if (!verify(schedule).legal()) throw Error("{}: not a legal schedule: see `chasqui verify`", place_of(file_));
    const std::string text = format_ == "msccl" ? translate::to_msccl(schedule, name_) : simulate::to_goal(schedule);
    if (out_) write_file(*out_, text, out);
    else out.write(text);
    return 0;
  }

 private:
  std::string file_;
  std::string format_;
  std::string name_ = "chasqui";
  std::optional<std::string> out_;
};

}  // namespace

CommandPtr make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace chasqui::cli
