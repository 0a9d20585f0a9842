// SPDX-License-Identifier: MIT
// The only file that knows CLI11. Whatever is wrong with the arguments becomes one line: what, and the remedy.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <span>

#include "base/number.hpp"
#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/nearest.hpp"

namespace chasqui::cli {
namespace {

/// The long name if there is one: "-P,--processors" is known as --processors, "-P" as -P.
std::string shown_name(const Option& option) {
  return option.positional ? option.names : option.names.substr(0, option.names.find(','));
}

bool digits_to(std::string_view text, std::int64_t& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size();
}

/// base * radix^exponent, for 3e6 and 10^9.
bool power_to(std::string_view base_text, std::string_view exponent_text, bool scientific, std::int64_t& value) {
  std::int64_t base = 0;
  std::int64_t exponent = 0;
  if (!digits_to(base_text, base) || !digits_to(exponent_text, exponent) || exponent < 0 || base < 0) return false;
  const std::int64_t radix = scientific ? 10 : base;
  value = scientific ? base : 1;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(exponent, 64); ++i) {
    value = saturating_multiply(value, radix);
  }
  return value != kSaturated;
}

struct Unit {
  std::string_view name;
  std::int64_t factor;
};
constexpr Unit kSizes[] = {{"KiB", 1 << 10},      {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1000},   {"MB", 1'000'000},
                           {"GB", 1'000'000'000}, {"K", 1 << 10},   {"M", 1 << 20},   {"G", 1 << 30}, {"B", 1}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1000}, {"µs", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

/// "1.5us" with the units of times: 1500. False unless it is a whole number of the smallest unit, written with one.
bool with_unit(std::string_view text, std::span<const Unit> units, std::int64_t& value) {
  const std::size_t letters = text.find_first_not_of("0123456789.");
  if (letters == 0 || letters == std::string_view::npos) return false;
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == text.substr(letters); });
  if (unit == units.end()) return false;
  const std::string_view number = text.substr(0, letters);
  const std::size_t point = number.find('.');
  std::int64_t whole = 0;
  if (!digits_to(number.substr(0, point), whole)) return false;
  value = saturating_multiply(whole, unit->factor);
  if (point == std::string_view::npos) return value != kSaturated;
  const std::string_view places = number.substr(point + 1);
  std::int64_t part = 0;
  if (places.size() > 9 || !digits_to(places, part)) return false;
  const auto scale = static_cast<std::int64_t>(std::pow(10.0, static_cast<double>(places.size())));
  value = saturating_add(value, part * unit->factor / scale);
  return part * unit->factor % scale == 0 && value != kSaturated;
}

constexpr const char* kOverheadOrFile = "-o is the overhead of a message; --out names a file";

/// What an option counts shows in its metavar: bytes and ticks may have units, and a tick is then a nanosecond.
std::int64_t parse_amount(const Option& option, const std::string& text, const std::string& place) {
  std::int64_t value = 0;
  if (option.metavar == "BYTES" && with_unit(text, kSizes, value)) return value;
  if (option.metavar == "TICKS" && with_unit(text, kTimes, value)) {
    if (option.unit_said != nullptr) *option.unit_said = true;
    return value;
  }
  if (option.metavar == "TICKS" && text.find('.') != std::string::npos &&
      text.find_first_not_of("0123456789.") == std::string::npos)
    throw Error("{}: '{}' is not a whole number of ticks: count in smaller ticks, or give all times a unit, like 1.5us",
                place, text);
  if (option.names == "-o" && text.find_first_of("./") != std::string::npos)
    throw Error("{}: '{}' is not a number of ticks: {}", place, text, kOverheadOrFile);
  if (text.find_first_of("0123456789") == 0 && text.find_first_not_of("0123456789._eE^") != std::string::npos) {
    if (option.metavar == "BYTES")
      throw Error("{}: '{}' is not a number of bytes: write e.g. 65536, 64KiB, 64K or 64kB", place, text);
    if (option.metavar == "TICKS")
      throw Error("{}: '{}' is not a number of ticks: write e.g. 6, 1500ns or 1.5us", place, text);
  }
  return parse_integer(text, place);
}

double parse_real(const std::string& text, const std::string& place) {
  const auto value = number_from(text);
  if (!value || !std::isfinite(*value)) throw Error("{}: '{}' is not a number: write e.g. 0.5", place, text);
  return *value;
}

void store(const Option& option, const std::string& text) {
  const std::string place = shown_name(option);
  if (!option.allowed.empty() &&
      std::find(option.allowed.begin(), option.allowed.end(), text) == option.allowed.end()) {
    throw Error("{}: '{}' is not one of {}{}", place, text, fmt::join(option.allowed, ", "),
                did_you_mean(text, option.allowed));
  }
  if (option.is_file && text.empty())
    throw Error("{}: an empty name: name a {}", place, option.metavar == "FILE" ? "file" : "folder");
  if (option.is_file && option.metavar == "FILE" && text != "-") {
    std::error_code ignored;
    if (std::filesystem::is_directory(text, ignored)) throw Error("{}: {} is a folder: name a file", place, text);
    if (option.is_output) check_writable(text);
  }
  std::visit(
      [&](auto* target) {
        using Value = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<Value, std::int64_t> || std::is_same_v<Value, std::optional<std::int64_t>>) {
          *target = parse_amount(option, text, place);
        } else if constexpr (std::is_same_v<Value, double>) {
          *target = parse_real(text, place);
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          target->push_back(text);
        } else if constexpr (!std::is_same_v<Value, bool>) {
          *target = text;
        }
      },
      option.target);
}

