// SPDX-License-Identifier: MIT
#include "cli/plans/claim.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "chasqui/show/timeline.hpp"

namespace chasqui::cli {
namespace {

constexpr std::size_t kClaimColumn = 14;
constexpr std::size_t kMostRows = 100'000;  ///< of a rank that are printed; of more those at the ends
constexpr std::size_t kEndRows = 10;

std::string carried(const plan::Plan& plan, const Send& send) {
  if (plan.problem().kind == Kind::alltoall) return fmt::format("item {}", send.item_number());
  show::Timeline timeline;
  timeline.P = plan.machine().P;
  timeline.combining = !names_items(plan.problem());
  const std::string text = show::carried({send.from, send.to, {}, {}, send.part, send.second}, timeline);
  return timeline.combining ? "ranks " + text : text;
}

using Json = nlohmann::ordered_json;

Json claim_object(const plan::Plan& plan) {
  const LogP& machine = plan.machine();
  const Problem& problem = plan.problem();
  const plan::Claim& claim = plan.claim();
  Json object;
  object["collective"] = to_string(problem.kind);
  object["machine"] = {{"P", machine.P}, {"L", machine.L.ticks}, {"o", machine.o.ticks}, {"g", machine.g.ticks}};
  if (const Nodes& nodes = plan.nodes(); !nodes.empty()) {
    Json sizes = Json::array();
    for (const Nodes::Run& run : nodes.runs) sizes.push_back(Json::array({run.count, run.size}));
    object["nodes"] = {
        {"sizes", sizes}, {"gamma", nodes.gamma.ticks}, {"publish", nodes.publish.ticks}, {"read", nodes.read.ticks}};
  }
  if (has_root(problem.kind)) object["root"] = problem.root.index;
  object["items"] = problem.items;
  if (combines(problem.kind)) object["commutative"] = problem.commutative;
  if (problem.kind == Kind::scan) object["exclusive"] = problem.exclusive;
  object["finish"] = claim.finish.ticks;
  object["bound"] = claim.bound.ticks;
  object["optimal"] = claim.optimal();
  object["gap"] = claim.gap().ticks;
  object["bound_source"] = claim.bound_source;
  object["construction"] = claim.construction;
  return object;
}

Json send_object(const Send& send, bool combining) {
  Json object = {{"t", send.begin.ticks}, {"from", send.from.index}, {"to", send.to.index}};
  if (!combining) {
    object["item"] = send.item_number();
  } else if (send.second.len > 0) {
    object["parts"] = {{send.part.lo, send.part.len}, {send.second.lo, send.second.len}};
  } else {
    object["lo"] = send.part.lo;
    object["len"] = send.part.len;
  }
  return object;
}

/// How far above the bound a finish may be. Rounded up: the words are "at most".
std::string above(const plan::Claim& claim) {
  const double bound = static_cast<double>(std::max<std::int64_t>(1, claim.bound.ticks));
  const double gap = static_cast<double>(claim.gap().ticks);
  if (gap >= 10 * bound) return fmt::format("at most {:.0f} times the bound", std::ceil((bound + gap) / bound));
  return fmt::format("at most {:.1f}% above the bound", std::ceil(1000 * gap / bound) / 10);
}

}  // namespace

std::string machine_text(const plan::Plan& plan) {
  return plan.nodes().empty() ? to_string(plan.machine()) : to_string(Cluster{plan.machine(), plan.nodes()});
}

std::string claim_text(const plan::Plan& plan, const Output& out) {
  const plan::Claim& claim = plan.claim();
  const auto width = static_cast<std::size_t>(out.width());
  const std::string verdict =
      claim.optimal() ? out.good("optimal") : fmt::format("gap {}: {}", claim.gap().ticks, above(claim));
  const char* measure = plan.problem().kind == Kind::stream ? "delay" : "finish";
  std::string text = fmt::format("{:<13} {} ({})\n", measure, claim.finish.ticks, verdict);
  text +=
      "lower bound   " + wrap(fmt::format("{}, {}", claim.bound.ticks, claim.bound_source), kClaimColumn, width) + "\n";
  text += "construction  " + wrap(claim.construction, kClaimColumn, width) + "\n";
  return text;
}

std::string local_text(const plan::Plan& plan, const LocalForm& local, const Output& out) {
  const LogP& machine = plan.machine();
  std::string text;
  if (plan.problem().kind == Kind::sum) text += fmt::format("operands      {}\n", local.operands);
  text += "\n" + out.bold(fmt::format("     {:>15} {:>20} {:>11}  {}", "begin", "available", "rank", "carries")) + "\n";
  const std::size_t rows = local.receives.size() + local.sends.size() + local.adds.size() + local.publications.size() +
                           local.readings.size();
  std::size_t before = 0;
  const auto left_out = [&] {  // of a table that nobody reads row by row
    const std::size_t row = before++;
    if (rows <= kMostRows || row < kEndRows || row >= rows - kEndRows) return false;
    if (row == kEndRows) text += fmt::format("...  {} more rows: --json has them all\n", rows - 2 * kEndRows);
    return true;
  };
  const auto row = [&](const Send& send, Time time, const char* direction, Rank other) {
    if (left_out()) return;
    text += fmt::format("{:<4} {:>15} {:>20} {:>11}  {}\n", direction, time.ticks, available(machine, send).ticks,
                        other.index, carried(plan, send));
  };
  for (const Send& send : local.receives) row(send, reception_begin(machine, send), "from", send.from);
  for (const Send& send : local.sends) row(send, send.begin, "to", send.to);
  for (const Add& add : local.adds) {
    if (left_out()) continue;
    const bool own = add.from == local.rank;
    text += fmt::format("add  {:>15} {:>20} {:>11}  {}\n", add.begin.ticks, add.begin.ticks + add.count, add.from.index,
                        own ? fmt::format("{} operands of its own", add.count) : "the value received");
  }
  const auto board = [&](const char* what, Time begin, Time length, const std::string& other, const Part& part,
                         const Part& second) {
    if (left_out()) return;
    text += fmt::format("{:<4} {:>15} {:>20} {:>11}  {}\n", what, begin.ticks, (begin + length).ticks, other,
                        carried(plan, {begin, {}, {}, part, second}));
  };
  for (const Publication& p : local.publications)
    board("put", p.begin, plan.nodes().publish, "board", p.part, p.second);
  for (const Reading& r : local.readings)
    board("read", r.begin, plan.nodes().read, fmt::format("{}", r.from.index), r.part, r.second);
  if (local.sends.empty() && local.receives.empty() && local.publications.empty() && local.readings.empty())
    text += "nothing to send or receive\n";
  return text;
}

std::string claim_json(const plan::Plan& plan) { return claim_object(plan).dump(2) + "\n"; }

std::string local_json(const plan::Plan& plan, const LocalForm& local) {
  Json object = claim_object(plan);
  const bool combining = !names_items(plan.problem());
  object["rank"] = local.rank.index;
  object["sends"] = Json::array();
  object["receives"] = Json::array();
  for (const Send& send : local.sends) object["sends"].push_back(send_object(send, combining));
  for (const Send& send : local.receives) object["receives"].push_back(send_object(send, combining));
  if (!plan.nodes().empty()) {
    object["publications"] = Json::array();
    object["readings"] = Json::array();
    const auto on_board = [&](Time begin, Rank from, const Part& part, const Part& second) {
      Json entry = send_object({begin, from, {}, part, second}, combining);
      entry.erase("to");
      return entry;
    };
    for (const Publication& p : local.publications) {
      Json entry = on_board(p.begin, {}, p.part, p.second);
      entry.erase("from");
      object["publications"].push_back(std::move(entry));
    }
    for (const Reading& r : local.readings) object["readings"].push_back(on_board(r.begin, r.from, r.part, r.second));
  }
  if (plan.problem().kind == Kind::sum) {
    object["operands"] = local.operands;
    object["adds"] = Json::array();
    for (const Add& add : local.adds) {
      object["adds"].push_back(Json{{"t", add.begin.ticks}, {"from", add.from.index}, {"count", add.count}});
    }
  }
  return object.dump(2) + "\n";
}

}  // namespace chasqui::cli
