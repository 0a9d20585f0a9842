// SPDX-License-Identifier: MIT
#include "cli/launch/preloaded.hpp"

#include <cstdlib>
#include <string_view>

namespace chasqui::cli {
namespace {

constexpr const char* kName = "LD_PRELOAD";
constexpr std::string_view kSetting = "LD_PRELOAD=";

/// Of a word that sets it.
std::string list_in(const std::string& word) { return word.substr(kSetting.size()); }
std::string setting(const std::string& list) { return std::string(kSetting) + list; }

}  // namespace

std::string Preload::behind(const std::string& theirs) const {
  return (first.empty() ? "" : first + ":") + (theirs.empty() ? "" : theirs + ":") + library;
}

std::string preloaded(const Launching& command) {
  for (std::size_t i = command.at; i-- > 0;) {
    if (command.words[i].starts_with(kSetting)) return list_in(command.words[i]);
  }
  const char* const value = std::getenv(kName);
  return value != nullptr ? value : "";
}

void add_to_lists(Launching& command, const Preload& ours) {
  const std::string theirs = preloaded(command);
  auto& words = command.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto earlier = [&](std::size_t by) { return i > command.at && i >= by ? words[i - by] : std::string(); };
    if (words[i].starts_with(kSetting)) words[i] = setting(ours.behind(list_in(words[i])));
    else if (words[i] == kName && earlier(1) == "-x")  // a launcher that hands on its environment
      words[i] = setting(ours.behind(theirs));
    else if (earlier(1) == kName && (earlier(2) == "-genv" || earlier(2) == "-env")) words[i] = ours.behind(words[i]);
  }
}

}  // namespace chasqui::cli
