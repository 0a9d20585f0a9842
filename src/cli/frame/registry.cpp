// SPDX-License-Identifier: MIT
// The table of commands, generated from the chasqui_command lines of src/cli/CMakeLists.txt.
#include "cli/frame/command.hpp"

namespace chasqui::cli {

#define CHASQUI_COMMAND(identifier, name) CommandPtr make_##identifier##_command();
#define CHASQUI_COMMAND_MISSING(name, room)
#include "commands.inc"
#undef CHASQUI_COMMAND
#undef CHASQUI_COMMAND_MISSING

const std::vector<CommandEntry>& command_entries() {
  static const std::vector<CommandEntry> entries = {
#define CHASQUI_COMMAND(identifier, name) {name, &make_##identifier##_command, {}},
#define CHASQUI_COMMAND_MISSING(name, room) {name, nullptr, room},
#include "commands.inc"
#undef CHASQUI_COMMAND
#undef CHASQUI_COMMAND_MISSING
  };
  return entries;
}

}  // namespace chasqui::cli
