// SPDX-License-Identifier: MIT
#include "measure/record/recorded_collective.hpp"

#include <fmt/format.h>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"

namespace chasqui::measure {

Kind RecordedCollective::kind() const {
  const auto kind = kind_from(collective);
  if (!kind || *kind == Kind::sum || *kind == Kind::stream)
    throw Error("\"{}\" is no collective that can be recorded", collective);
  return *kind;
}

std::string title_of(const RecordedCollective& what, const Log& log, const std::string& ranks,
                     const std::string& method) {
  const auto [first, last] = span_of(log);
  return fmt::format("{} of {} bytes on {} {} by {}, {:.2f} us", what.collective, divide_up(what.bytes, 8) * 8,
                     log.size(), ranks, method, static_cast<double>(last - first) / 1000);
}

std::string force_method(run::Comm& comm, const RecordedCollective& what) {
  const SampleCall sample = what.call(comm.size());
  std::string there;
  for (const run::Choice& choice : comm.choices_for(sample.call())) {
    const std::string name(to_string(choice.method));
    if (what.method.empty()) return name;
    there += (there.empty() ? "" : ", ") + name;
    if (name != what.method) continue;
    comm.force(choice);
    return name;
  }
  throw Error("--method {} is not there for this call: {}", what.method, there);
}

}  // namespace chasqui::measure