void add(CLI::App& app, const Option& option) {
  if (bool* const* flag = std::get_if<bool*>(&option.target)) {
    app.add_flag(option.names, **flag);
    return;
  }
  const bool many = std::holds_alternative<std::vector<std::string>*>(option.target);
  const std::string name = option.positional ? "positional" + std::to_string(app.get_options().size()) : option.names;
  CLI::Option* added = app.add_option(name, [option](const CLI::results_t& results) {
    for (const std::string& text : results) store(option, text);
    return true;
  });
  if (many) {
    added->expected(option.positional ? -1 : 1)->take_all();
  }
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names = {"--help"};
  for (const Option& option : command.options()) {
    if (option.positional) continue;
    for (const std::string& name : CLI::detail::split(option.names, ',')) names.push_back(name);
  }
  return names;
}

[[noreturn]] void refuse_extra(const Command& command, const std::string& extra) {
  const std::string name = extra.substr(0, extra.find('='));
  const bool runs = std::any_of(command.options().begin(), command.options().end(), [](const Option& o) {
    return o.positional && o.metavar == "COMMAND" && o.is_required;
  });
  const auto mark = std::find(command.arguments().begin(), command.arguments().end(), "--");
  if (name.starts_with("-") && runs && mark == command.arguments().end())
    throw Error("{} is not an option of this command: write -- before the command that is to be run", name);
  if (name.starts_with("-"))
    throw Error("{} is not an option of this command{}", name, did_you_mean(name, option_names(command)));
  throw Error("'{}' is one argument too many: leave it out", extra);
}

bool is_given(const CLI::App& app, const Option& option, std::size_t positional_index) {
  const CLI::Option* known = option.positional
                                 ? app.get_option_no_throw("positional" + std::to_string(positional_index))
                                 : app.get_option_no_throw(option.names.substr(0, option.names.find(',')));
  return known != nullptr && known->count() > 0;
}

/// Times with and without a unit: a tick of one would be a nanosecond, and of the other anything.
void refuse_mixed_units(const Command& command, const CLI::App& app) {
  std::string with, without;
  for (const Option& option : command.options()) {
    const CLI::Option* given = option.metavar == "TICKS" ? app.get_option_no_throw(shown_name(option)) : nullptr;
    if (given == nullptr || given->count() == 0 || given->results().front() == "0") continue;
    const std::string text = given->results().front();
    std::int64_t value = 0;
    (with_unit(text, kTimes, value) ? with : without) = fmt::format("{} {}", shown_name(option), text);
  }
  if (!with.empty() && !without.empty())
    throw Error("{} has a unit and {} has none: give all times one, or none", with, without);
}

/// "--report -- ./app": the mark behind which a command begins is no value, and the parser would take it for one.
void refuse_mark_as_value(const Command& command, const std::vector<std::string>& arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.begin() || mark == arguments.end()) return;
  const std::string& before = *(mark - 1);
  for (const Option& option : command.options()) {
    const bool named = ("," + option.names + ",").find("," + before + ",") != std::string::npos;
    if (named && !option.positional && !option.metavar.empty()) throw Error("{} needs a value", before);
  }
}

}  // namespace

std::int64_t parse_integer(const std::string& text, const std::string& place) {
  std::string plain = text;
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  std::int64_t value = 0;
  const std::size_t mark = plain.find_first_of("eE^");
  const bool good = mark == std::string::npos
                        ? digits_to(plain, value)
                        : power_to(std::string_view(plain).substr(0, mark), std::string_view(plain).substr(mark + 1),
                                   plain[mark] != '^', value);
  if (!good) throw Error("{}: '{}' is not a whole number below 2^63: write e.g. 8, 1e6 or 10^9", place, text);
  return value;
}

void parse(Command& command, const std::vector<std::string>& arguments) {
  command.keep(arguments);
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  std::vector<std::size_t> index_of;
  for (const Option& option : command.options()) {
    index_of.push_back(app.get_options().size());
    add(app, option);
  }
  refuse_mark_as_value(command, arguments);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    // "-L: 1 required …": the option stands before the colon.
    const std::string text = error.what();
    const bool twice = text.find("received") != std::string::npos;
    const std::string name = text.substr(0, text.find(':'));
    const char* const fault = twice ? "is given more than once" : "needs a value";
    throw Error("{} {}{}", name, fault, twice && name == "-o" ? fmt::format(": {}", kOverheadOrFile) : "");
  } catch (const CLI::ParseError& error) {
    throw Error("{}", error.what());
  }
  refuse_mixed_units(command, app);
  for (const std::string& extra : app.remaining()) {
    if (extra != "--") refuse_extra(command, extra);  // the mark itself is not an argument
  }
  for (std::size_t i = 0; i < command.options().size(); ++i) {
    const Option& option = command.options()[i];
    if (!option.is_required || is_given(app, option, index_of[i])) continue;
    const std::string remedy =
        option.allowed.empty() ? option.help : fmt::format("one of {}", fmt::join(option.allowed, ", "));
    throw Error("{} is missing ({})", shown_name(option), remedy);
  }
}

}  // namespace chasqui::cli
