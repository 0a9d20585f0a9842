// SPDX-License-Identifier: MIT
// The files of a certificate: names, the text of certificate.json, and the formula of "one step less".
#pragma once

#include <string>

#include "chasqui/solve/answer.hpp"
#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {

inline constexpr const char* kCertificateFile = "certificate.json";
inline constexpr const char* kScheduleFile = "schedule.json";
inline constexpr const char* kFormulaFile = "bound.cnf";
inline constexpr const char* kProofFile = "bound.drat";

struct CertificateText {
  Instance instance;
  Time finish;
  Evidence evidence = Evidence::argument;
};

std::string to_json(const CertificateText& certificate);
/// Throws an Error that begins with `place`.
CertificateText certificate_from_json(const std::string& text, const std::string& place);

/// "The instance can be done earlier than `finish`", on the coarsest clock that shows all optima.
struct Question {
  Instance instance;
  Time by;
};
Question question_of(const Instance& instance, Time finish);

/// The question as a DIMACS file.
std::string one_step_less(const Instance& instance, Time finish);

}  // namespace chasqui::solve
