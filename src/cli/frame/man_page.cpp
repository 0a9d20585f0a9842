// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <sstream>

#include "chasqui/base/version.hpp"
#include "cli/frame/help.hpp"

namespace chasqui::cli {
namespace {

/// roff reads '-', '\' and a leading '.' or "'" as its own.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      if (escaped.empty() && (c == '.' || c == '\'')) escaped += "\\&";
      escaped += c;
    }
  }
  return escaped;
}

std::string heading(const std::string& title, const std::string& summary) {
  std::string upper = title;
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return fmt::format(".TH {} 1 \"2026-11-15\" \"chasqui " CHASQUI_VERSION
                     "\" \"Chasqui Manual\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper), roff(title), roff(summary));
}

void entry(std::string& page, const std::string& left, const std::string& right) {
  page += ".TP\n" + left + "\n" + roff(right) + "\n";
}

std::string bold_names(const Option& option) {
  std::string names = "\\fB" + roff(option.names) + "\\fR";
  for (std::size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 2)) {
    names.replace(at, 1, "\\fR, \\fB");
    at += 8;
  }
  if (!option.positional && !option.metavar.empty()) names += " \\fI" + roff(option.metavar) + "\\fR";
  return names;
}

}  // namespace

std::string man_page(const Command& command) {
  std::string page = heading("chasqui-" + command.name(), command.summary());
  page += fmt::format(".SH SYNOPSIS\n.B chasqui {}\n{}\n", roff(command.name()), roff(usage(command)));
  if (!command.details().empty()) {
    page += ".SH DESCRIPTION\n";
    std::istringstream paragraphs(command.details());
    const char* between = "";
    for (std::string paragraph; std::getline(paragraphs, paragraph); between = ".PP\n")
      page += between + roff(paragraph) + "\n";
  }
  page += ".SH OPTIONS\n";
  for (const Option& option : command.options()) {
    std::string help = option.help;
    if (!option.allowed.empty()) help += fmt::format(" ({})", fmt::join(option.allowed, ", "));
    entry(page, bold_names(option), help);
  }
  entry(page, "\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "print a short form of this page");
  if (!command.examples().empty()) page += ".SH EXAMPLES\n";
  for (const Example& example : command.examples()) {
    page += fmt::format(".TP\n.B {}\n{}\n", roff(example.line), roff(example.what));
  }
  page +=
      ".SH EXIT STATUS\n0: done. 1: the answer is no, as for a schedule that is not legal. 2: bad input, explained on one line.\n";
  return page + ".SH SEE ALSO\n.BR chasqui (1)\n";
}

std::string man_overview() {
  std::string page = heading("chasqui", "fast collectives for the machine at hand, with proved bounds");
  page += ".SH SYNOPSIS\n.B chasqui\nCOMMAND [options]\n.SH COMMANDS\n";
  for (const CommandPtr& command : make_commands()) {
    entry(page, ".BR chasqui\\-" + roff(command->name()) + " (1)", command->summary());
  }
  return page + ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif set and not empty, nothing is coloured\n";
}

}  // namespace chasqui::cli
