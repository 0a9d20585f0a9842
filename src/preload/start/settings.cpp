// SPDX-License-Identifier: MIT
#include "preload/start/settings.hpp"

#include <mpi.h>
#include <strings.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <thread>

#include "chasqui/base/error.hpp"
#include "chasqui/base/version.hpp"
#include "mpi/profile.hpp"
#include "preload/native.hpp"
#include "preload/start/gpu.hpp"
#include "preload/start/handshake.hpp"
#include "run/call/patience.hpp"

namespace chasqui::preload {
namespace {

const char* variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

bool flag(const char* name, bool otherwise, std::string& warnings) {
  const char* text = variable(name);
  if (text == nullptr) return otherwise;
  const std::string_view value = text;
  if (value == "0" || value == "1") return value == "1";
  warnings += fmt::format("{}={}: neither 0 nor 1; {} is used. ", name, value, otherwise ? 1 : 0);
  return otherwise;
}

double seconds(const char* name, double otherwise, std::string& warnings) {
  try {
    return run::seconds_of_variable(name, otherwise);
  } catch (const Error& error) {
    warnings += fmt::format("{}; {} is used. ", error.what(), otherwise);
    return otherwise;
  }
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

/// Rank 0's CHASQUI_PROFILE, on every rank; what cannot be used is a warning. Collective.
std::shared_ptr<const Profile> usable_profile(std::string& warnings) {
  try {
    auto profile = mpi::profile_for_all(MPI_COMM_WORLD, nullptr);
    if (!profile->levels.empty()) return profile;
    warnings += "CHASQUI_PROFILE: no levels; defaults are used. ";
  } catch (const std::exception& error) {
    warnings += fmt::format("CHASQUI_PROFILE: {}; defaults are used. ", error.what());
  }
  return std::make_shared<const Profile>(default_profile());
}

/// Collective. One that fails does so before anything is sent.
bool any_rank(bool mine) {
  int given = mine ? 1 : 0, most = 0;
  for (int time = 0; time < 2; ++time) {
    if (CHASQUI_LIBRARY(Allreduce)(&given, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS) return most != 0;
  }
  throw Error("MPI_Allreduce fails twice in MPI_Init: this rank serves nothing");
}

}  // namespace

void say(const std::string& text) { std::fprintf(stderr, "chasqui: %s\n", text.c_str()); }

void say_last(const std::string& text) {
  say(text);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

std::uint64_t Settings::hash() const {
  std::uint64_t value = 1469598103934665603u;
  const auto mix = [&value](std::uint64_t part) { value = (value ^ part) * 1099511628211u; };
  for (const char letter : std::string_view(version())) mix(static_cast<unsigned char>(letter));
  for (const bool off : disabled) mix(off ? 1 : 2);
  for (const bool on : {verify, reproducible, same_bits, gpu, !report.empty()}) mix(on ? 1 : 2);
  for (const auto each : {after, trials, rehearse, node_size, static_cast<std::int64_t>(stall * 1e6)})
    mix(static_cast<std::uint64_t>(each));
  return value;
}

Settings settings_of_environment(std::string& warnings) {
  Settings s;
  s.log = flag("CHASQUI_LOG", s.log, warnings);
  s.verify = flag("CHASQUI_VERIFY", s.verify, warnings);
  s.reproducible = flag("CHASQUI_REPRODUCIBLE", s.reproducible, warnings);
  s.same_bits = flag("CHASQUI_SAME_BITS", s.same_bits, warnings);
  s.gpu = flag("CHASQUI_GPU", s.gpu, warnings);
  if (const char* path = variable("CHASQUI_REPORT")) s.report = path;
  s.after = number("CHASQUI_AFTER", s.after, warnings);
  s.after_is_given = variable("CHASQUI_AFTER") != nullptr;
  s.trials = number("CHASQUI_TRIALS", s.trials, warnings);
  s.rehearse = number("CHASQUI_REHEARSE", s.rehearse, warnings);
  s.join = number("CHASQUI_JOIN", s.join, warnings);
  s.stall = seconds("CHASQUI_STALL_SECONDS", s.stall, warnings);
  s.stall_notice = seconds("CHASQUI_STALL_NOTICE", s.stall_notice, warnings);
  s.node_size = number("CHASQUI_NODE_SIZE", s.node_size, warnings);
  if (const char* list = variable("CHASQUI_DISABLE")) disable(s, list, warnings);
  return s;
}

bool read_settings() {
  std::string warnings;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Settings& s = settings() = settings_of_environment(warnings);
  const Handshake found = shake_hands(s.hash(), s.join);
  const bool gpu = found == Handshake::all_alike && s.gpu && any_rank(takes_gpu_pointers());
  if (found == Handshake::all_alike && !gpu) s.profile = usable_profile(warnings);
  if (rank == 0 && !warnings.empty()) say(warnings.substr(0, warnings.size() - 1));
  if (rank == 0 && found == Handshake::different)
    say("the ranks have different CHASQUI_ variables, or versions of this library: everything goes to the MPI library");
  if (rank == 0 && found == Handshake::impossible)
    say("the launcher keeps no names (MPI_Publish_name), and this MPI leaves the ranks no other way to find out whether all have this "
        "library: everything goes to the MPI library");
  if (rank == 0 && gpu)
    say("this MPI library takes pointers of a GPU, and a host of this job has one: everything goes to the MPI library, as Chasqui could not read such "
        "buffers. If the program's collectives get no pointers of a GPU: `chasqui run --no-gpu`, or CHASQUI_GPU=0");
  return found == Handshake::all_alike && !gpu;
}

}  // namespace chasqui::preload
