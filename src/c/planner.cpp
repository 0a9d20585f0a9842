// SPDX-License-Identifier: MIT
// The planner for C: the commands of the command line, with their options from a JSON object and their output in a text.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "c/boundary.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/nearest.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {

CommandPtr make_plan_command();
CommandPtr make_bound_command();
CommandPtr make_verify_command();
CommandPtr make_simulate_command();
CommandPtr make_draw_command();

}  // namespace chasqui::cli

namespace chasqui::c {
namespace {

using Json = nlohmann::json;

/// A stream that writes into memory.
class MemoryStream {
 public:
  MemoryStream() : stream_(open_memstream(&bytes_, &size_)) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~MemoryStream() {
    std::fclose(stream_);
    std::free(bytes_);
  }
  MemoryStream(const MemoryStream&) = delete;
  MemoryStream& operator=(const MemoryStream&) = delete;

  std::FILE* stream() { return stream_; }
  std::string text() {
    if (std::fflush(stream_) != 0) throw std::bad_alloc();
    return {bytes_, size_};
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

/// "non_commutative" or "non-commutative" → "--non-commutative", "P" → "-P", as the command spells it.
std::string spelled(const cli::Command& command, std::string key) {
  for (char& c : key) c = c == '_' ? '-' : c;
  std::vector<std::string> known;
  for (const cli::Option& option : command.options()) {
    if (option.positional) continue;
    const std::string name = option.names.substr(0, option.names.find(','));
    known.push_back(name.substr(name.find_first_not_of('-')));
    if (known.back() == key) return name;
  }
  throw Error("options: '{}' is not an option of {}{}", key, command.name(), cli::did_you_mean(key, known));
}

void add(std::vector<std::string>& arguments, const std::string& name, const Json& value) {
  if (value.is_array()) {
    for (const Json& one : value) add(arguments, name, one);
  } else if (value.is_boolean()) {
    if (value.get<bool>()) arguments.push_back(name);
  } else if (value.is_string() || value.is_number()) {
    arguments.push_back(name);
    arguments.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  } else if (!value.is_null()) {
    throw Error("options: {} is a {}: give a number, a text, true or an array of them", name, value.type_name());
  }
}

/// Runs a command on its subject: a collective's name, or "-" for `input`.
void ask(cli::CommandPtr command, const std::string& subject, const char* input, const char* options, bool json,
         char** result) {
  *given(result, "the place of the result") = nullptr;
  constexpr const char* kExample = R"(write an object such as {"P": 8, "L": 6})";
  const Json object = options == nullptr ? Json::object() : json_document(options, "options", kExample);
  if (!object.is_object()) throw Error("options: not a JSON object: {}", kExample);
  std::vector<std::string> arguments{subject};
  for (const auto& [key, value] : object.items()) {
    const std::string name = spelled(*command, key);
    if (name != "--json") add(arguments, name, value);
  }
  if (json) arguments.emplace_back("--json");
  if (input != nullptr) command->feed(input);
  cli::silence_progress();
  MemoryStream output, remarks;
  cli::Output out(output.stream(), false, true, 80, remarks.stream());
  cli::parse(*command, arguments);
  command->run(out);
  last_words() = remarks.text();
  *result = copied(output.text());
}

}  // namespace
}  // namespace chasqui::c

extern "C" {

using namespace chasqui;

int chasqui_plan(const char* collective, const char* options, char** schedule) {
  return c::guarded(
      [&] { c::ask(cli::make_plan_command(), c::given(collective, "collective"), nullptr, options, true, schedule); });
}

int chasqui_bound(const char* collective, const char* options, char** claim) {
  return c::guarded(
      [&] { c::ask(cli::make_bound_command(), c::given(collective, "collective"), nullptr, options, true, claim); });
}

int chasqui_verify(const char* schedule, const char* options, char** report) {
  return c::guarded(
      [&] { c::ask(cli::make_verify_command(), "-", c::given(schedule, "schedule"), options, true, report); });
}

int chasqui_simulate(const char* schedule, const char* options, char** result) {
  return c::guarded(
      [&] { c::ask(cli::make_simulate_command(), "-", c::given(schedule, "schedule"), options, true, result); });
}

int chasqui_draw(const char* schedule, const char* options, char** picture) {
  return c::guarded(
      [&] { c::ask(cli::make_draw_command(), "-", c::given(schedule, "schedule"), options, false, picture); });
}

}  // extern "C"
