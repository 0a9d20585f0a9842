// SPDX-License-Identifier: MIT
#include "measure/compare_profiles.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::measure {
namespace {

struct Parameter {
  const char* name;
  Estimate Level::*member;
};
constexpr Parameter kMessages[] = {{"L", &Level::L}, {"o_s", &Level::o_s}, {"o_r", &Level::o_r},
                                   {"g", &Level::g}, {"G", &Level::G},     {"B", &Level::B}};
constexpr Parameter kBoard[] = {
    {"publish", &Level::publish}, {"publish_per_rank", &Level::publish_per_rank}, {"copy", &Level::copy}};

/// Where both have measured them.
constexpr Parameter kNodes[] = {
    {"node_g", &Level::node_g}, {"node_G", &Level::node_G}, {"write", &Level::write}, {"read", &Level::read}};

void check_alike(const Level& before, std::int64_t ranks, bool threads) {
  if (before.threads != threads) {
    throw Error("the profile is of {} and this run has {}: {} --mpi", before.threads ? "threads" : "processes",
                threads ? "threads" : "processes", before.threads ? "leave out" : "add");
  }
  if (before.ranks == ranks) return;
  throw Error("the profile is of {} ranks and this run has {}: measure the same number again", before.ranks, ranks);
}

}  // namespace

void check_comparable(const Profile& before, std::int64_t ranks, bool threads) {
  Level measured;
  for (const Level& level : before.levels) {
    measured.ranks = std::max(measured.ranks, level.ranks);
    measured.threads = measured.threads || level.threads;
  }
  check_alike(measured, ranks, threads);
}

std::vector<Comparison> compare(const Profile& before, const Profile& now) {
  std::vector<Comparison> list;
  for (const Level& old : before.levels) {
    const Level* fresh = now.level(old.name);
    if (fresh == nullptr || old.assumed || fresh->assumed) continue;
    check_alike(old, fresh->ranks, fresh->threads);
    for (const auto& p : kMessages) list.push_back({old.name + " " + p.name, old.*p.member, fresh->*p.member});
    for (const auto& p : kNodes) {
      if ((old.*p.member).high > 0 && (fresh->*p.member).high > 0)
        list.push_back({old.name + " " + p.name, old.*p.member, fresh->*p.member});
    }
    for (const LaneGap& gap : old.lane_gaps) {
      for (const LaneGap& again : fresh->lane_gaps) {
        if (again.lanes != gap.lanes) continue;
        list.push_back({fmt::format("{} g, {} at once", old.name, gap.lanes), gap.g, again.g});
        list.push_back({fmt::format("{} G, {} at once", old.name, gap.lanes), gap.G, again.G});
      }
    }
    if (old.name != "node") continue;
    for (const auto& p : kBoard) list.push_back({old.name + " " + p.name, old.*p.member, fresh->*p.member});
  }
  list.push_back({"bsp g", before.bsp_g, now.bsp_g});
  list.push_back({"bsp L", before.bsp_L, now.bsp_L});
  return list;
}

bool all_agree(const std::vector<Comparison>& comparisons) {
  return std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison& c) { return c.agrees(); });
}

std::string to_text(const Estimate& e) {
  const auto amount = [](double x) {
    return x < 1e-3 || x >= 999'999.5 ? fmt::format("{:.2g}", x)
           : x < 999.5                ? fmt::format("{:.3g}", x)
                                      : fmt::format("{:.0f}", x);
  };
  if (e.high == 0) return "0 (too small to resolve)";
  if (e.value == 0) return fmt::format("at most {}", amount(e.high));
  return fmt::format("{} ({} .. {})", amount(e.value), amount(e.low), amount(e.high));
}

std::string to_text(const std::vector<Comparison>& comparisons) {
  std::size_t width = 25;
  for (const Comparison& c : comparisons) width = std::max({width, to_text(c.before).size(), to_text(c.now).size()});
  std::string text = fmt::format("{:<21} {:<{}} {}\n", "parameter", "before", width, "now");
  std::size_t apart = 0;
  for (const Comparison& c : comparisons) {
    text += c.agrees()
                ? fmt::format("{:<21} {:<{}} {}\n", c.name, to_text(c.before), width, to_text(c.now))
                : fmt::format("{:<21} {:<{}} {:<{}}<\n", c.name, to_text(c.before), width, to_text(c.now), width);
    apart += c.agrees() ? 0 : 1;
  }
  return text + (apart == 0 ? std::string("all intervals meet\n")
                            : fmt::format("{} of {} intervals do not meet (<): was the machine quiet both times?\n",
                                          apart, comparisons.size()));
}

std::string to_table(const Profile& profile) {
  constexpr const char* kUnits[] = {"ns", "ns", "ns", "ns", "ns a byte", "bytes"};
  constexpr const char* kMeanings[] = {"latency",           "the sender is busy",     "the receiver is busy",
                                       "between two sends", "each byte of a message", "bytes cost as the start"};
  std::string text;
  const auto line = [&](const std::string& name, const Estimate& e, const char* unit, const char* meaning) {
    text += fmt::format("{:<16} {:<27} {:<9}  {}\n", name, to_text(e), unit, meaning);
  };
  for (const Level& level : profile.levels) {
    if (level.assumed) continue;
    text += fmt::format("{}, {} ranks: median (interval)\n", level.name, level.ranks);
    for (std::size_t i = 0; i < std::size(kMessages); ++i)
      line(kMessages[i].name, level.*kMessages[i].member, kUnits[i], kMeanings[i]);
    if (level.node_g.high > 0) line("node_g", level.node_g, "ns", "between two sends of a node");
    if (level.node_G.high > 0) line("node_G", level.node_G, "ns a byte", "when all ranks of a node send");
    for (const LaneGap& gap : level.lane_gaps) {
      line(fmt::format("g, {} at once", gap.lanes), gap.g, "ns", "so many ranks of a node");
      line(fmt::format("G, {} at once", gap.lanes), gap.G, "ns a byte", "the same, each byte");
    }
    if (level.name != "node") continue;
    line("publish", level.publish, "ns", "a line to all readers");
    if (level.write.high > 0) line("write", level.write, "ns", "its writer is busy");
    if (level.read.high > 0) line("read", level.read, "ns", "a late reader is busy");
    line("publish_per_rank", level.publish_per_rank, "ns", "each further line");
    line("copy", level.copy, "ns a byte", "when all copy");
    for (std::size_t i = 0; i < kSharedKinds; ++i) {
      const std::string_view what = to_string(static_cast<Shared>(i));
      if (level.near[i].high > 0)
        line(fmt::format("near, {}", what), level.near[i], "of it", "publish where ranks share that");
    }
  }
  line("bsp g", profile.bsp_g, "ns a word", "in a superstep");
  line("bsp L", profile.bsp_L, "ns", "a superstep");
  return text;
}

}  // namespace chasqui::measure
