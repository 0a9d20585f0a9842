// SPDX-License-Identifier: MIT
// chasqui solve: the true optimum of a small instance.
#include "chasqui/solve/solve.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/solve/certificate.hpp"
#include "chasqui/solve/cluster.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/interrupt.hpp"
#include "cli/plans/collective_arguments.hpp"
#include "cli/plans/exact.hpp"

namespace chasqui::cli {
namespace {

using solve::Answer;
using solve::objective;
using solve::Status;

/// What is solved on machines without nodes, and what only on clusters.
std::vector<std::string> all_solved() {
  std::vector<std::string> names = plan::collective_names(&plan::Collective::solved);
  names.insert(names.end(), {"scatter", "gather", "barrier"});
  return names;
}

class SolveCommand final : public Command {
 public:
  SolveCommand() : Command("solve", "search for the true optimum of a small problem, with a proof") {
    describe(
        "For a few ranks and items: the time grows fast with both. Answers optimal, infeasible (with --at-most: there is no such "
        "schedule) or unknown (time is up, or Ctrl-C), with the best schedule and the best bound so far. --proof writes a "
        "certificate that `chasqui check-proof` checks. Exit status 0: optimal; 1: not.");
    positional("PROBLEM", &kind_, "what to solve; scatter, gather and barrier on a cluster only")
        .required()
        .choices(all_solved());
    machine_.declare(*this);
    option("--root", "RANK", &root_,
           "broadcast, reduce, scatter, gather, stream: the rank that has, or gets, everything; default 0");
    option(
        "-k,--items", "K", &items_,
        "broadcast: how many items; allgather, reduce-scatter: how many a rank; alltoall: how many a pair; default 1");
    flag("--single-sending", single_, "broadcast: the source sends each item once");
    flag("--non-commutative", non_commutative_, "reduce, allreduce: the operator must see its operands in rank order");
    flag("--two-values", two_values_, "reduce, allreduce, scan: a message may carry two folds; default one");
    flag("--exclusive", exclusive_, "scan: rank i gets the fold of ranks 0..i-1");
    option("--period", "TICKS", &period_, "stream: the schedule repeats after so many ticks");
    option("--engine", "NAME", &engine_, "which solver, or both and compare; default sat")
        .choices({"sat", "milp", "both"});
    option("--time-limit", "SECONDS", &time_limit_, "stop then; default 0, no limit");
    option("--at-most", "TICKS", &at_most_, "only ask whether there is a schedule that finishes by then");
    flag("--cold", cold_, "do not start from the best plan known");
    flag(
        "--formula-only", formula_only_,
        "allgather, alltoall, reduce-scatter: only the SAT formula, without the counting argument that is tried first");
    option("--proof", "DIR", &proof_, "write a certificate of optimality into this folder").file();
    option("--out", "FILE", &out_, "write the best schedule to FILE").output();
    flag("--json", json_, "print the answer as JSON");
    flag("--quiet", quiet_, "show no progress");
    example("chasqui solve allgather -P 4 -L 2 -o 2 -g 2 --proof proof", "14, and why not 13");
    example("chasqui solve broadcast -P 10 -L 4 -k 2 --engine both", "SAT and integer programming must agree");
    example("chasqui solve allreduce -P 4 -L 1 -o 1 -g 1 --non-commutative", "operands in rank order");
    example("chasqui solve alltoall -P 4 -L 3 -o 2 -g 4", "19, where symmetric sends take 21");
    example("chasqui solve broadcast -N 3 -n 2 -L 2 -o 1 -g 3 --publish 2 --read 2",
            "a tiny cluster: nodes may be entered more than once");
    example("chasqui solve allgather -N 2 -n 2 -L 2 -o 1 -g 2 --publish 1 --read 1",
            "every collective of one item: allreduce, scan, barrier too");
    example("chasqui solve stream -P 6 -L 2 --period 4", "the least delay with period 4");
  }

  int run(Output& out) override {
    out.error(machine_.doubts());
    const Nodes nodes = machine_.nodes();
    if (!nodes.empty()) return run_on_cluster({machine_.machine(), nodes}, out);
    const solve::Instance instance = this->instance();
    const Interrupt interrupt;
    solve::Options options = this->options();
    Progress bar("searching", !quiet_ && isatty(STDERR_FILENO) != 0);
    watch(options, bar);
    const Answer answer = solve::solve(instance, options);
    if (out_ && answer.best) write_schedule(*out_, *answer.best);
    std::string certificate;
    if (proof_ && answer.status == Status::optimal) {
      const bool complete = solve::write_certificate(*proof_, instance, answer, options.interrupted);
      certificate = complete ? *proof_ : "interrupted, incomplete";
    }
    const bool stream = instance.problem.kind == Kind::stream;
    json_ ? print_json(to_string(instance), stream, answer, out)
          : print(to_string(instance), stream, answer, certificate, out);
    return answer.status == Status::optimal ? 0 : 1;
  }

