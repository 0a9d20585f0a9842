// SPDX-License-Identifier: MIT
// One subcommand of `chasqui`: its options as data, and what it does. The same data makes --help, the man page and
// the shell completion. A subcommand lives in one file and derives from Command; see verify.cpp for a short one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chasqui/base/file.hpp"
#include "cli/frame/output.hpp"

namespace chasqui::cli {

/// One flag, option or positional argument, bound to the variable that receives it.
struct Option {
  using Target = std::variant<bool*, std::int64_t*, std::optional<std::int64_t>*, double*, std::string*,
                              std::optional<std::string>*, std::vector<std::string>*>;

  std::string names;    ///< "-P,--processors"; a positional argument: its metavar
  std::string metavar;  ///< "N", "FILE"; empty: a flag
  std::string help;
  Target target;
  bool positional = false;
  bool is_required = false;
  bool is_file = false;
  bool is_output = false;
  std::vector<std::string> allowed{};
  std::vector<std::string> offered{};
  bool* unit_said = nullptr;

  Option& tells_unit(bool& said) { return unit_said = &said, *this; }  ///< true after a value of ticks with a unit
  Option& required() { return is_required = true, *this; }
  Option& file() { return is_file = true, *this; }       ///< the shell completes file names
  Option& output() { return is_output = true, file(); }  ///< written after long work: parse() looks whether it can be
  /// The shell completes these.
  Option& offers(std::vector<std::string> values) { return offered = std::move(values), *this; }
  Option& choices(std::vector<std::string> values) { return allowed = offered = std::move(values), *this; }
};

struct Example {
  std::string line;  ///< "chasqui plan broadcast -P 8"
  std::string what;
};

class Command {
 public:
  Command(std::string name, std::string summary) : name_(std::move(name)), summary_(std::move(summary)) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Called after the options are parsed. Returns the exit status: 0, or 1 for "checked, and the answer is no".
  /// Bad input throws chasqui::Error; the caller prints it on one line and exits 2.
  virtual int run(Output& out) = 0;

  void describe(std::string details) { details_ = std::move(details); }
  void example(std::string line, std::string what) { examples_.push_back({std::move(line), std::move(what)}); }

  /// The returned reference stays valid: `option(…).required().file()`.
  Option& positional(std::string metavar, Option::Target target, std::string help) {
    return options_.emplace_back(Option{metavar, metavar, std::move(help), target, true});
  }
  Option& option(std::string names, std::string metavar, Option::Target target, std::string help) {
    return options_.emplace_back(Option{std::move(names), std::move(metavar), std::move(help), target});
  }
  Option& flag(std::string names, bool& target, std::string help) {
    return option(std::move(names), "", &target, std::move(help));
  }

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::string& details() const { return details_; }
  const std::deque<Option>& options() const { return options_; }
  const std::vector<Example>& examples() const { return examples_; }

  /// "-" stands for this text from now on, instead of the standard input.
  void feed(std::string text) { fed_ = std::move(text); }
  /// The text of a file that an argument names, and that name for messages.
  std::string text_of(const std::string& path, std::string_view remedy = "give the name of a schedule file") const {
    return path == "-" && fed_ ? *fed_ : read_input(path, remedy);
  }
  std::string place_of(const std::string& path) const {
    return path != "-" ? path : fed_ ? "the given text" : "standard input";
  }

  /// What parse() was given.
  const std::vector<std::string>& arguments() const { return arguments_; }
  void keep(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }

 private:
  std::string name_;
  std::string summary_;
  std::string details_;
  std::deque<Option> options_;
  std::vector<Example> examples_;
  std::vector<std::string> arguments_;
  std::optional<std::string> fed_;
};

using CommandPtr = std::unique_ptr<Command>;

/// A command of this build, or one whose room was skipped (then `make` is null and `missing` says which room).
struct CommandEntry {
  std::string_view name;
  CommandPtr (*make)();
  std::string_view missing;
};

/// All commands, in the order of src/cli/CMakeLists.txt.
const std::vector<CommandEntry>& command_entries();

/// Fills the command's variables from the arguments after its name. Throws Error for anything wrong.
void parse(Command& command, const std::vector<std::string>& arguments);

/// A whole number as people write it: 1000, 1_000, 1e6, 10^9. Throws Error that names `place`.
std::int64_t parse_integer(const std::string& text, const std::string& place);

/// The whole program: finds the command, parses, runs. Returns the exit status.
int run_main(const std::vector<std::string>& arguments, Output& out);

}  // namespace chasqui::cli
