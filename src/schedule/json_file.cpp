// SPDX-License-Identifier: MIT
#include "chasqui/base/file.hpp"
#include "chasqui/schedule/json.hpp"

namespace chasqui {

Schedule read_schedule(const std::filesystem::path& path) {
  const std::string text = read_input(path.string(), "give the name of a schedule file");
  return schedule_from_json(text, path == "-" ? "standard input" : path.string());
}

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
  replace_file(path.string(), to_json(schedule));
}

}  // namespace chasqui
