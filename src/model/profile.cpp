// SPDX-License-Identifier: MIT
#include "chasqui/model/profile.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json_text.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"

namespace chasqui {
namespace {

using nlohmann::json;

[[noreturn]] void fail(std::string_view place, const std::string& what) {
  throw Error("{}: {} (docs/measure.md describes the file; `chasqui measure --out FILE` writes one)", place, what);
}

void check_keys(const json& object, const std::set<std::string>& required, const std::set<std::string>& optional,
                std::string_view place, const std::string& where) {
  if (!object.is_object()) fail(place, fmt::format("{} must be an object", where));
  for (const auto& [key, value] : object.items()) {
    if (!required.contains(key) && !optional.contains(key))
      fail(place, fmt::format("unknown key \"{}\" in {}", key, where));
  }
  for (const auto& key : required) {
    if (!object.contains(key)) fail(place, fmt::format("{} lacks \"{}\"", where, key));
  }
}

double number(const json& value, std::string_view place, const std::string& where) {
  if (!value.is_number()) fail(place, fmt::format("{} must be a number", where));
  const double x = value.get<double>();
  if (!std::isfinite(x) || x < 0 || x > 1e18) fail(place, fmt::format("{} is {}: expected 0 to 1e18", where, x));
  return x;
}

std::int64_t integer(const json& value, std::string_view place, const std::string& where) {
  const bool fits = value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!fits || value.get<std::uint64_t>() > (std::uint64_t{1} << 62)) {
    fail(place, fmt::format("{} must be a non-negative integer", where));
  }
  return value.get<std::int64_t>();
}

std::string text(const json& value, std::string_view place, const std::string& where) {
  if (!value.is_string()) fail(place, fmt::format("{} must be a string", where));
  return value.get<std::string>();
}

Estimate estimate(const json& value, std::string_view place, const std::string& where) {
  check_keys(value, {"value", "low", "high"}, {}, place, where);
  const Estimate e{number(value["value"], place, where + ".value"), number(value["low"], place, where + ".low"),
                   number(value["high"], place, where + ".high")};
  if (e.low > e.value || e.value > e.high) {
    fail(place, fmt::format("{}: {} is not inside its interval {} .. {}", where, e.value, e.low, e.high));
  }
  return e;
}

json to_value(const Estimate& e) { return {{"value", e.value}, {"low", e.low}, {"high", e.high}}; }

struct Field {
  const char* name;
  Estimate Level::*member;
};
constexpr Field kFields[] = {{"L", &Level::L},
                             {"o_s", &Level::o_s},
                             {"o_r", &Level::o_r},
                             {"g", &Level::g},
                             {"G", &Level::G},
                             {"publish", &Level::publish},
                             {"publish_per_rank", &Level::publish_per_rank},
                             {"copy", &Level::copy},
                             {"B", &Level::B}};

/// Missing where nodes had one rank each, and in older files.
constexpr Field kOptional[] = {
    {"node_g", &Level::node_g}, {"node_G", &Level::node_G}, {"write", &Level::write}, {"read", &Level::read}};

/// By Shared. Missing where no ranks share it, or all do.
constexpr const char* kNear[kSharedKinds] = {"near_core", "near_l2", "near", "near_numa", "near_socket"};

std::vector<LaneGap> lane_gaps_from(const json& value, std::string_view place, const std::string& where) {
  if (!value.is_array()) fail(place, where + " must be an array");
  std::vector<LaneGap> gaps;
  for (const json& entry : value) {
    if (!entry.is_object()) fail(place, where + " must hold objects");
    check_keys(entry, {"lanes", "g", "G"}, {}, place, where);
    const LaneGap gap{integer(entry["lanes"], place, where + ".lanes"), estimate(entry["g"], place, where + ".g"),
                      estimate(entry["G"], place, where + ".G")};
    if (gap.lanes < 1 || (!gaps.empty() && gap.lanes <= gaps.back().lanes))
      fail(place, where + ": lanes must ascend from 1 on");
    gaps.push_back(gap);
  }
  return gaps;
}

Level level_from(const json& value, std::string_view place, const std::string& where) {
  std::set<std::string> required = {"name", "ranks", "switches"};
  for (const auto& field : kFields) required.insert(field.name);
  std::set<std::string> optional = {"shares_bandwidth", "receives_in_parallel", "threads", "assumed", "lane_gaps"};
  for (const auto& field : kOptional) optional.insert(field.name);
  for (const char* const name : kNear) optional.insert(name);
  check_keys(value, required, optional, place, where);
  Level level;
  level.name = text(value["name"], place, where + ".name");
  if (level.name != "node" && level.name != "network") {
    fail(place, fmt::format("{}.name is \"{}\": expected \"node\" or \"network\"", where, level.name));
  }
  level.ranks = integer(value["ranks"], place, where + ".ranks");
  for (const auto& field : kFields) level.*field.member = estimate(value[field.name], place, where + "." + field.name);
  for (const auto& field : kOptional) {
    if (value.contains(field.name)) level.*field.member = estimate(value[field.name], place, where + "." + field.name);
  }
  for (std::size_t i = 0; i < kSharedKinds; ++i) {
    if (value.contains(kNear[i])) level.near[i] = estimate(value[kNear[i]], place, where + "." + kNear[i]);
  }
  if (value.contains("lane_gaps")) level.lane_gaps = lane_gaps_from(value["lane_gaps"], place, where + ".lane_gaps");
  const auto flag = [&](const char* name) {
    if (!value.contains(name)) return false;
    if (!value[name].is_boolean()) fail(place, fmt::format("{}.{} must be true or false", where, name));
    return value[name].get<bool>();
  };
  level.shares_bandwidth = flag("shares_bandwidth");
  level.receives_in_parallel = flag("receives_in_parallel");
  level.threads = flag("threads");
  level.assumed = flag("assumed");
  if (!value["switches"].is_array()) fail(place, where + ".switches must be an array");
  for (const auto& bytes : value["switches"]) level.switches.push_back(integer(bytes, place, where + ".switches"));
  return level;
}

using TimesByName = std::map<std::string, Times>;

TimesByName times_from(const json& value, std::string_view place, const std::string& name) {
  if (!value.is_object()) fail(place, name + " must be an object");
  TimesByName times;
  for (const auto& [kind, points] : value.items()) {
    const auto where = fmt::format("{}.{}", name, kind);
    if (!points.is_array()) fail(place, where + " must be an array");
    auto& list = times[kind];
    for (const auto& point : points) {
      if (!point.is_array() || point.size() != 2) fail(place, where + " must hold pairs [bytes, nanoseconds]");
      const auto bytes = integer(point[0], place, where);
      if (!list.empty() && bytes <= list.back().first) fail(place, where + ": bytes must ascend");
      list.emplace_back(bytes, number(point[1], place, where));
    }
  }
  return times;
}

/// Files written before levels could say so: a network that repeats the node's messages was not measured.
void mark_copies(Profile& profile) {
  const Level* node = profile.level("node");
  for (Level& level : profile.levels) {
    if (level.name != "network" || node == nullptr || level.ranks != node->ranks || level.ranks == 0) continue;
    level.assumed = level.assumed || (level.L == node->L && level.o_s == node->o_s && level.o_r == node->o_r &&
                                      level.g == node->g && level.G == node->G);
  }
}

}  // namespace

