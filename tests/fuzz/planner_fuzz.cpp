// SPDX-License-Identifier: MIT
// The planner for C. The first line of an input is the function and the collective, the second its options, the rest a schedule. Whatever they
// are, the answer is a text and 0, or no text, a code and one that says why; nothing is Chasqui's own fault.
#include <cctype>
#include <cstdint>
#include <string>

#include "chasqui/chasqui.h"
#include "require.hpp"

namespace {

/// Options that name files, and numbers that stand for hours of work.
bool left_alone(const std::string& options) {
  for (const char* const word : {"out", "trace", "goal", "machine", "links", "histogram", "\\", "^"}) {
    if (options.find(word) != std::string::npos) return true;
  }
  int digits = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(options[i])) != 0;
    if (digits > 0 && (options[i] == 'e' || options[i] == 'E')) return true;
    digits = digit ? digits + 1 : 0;
    if (digits > 2) return true;
  }
  return false;
}

std::string line_of(std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string line = text.substr(0, end);
  text.erase(0, std::min(end + 1, text.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const std::string what = line_of(text), options = line_of(text);
  if (left_alone(options)) return 0;
  const std::string function = what.substr(0, what.find(' '));
  const std::string collective = what.size() > function.size() ? what.substr(function.size() + 1) : "";
  char* answer = nullptr;
  int status = 0;
  if (function == "plan") status = chasqui_plan(collective.c_str(), options.c_str(), &answer);
  else if (function == "bound") status = chasqui_bound(collective.c_str(), options.c_str(), &answer);
  else if (function == "verify") status = chasqui_verify(text.c_str(), options.c_str(), &answer);
  else if (function == "simulate") status = chasqui_simulate(text.c_str(), options.c_str(), &answer);
  else if (function == "draw") status = chasqui_draw(text.c_str(), options.c_str(), &answer);
  else return 0;
  require((answer != nullptr) == (status == 0), "a text or a code");
  require(status != CHASQUI_ERROR_BUG, chasqui_last_error());
  require(status == 0 || *chasqui_last_error() != '\0', "a reason");
  chasqui_free(answer);
  return 0;
}
