// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"

namespace chasqui::run {
namespace {

std::string duration(double nanoseconds) {
  if (nanoseconds >= 1e9) return fmt::format("{:.3f} s ", nanoseconds / 1e9);
  if (nanoseconds >= 1e6) return fmt::format("{:.3f} ms", nanoseconds / 1e6);
  return fmt::format("{:.3f} us", nanoseconds / 1e3);
}

std::string name_of(const Choice& choice) {
  return choice.parts > 1 ? fmt::format("{} ({})", to_string(choice.method), choice.parts) : std::string(to_string(choice.method));
}

std::string reason(const std::vector<Choice>& list) {
  if (list.size() == 1) return "nothing else applies";
  const double ratio = list[1].nanoseconds / std::max(1e-3, list[0].nanoseconds);
  if (ratio >= 1) return fmt::format("predicted {:.2f} times as fast as the runner-up", ratio);
  if (list[1].method == Method::native) return "the library's own is not faster by a tenth at the sizes measured around";
  return "a board that spans all ranks is used: it notices sizes that disagree";
}

}  // namespace

std::string explain(const Query& query, const Terrain& terrain, const Profile& profile) {
  const auto list = choices(query, terrain, profile);
  std::string text = fmt::format("{} of {} bytes on {} rank{}, {} node{}\n", to_string(query.kind), query.bytes, terrain.ranks,
                                 terrain.ranks == 1 ? "" : "s", terrain.nodes, terrain.nodes == 1 ? "" : "s");
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += fmt::format("{:<9} {:<12} {:>11}  {}\n", i == 0 ? "chosen" : i == 1 ? "runner-up" : "", name_of(list[i]),
                        duration(list[i].nanoseconds), list[i].why);
  }
  text += fmt::format("{:<9} {}\n", "why", reason(list));
  return text;
}

}  // namespace chasqui::run