double Level::read_share() const {
  const double both = write.value + read.value;
  return both > 0 ? read.value / both : 0.5;
}

double Level::node_gap(double port) const {
  constexpr double kRanksAtATime = 4;
  return node_g.high > 0 || node_G.high > 0 ? node_g.value : port / kRanksAtATime;
}

const Level* Profile::level(std::string_view name) const {
  for (const auto& level : levels) {
    if (level.name == name) return &level;
  }
  return nullptr;
}

bool Profile::knows_network() const {
  const Level* network = level("network");
  return network != nullptr && !network->assumed;
}

Profile default_profile() {
  const auto exactly = Estimate::exactly;
  Level node{"node",       0,           exactly(120),  exactly(40),  exactly(40), exactly(60), exactly(0.1),
             exactly(400), exactly(16), exactly(0.15), exactly(600), {},          false,       false,
             false,        false};
  Level network{"network",    0,          exactly(2000), exactly(400), exactly(400),    exactly(400),
                exactly(0.1), exactly(0), exactly(0),    exactly(0.1), exactly(20'000), {},
                false,        false,      false,         false};
  return {
      "unmeasured", "", "built-in guesses: run `chasqui measure`", {node, network}, exactly(1), exactly(5000), {}, {},
      {},           {}};
}

Profile profile_from_json(std::string_view source, std::string_view place) {
  json root = json_document(source, place, "`chasqui measure --out FILE` writes a profile");
  if (root.is_object() && root.contains("problem"))
    fail(place, "this is a schedule, not a profile: draw, simulate and verify read it");
  check_keys(root, {"chasqui_profile", "host", "when", "how", "levels", "bsp"},
             {"native", "measured", "cross_memory", "across"}, place, "the profile");
  if (root["chasqui_profile"] != 1) fail(place, "chasqui_profile must be 1, the only version there is");
  Profile profile;
  profile.host = text(root["host"], place, "host");
  profile.when = text(root["when"], place, "when");
  profile.how = text(root["how"], place, "how");
  if (!root["levels"].is_array() || root["levels"].empty()) fail(place, "levels must be a non-empty array");
  for (const auto& value : root["levels"]) {
    const auto where = fmt::format("levels[{}]", profile.levels.size());
    Level level = level_from(value, place, where);
    if (profile.level(level.name) != nullptr) fail(place, fmt::format("two levels are named \"{}\"", level.name));
    profile.levels.push_back(std::move(level));
  }
  mark_copies(profile);
  check_keys(root["bsp"], {"g", "L"}, {"G"}, place, "bsp");
  profile.bsp_g = estimate(root["bsp"]["g"], place, "bsp.g");
  profile.bsp_L = estimate(root["bsp"]["L"], place, "bsp.L");
  if (root["bsp"].contains("G")) profile.bsp_G = estimate(root["bsp"]["G"], place, "bsp.G");
  if (root.contains("native")) profile.native = times_from(root["native"], place, "native");
  if (root.contains("measured")) profile.measured = times_from(root["measured"], place, "measured");
  for (const char* key : {"across", "cross_memory"}) {  // older files have the former
    if (root.contains(key)) profile.cross_memory = times_from(root[key], place, key);
  }
  return profile;
}

std::string to_json(const Profile& profile) {
  json levels = json::array();
  for (const auto& level : profile.levels) {
    json value = {{"name", level.name}, {"ranks", level.ranks}, {"switches", level.switches}};
    for (const auto& field : kFields) value[field.name] = to_value(level.*field.member);
    for (const auto& field : kOptional) {
      if ((level.*field.member).high > 0) value[field.name] = to_value(level.*field.member);
    }
    for (std::size_t i = 0; i < kSharedKinds; ++i) {
      if (level.near[i].high > 0) value[kNear[i]] = to_value(level.near[i]);
    }
    for (const LaneGap& gap : level.lane_gaps)
      value["lane_gaps"].push_back({{"lanes", gap.lanes}, {"g", to_value(gap.g)}, {"G", to_value(gap.G)}});
    if (level.shares_bandwidth) value["shares_bandwidth"] = true;
    if (level.receives_in_parallel) value["receives_in_parallel"] = true;
    if (level.threads) value["threads"] = true;
    if (level.assumed) value["assumed"] = true;
    levels.push_back(value);
  }
  json root = {{"chasqui_profile", 1}, {"host", profile.host},
               {"when", profile.when}, {"how", profile.how},
               {"levels", levels},     {"bsp", {{"g", to_value(profile.bsp_g)}, {"L", to_value(profile.bsp_L)}}}};
  if (profile.bsp_G.high > 0) root["bsp"]["G"] = to_value(profile.bsp_G);
  for (const auto& [kind, points] : profile.native) root["native"][kind] = points;
  for (const auto& [kind, points] : profile.measured) root["measured"][kind] = points;
  for (const auto& [kind, points] : profile.cross_memory) root["cross_memory"][kind] = points;
  return root.dump(2) + "\n";
}

Profile read_profile(const std::string& path) {
  return profile_from_json(read_file(path, fmt::format("`chasqui measure --out {}` writes a profile", path)), path);
}

void write_profile(const std::string& path, const Profile& profile) { replace_file(path, to_json(profile)); }

}  // namespace chasqui