 private:
  int run_on_cluster(const Cluster& cluster, Output& out) const {
    const std::pair<bool, const char*> meaningless[] = {{proof_.has_value(), "--proof"},
                                                        {single_, "--single-sending"},
                                                        {two_values_, "--two-values"},
                                                        {formula_only_, "--formula-only"},
                                                        {period_ != 0, "--period"}};
    for (const auto& [given, name] : meaningless) {
      if (given) throw Error("{} has no meaning on clusters: leave it out", name);
    }
    if (engine_ != "sat")
      throw Error("--engine {}: there is no integer program for clusters: leave it out, SAT decides", engine_);
    const Interrupt interrupt;
    solve::Options options = this->options();
    options.interrupted = [] { return Interrupt::asked(); };
    const Answer answer = solve::solve_on_cluster(cluster, problem(), options);
    if (out_ && answer.best) write_schedule(*out_, *answer.best);
    const std::string title = fmt::format("{} on {}", kind_, to_string(cluster));
    json_ ? print_json(title, false, answer, out) : print(title, false, answer, {}, out);
    return answer.status == Status::optimal ? 0 : 1;
  }

  solve::Instance instance() const {
    solve::Instance instance;
    instance.machine = machine_.machine();
    instance.problem = problem();
    instance.single_sending = single_;
    instance.two_values = two_values_;
    instance.period = Time{period_};
    solve::validate(instance);
    return instance;
  }

  Problem problem() const {
    Problem problem{.kind = kind_from(kind_).value()};
    problem.root = Rank{static_cast<std::int32_t>(std::clamp<std::int64_t>(root_, -1, kMaxProcessors - 1))};
    problem.items = items_;
    problem.exclusive = exclusive_;
    problem.commutative = !non_commutative_;
    if (exclusive_ && problem.kind != Kind::scan) throw Error("--exclusive has no meaning for {}: leave it out", kind_);
    if (root_ != 0 && !has_root(problem.kind)) throw Error("--root has no meaning for {}: leave it out", kind_);
    if (items_ != 1 && (plan::collective(kind_).takes & plan::kItems) == 0)
      throw Error("--items has no meaning for {}: leave it out", kind_);
    return problem;
  }

  solve::Options options() const {
    solve::Options options;
    options.engine = engine_ == "milp"   ? solve::Engine::milp
                     : engine_ == "both" ? solve::Engine::both
                                         : solve::Engine::sat;
    if (time_limit_ < 0) throw Error("--time-limit {} is negative: give seconds, or 0 for none", time_limit_);
    options.time_limit = time_limit_;
    if (at_most_) options.at_most = Time{*at_most_};
    options.warm_start = !cold_;
    options.traffic = !formula_only_;
    return options;
  }

  void print(const std::string& title, bool stream, const Answer& answer, const std::string& certificate,
             Output& out) const {
    const char* what = stream ? "delay" : "finish";
    out.print("{}\n", out.bold(title));
    const std::string status(to_string(answer.status));
    out.print("answer  {}{}\n", answer.status == Status::optimal ? out.good(status) : status,
              answer.stopped.empty() ? "" : fmt::format(" ({})", answer.stopped));
    if (answer.best) out.print("{:7} {}\n", what, objective(*answer.best).ticks);
    else if (answer.status == Status::optimal) out.print("{:7} {}\n", what, answer.bound.ticks);
    out.print("bound   {} ({})\n", answer.bound.ticks, answer.bound_source);
    if (out_ && answer.best) out.print("written {}\n", *out_);
    if (proof_) {
      out.print("proof   {}\n",
                answer.status == Status::optimal ? certificate : "none: only an optimum has a certificate");
    }
  }

  static void print_json(const std::string& title, bool stream, const Answer& answer, Output& out) {
    nlohmann::ordered_json json;
    json["instance"] = title;
    json["status"] = to_string(answer.status);
    if (answer.best || answer.status == Status::optimal)
      json[stream ? "delay" : "finish"] = answer.best ? objective(*answer.best).ticks : answer.bound.ticks;
    json["bound"] = answer.bound.ticks;
    json["bound_source"] = answer.bound_source;
    json["evidence"] = to_string(answer.evidence);
    if (!answer.stopped.empty()) json["stopped"] = answer.stopped;
    json["seconds"] = answer.seconds;
    out.write(json.dump(2) + "\n");
  }

  std::string kind_;
  MachineArguments machine_;
  std::int64_t root_ = 0, items_ = 1, period_ = 0;
  bool single_ = false, two_values_ = false, non_commutative_ = false, exclusive_ = false, cold_ = false,
       formula_only_ = false, json_ = false, quiet_ = false;
  std::string engine_ = "sat";
  double time_limit_ = 0;
  std::optional<std::int64_t> at_most_;
  std::optional<std::string> proof_, out_;
};

}  // namespace

CommandPtr make_solve_command() { return std::make_unique<SolveCommand>(); }

}  // namespace chasqui::cli
