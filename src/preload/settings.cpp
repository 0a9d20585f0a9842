// SPDX-License-Identifier: MIT
#include "settings.hpp"

#include <mpi.h>
#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "chasqui/base/error.hpp"
#include "preload/handshake.hpp"

namespace chasqui::preload {
namespace {

const char* variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

bool flag(const char* name) {
  const char* text = variable(name);
  return text != nullptr && std::strcmp(text, "0") != 0;
}

std::int64_t number(const char* name, std::int64_t otherwise, std::string& warnings) {
  const char* text = variable(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (*end == '\0' && value >= 0 && value <= 1'000'000'000) return value;
  warnings += fmt::format("{}={}: not a number of 0 or more; {} is used. ", name, text, otherwise);
  return otherwise;
}

void disable(Settings& s, const char* list, std::string& warnings) {
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (strncasecmp(word.c_str(), "MPI_", 4) == 0) word.erase(0, 4);
    bool known = false;
    for (int i = 0; i < kCollectives; ++i) {
      const bool same = strcasecmp(word.c_str(), std::string(kNames[i]).c_str()) == 0;
      if (!same && strcasecmp(word.c_str(), "all") != 0) continue;
      s.disabled[i] = true;
      known = true;
    }
    if (!known && !word.empty()) warnings += fmt::format("CHASQUI_DISABLE: there is no collective {}. ", word);
  }
}

/// The text of CHASQUI_PROFILE as rank 0 reads it, on every rank. Collective.
std::shared_ptr<const Profile> common_profile(int rank, std::string& warnings) {
  const char* path = variable("CHASQUI_PROFILE");
  std::string text;
  if (rank == 0 && path != nullptr) {
    std::ifstream file(path);
    std::stringstream all;
    all << file.rdbuf();
    text = file ? all.str() : std::string();
    if (text.empty()) warnings += fmt::format("CHASQUI_PROFILE={}: cannot be read; defaults are used. ", path);
  }
  long long length = static_cast<long long>(text.size());
  if (length > (1 << 26)) length = 0;
  PMPI_Bcast(&length, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) PMPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  if (length > 0) {
    try {
      Profile profile = profile_from_json(text, path != nullptr ? path : "CHASQUI_PROFILE");
      if (!profile.levels.empty()) return std::make_shared<const Profile>(std::move(profile));
      warnings += "CHASQUI_PROFILE: no levels; defaults are used. ";
    } catch (const std::exception& error) {
      warnings += fmt::format("{}; defaults are used. ", error.what());
    }
  }
  return std::make_shared<const Profile>(default_profile());
}

}  // namespace

Settings& settings() {
  static Settings* const one = new Settings;  // alive until the process ends, whoever exits how
  return *one;
}

void say(const std::string& text) { std::fprintf(stderr, "chasqui: %s\n", text.c_str()); }

std::uint64_t Settings::hash() const {
  std::uint64_t value = 1469598103934665603u;
  const auto mix = [&value](std::uint64_t part) { value = (value ^ part) * 1099511628211u; };
  for (const bool off : disabled) mix(off ? 1 : 2);
  for (const bool on : {verify, reproducible, !report.empty()}) mix(on ? 1 : 2);
  for (const auto each : {after, trials, node_size}) mix(static_cast<std::uint64_t>(each));
  return value;
}

bool read_settings() {
  Settings& s = settings();
  std::string warnings;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  s.log = flag("CHASQUI_LOG");
  s.verify = flag("CHASQUI_VERIFY");
  s.reproducible = flag("CHASQUI_REPRODUCIBLE");
  if (const char* path = variable("CHASQUI_REPORT")) s.report = path;
  s.after = number("CHASQUI_AFTER", s.after, warnings);
  s.trials = number("CHASQUI_TRIALS", s.trials, warnings);
  s.join = number("CHASQUI_JOIN", s.join, warnings);
  s.node_size = number("CHASQUI_NODE_SIZE", s.node_size, warnings);
  if (const char* list = variable("CHASQUI_DISABLE")) disable(s, list, warnings);
  const Joined joined = join(s.hash(), s.join);
  if (joined == Joined::all_alike) s.profile = common_profile(rank, warnings);
  if (rank == 0 && !warnings.empty()) say(warnings.substr(0, warnings.size() - 1));
  if (rank == 0 && joined == Joined::different)
    say("the ranks have different CHASQUI_ variables: everything goes to the MPI library");
  return joined == Joined::all_alike;
}

}  // namespace chasqui::preload
