// SPDX-License-Identifier: MIT
#include "chasqui/solve/certificate.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/solve/encoding.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/certificate_files.hpp"
#include "solve/encode.hpp"
#include "solve/sat.hpp"
#include "solve/traffic.hpp"

namespace chasqui::solve {
namespace {

constexpr std::string_view kRemedy = "a certificate is a folder that `chasqui solve --proof` wrote";
constexpr std::int64_t kConflictsInsteadOfCounting = 20'000;

/// Empty, or what is wrong with the schedule as the upper bound.
std::string schedule_fault(const Schedule& schedule, const Instance& instance, Time finish) {
  if (schedule.machine != instance.machine || schedule.problem != instance.problem ||
      schedule.period != instance.period) {
    return "the schedule is for another instance";
  }
  const auto two = [](const Send& send) { return send.second.len > 0; };
  if (!instance.two_values && std::any_of(schedule.sends.begin(), schedule.sends.end(), two))
    return "a message carries two values";
  const Report report = verify(schedule);
  if (!report.violations.empty()) return "the schedule is illegal: " + chasqui::to_string(report.violations.front());
  if (objective(schedule) != finish) {
    return fmt::format("the schedule finishes at {}, not at {}", objective(schedule).ticks, finish.ticks);
  }
  if (!instance.single_sending) return "";
  std::vector<std::int32_t> sent;
  for (const Send& send : schedule.sends) {
    if (send.from == instance.problem.root) sent.push_back(send.part.lo);
  }
  std::sort(sent.begin(), sent.end());
  return std::adjacent_find(sent.begin(), sent.end()) == sent.end() ? "" : "the source sends an item twice";
}

/// The number of the first line where two texts differ.
std::int64_t first_difference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return 1 + std::count(a.begin(), at, '\n');
}

std::string traffic_fault(CertificateReport& report) {
  report.bound_source = fmt::format("no traffic of the ports at {}", (report.finish - Time{1}).ticks);
  const Question question = question_of(report.instance, report.finish);
  if (!has_traffic(question.instance)) return "only an exchange with overhead has a traffic to count";
  const TrafficCount count = count_traffic(question.instance, question.by);
  switch (count.verdict()) {
    case Verdict::unsatisfiable: return "";
    case Verdict::satisfiable:
      return fmt::format("the ports alone could finish by {}", (report.finish - Time{1}).ticks);
    case Verdict::unknown: break;
  }
  return "there is too much traffic to count";
}

std::string bound_fault(const std::filesystem::path& folder, CertificateReport& report) {
  if (report.evidence == Evidence::argument) {
    const plan::Bound bound = lower_bound(report.instance);
    report.bound_source = bound.source;
    if (bound.time == report.finish) return "";
    return fmt::format("the bound by argument is {} ({}), not {}", bound.time.ticks, bound.source, report.finish.ticks);
  }
  // What is later than a plan needs no search, which could take long.
  if (const auto plan = best_plan(report.instance); plan && objective(*plan) < report.finish)
    return fmt::format("not the optimum: a plan finishes at {}", objective(*plan).ticks);
  if (report.evidence == Evidence::traffic) return traffic_fault(report);
  report.bound_source = fmt::format("proof that {} is impossible", (report.finish - Time{1}).ticks);
  const std::string formula = read_file(folder / kFormulaFile, kRemedy);
  const Question question = question_of(report.instance, report.finish);
  if (estimated_variables(question.instance, question.by) > 3 * static_cast<double>(formula.size())) {
    return fmt::format("{} has only {} bytes: the formula of the instance with one step less is longer", kFormulaFile,
                       formula.size());
  }
  if (const std::string expected = one_step_less(report.instance, report.finish); formula != expected) {
    return fmt::format("{} is not the formula of the instance with one step less: they differ from line {} on",
                       kFormulaFile, first_difference(expected, formula));
  }
  report.proof = check_drat(formula, read_file(folder / kProofFile, kRemedy));
  return report.proof.accepted ? "" : fmt::format("{}: {}", kProofFile, report.proof.reason);
}

}  // namespace

bool write_certificate(const std::filesystem::path& folder, const Instance& instance, const Answer& answer,
                       const std::function<bool()>& stop) {
  CHASQUI_CHECK(answer.status == Status::optimal && answer.best, "{} is {}", to_string(instance),
                to_string(answer.status));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error("{}: the folder cannot be made: {}", folder.string(), error.message());
  const Time finish = objective(*answer.best);
  CertificateText certificate{instance, finish, answer.evidence};
  if (lower_bound(instance).time == finish) certificate.evidence = Evidence::argument;
  write_schedule(folder / kScheduleFile, *answer.best);
  std::filesystem::remove(folder / kFormulaFile, error);
  std::filesystem::remove(folder / kProofFile, error);
  if (certificate.evidence != Evidence::argument) {
    const std::int64_t conflicts = certificate.evidence == Evidence::traffic ? kConflictsInsteadOfCounting : 0;
    replace_file((folder / kFormulaFile).string(), one_step_less(instance, finish));
    const Question question = question_of(instance, finish);
    const auto encoding = encode(question.instance, question.by);
    const Verdict verdict = refute(encoding->cnf(), folder / kProofFile, conflicts, stop);
    CHASQUI_CHECK(verdict != Verdict::satisfiable, "{}: {} is feasible after all", to_string(instance),
                  (finish - Time{1}).ticks);
    if (verdict == Verdict::unsatisfiable) certificate.evidence = Evidence::search;
    if (verdict == Verdict::unknown) {
      if (conflicts == 0 || (stop && stop())) return false;
      std::filesystem::remove(folder / kFormulaFile, error);
      std::filesystem::remove(folder / kProofFile, error);
    }
  }
  replace_file((folder / kCertificateFile).string(), to_json(certificate));
  return true;
}

CertificateReport check_certificate(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kCertificateFile;
  const CertificateText certificate = certificate_from_json(read_file(path, kRemedy), path.string());
  CertificateReport report;
  report.instance = certificate.instance;
  report.finish = certificate.finish;
  report.evidence = certificate.evidence;
  try {
    report.reason = schedule_fault(read_schedule(folder / kScheduleFile), report.instance, report.finish);
    if (report.reason.empty()) report.reason = bound_fault(folder, report);
  } catch (const Error& error) {
    report.reason = error.what();
  }
  report.accepted = report.reason.empty();
  return report;
}

}  // namespace chasqui::solve
