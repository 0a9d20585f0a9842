// SPDX-License-Identifier: MIT
#include "cli/launch/preloaded.hpp"

#include <cstdlib>

namespace chasqui::cli {

std::string preloaded(Launching& command, const std::string& first, const std::string& library) {
  const std::string name = "LD_PRELOAD", setting = name + "=";
  const auto joined = [&](const std::string& theirs) {
    return (first.empty() ? "" : first + ":") + (theirs.empty() ? "" : theirs + ":") + library;
  };
  const char* const value = std::getenv(name.c_str());
  std::string theirs = value != nullptr ? value : "";
  auto& words = command.words;
  for (std::size_t i = 0; i < command.at; ++i) {
    if (!words[i].starts_with(setting)) continue;
    theirs = words[i].substr(setting.size());
    words[i] = setting + joined(theirs);  // which is what a launcher that hands on its environment has
  }
  for (std::size_t i = command.at + 1; i < words.size(); ++i) {
    const std::string& before = words[i - 1];
    if (words[i].starts_with(setting)) words[i] = setting + joined(words[i].substr(setting.size()));
    else if (words[i] == name && before == "-x")
      words[i] = setting + joined(theirs);  // as in the launcher's environment
    else if (before == name && (words[i - 2] == "-genv" || words[i - 2] == "-env")) words[i] = joined(words[i]);
  }
  return joined(theirs);
}

}  // namespace chasqui::cli
