// SPDX-License-Identifier: MIT
// chasqui check-proof: is a certificate of optimality good?
#include <nlohmann/json.hpp>

#include "chasqui/solve/certificate.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/help.hpp"

namespace chasqui::cli {
namespace {

class CheckProofCommand final : public Command {
 public:
  CheckProofCommand() : Command("check-proof", "check a proof of optimality that `chasqui solve --proof` wrote") {
    describe(
        "The folder holds a schedule, a SAT formula that says \"one step faster\", and a proof that the formula has no solution. "
        "All three are checked, the proof by a checker of its own. Exit status 0: accepted; 1: rejected, with the reason.");
    positional("DIR", &folder_, "the folder that `solve --proof` wrote").required().file();
    flag("--json", json_, "print the report as JSON");
    example("chasqui check-proof proof", "check the certificate in the folder proof");
  }

  int run(Output& out) override {
    const solve::CertificateReport report = solve::check_certificate(folder_);
    if (json_) {
      nlohmann::ordered_json json;
      json["accepted"] = report.accepted;
      json["instance"] = to_string(report.instance);
      json["finish"] = report.finish.ticks;
      json["bound"] = report.evidence == solve::Evidence::search ? "proof" : to_string(report.evidence);
      json["steps"] = report.proof.steps;
      json["checked"] = report.proof.checked;
      json["reason"] = report.reason;
      out.write(json.dump(2) + "\n");
    } else if (report.accepted) {
      out.print("accepted: {} takes {}\n", to_string(report.instance), report.finish.ticks);
      out.print("  schedule  legal, finishes at {}\n", report.finish.ticks);
      out.print("  bound     {}\n", report.bound_source);
      if (report.evidence == solve::Evidence::search) {
        out.print("  proof     {} clauses, {} steps, {} of them needed and checked\n", report.proof.clauses,
                  report.proof.steps, report.proof.checked);
      }
    } else {
      out.print("rejected: {}\n", wrap(report.reason, 10, static_cast<std::size_t>(out.width())));
    }
    return report.accepted ? 0 : 1;
  }

 private:
  std::string folder_;
  bool json_ = false;
};

}  // namespace

CommandPtr make_check_proof_command() { return std::make_unique<CheckProofCommand>(); }

}  // namespace chasqui::cli
