// SPDX-License-Identifier: MIT
// chasqui._native: chasqui.h for Python. The interpreter's lock is free while the library works.
#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "chasqui/chasqui.h"

namespace {

namespace py = pybind11;

struct ChasquiError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(int code) {
  if (code != 0) throw ChasquiError(chasqui_last_error());
}

/// What a function of the planner answers, and its remarks.
template <int (*function)(const char*, const char*, char**)>
std::pair<std::string, std::string> ask(const std::string& subject, const std::string& options) {
  const py::gil_scoped_release free;
  char* text = nullptr;
  check(function(subject.c_str(), options.c_str(), &text));
  std::pair<std::string, std::string> answer{text, chasqui_last_error()};
  chasqui_free(text);
  return answer;
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  py::register_exception<ChasquiError>(module, "ChasquiError", PyExc_RuntimeError).doc() =
      "What Chasqui refuses or cannot do, in one line with the remedy.";
  module.def("version", [] { return std::string(chasqui_version()); });
  module.def("plan", &ask<chasqui_plan>);
  module.def("bound", &ask<chasqui_bound>);
  module.def("verify", &ask<chasqui_verify>);
  module.def("simulate", &ask<chasqui_simulate>);
  module.def("draw", &ask<chasqui_draw>);
}
