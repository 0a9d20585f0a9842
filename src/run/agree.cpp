// SPDX-License-Identifier: MIT
#include "chasqui/run/agree.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::run {
namespace {

struct Parameter {
  const char* name;
  Estimate Level::*member;
};
constexpr Parameter kMessages[] = {{"L", &Level::L}, {"o_s", &Level::o_s}, {"o_r", &Level::o_r},
                                   {"g", &Level::g}, {"G", &Level::G},     {"B", &Level::B}};
constexpr Parameter kBoard[] = {{"publish", &Level::publish}, {"publish_per_rank", &Level::publish_per_rank},
                                {"copy", &Level::copy}};

}  // namespace

std::vector<Comparison> compare(const Profile& before, const Profile& now) {
  std::vector<Comparison> list;
  for (const Level& old : before.levels) {
    const Level* fresh = now.level(old.name);
    if (fresh == nullptr || old.assumed || fresh->assumed) continue;
    if (old.ranks != fresh->ranks) {
      throw Error("the profile is of {} ranks and this run has {}: measure the same number again", old.ranks, fresh->ranks);
    }
    if (old.threads != fresh->threads) {
      throw Error("the profile is of {} and this run has {}: {} --mpi", old.threads ? "threads" : "processes",
                  fresh->threads ? "threads" : "processes", old.threads ? "leave out" : "add");
    }
    for (const auto& p : kMessages) list.push_back({old.name + " " + p.name, old.*p.member, fresh->*p.member});
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

std::string to_text(const std::vector<Comparison>& comparisons) {
  const auto interval = [](const Estimate& e) { return fmt::format("{:.4g} ({:.3g} .. {:.3g})", e.value, e.low, e.high); };
  std::string text = fmt::format("{:<21} {:<26} {:<26}\n", "parameter", "before", "now");
  std::size_t apart = 0;
  for (const Comparison& c : comparisons) {
    text += fmt::format("{:<21} {:<26} {:<26}{}\n", c.name, interval(c.before), interval(c.now), c.agrees() ? "" : " <");
    apart += c.agrees() ? 0 : 1;
  }
  return text + (apart == 0 ? std::string("all intervals meet\n")
                            : fmt::format("{} of {} intervals do not meet (<): was the machine quiet both times?\n", apart,
                                          comparisons.size()));
}

}  // namespace chasqui::run
