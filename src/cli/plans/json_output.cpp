// SPDX-License-Identifier: MIT
#include "cli/plans/json_output.hpp"

#include <nlohmann/json.hpp>

namespace chasqui::cli {
namespace {

using Json = nlohmann::ordered_json;

Json claim_object(const plan::Plan& plan) {
  const LogP& machine = plan.machine();
  const Problem& problem = plan.problem();
  const plan::Claim& claim = plan.claim();
  Json object;
  object["collective"] = to_string(problem.kind);
  object["machine"] = {{"P", machine.P}, {"L", machine.L.ticks}, {"o", machine.o.ticks}, {"g", machine.g.ticks}};
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
    object["item"] = send.part.lo;
  } else if (send.second.len > 0) {
    object["parts"] = {{send.part.lo, send.part.len}, {send.second.lo, send.second.len}};
  } else {
    object["lo"] = send.part.lo;
    object["len"] = send.part.len;
  }
  return object;
}

}  // namespace

std::string claim_json(const plan::Plan& plan) { return claim_object(plan).dump(2) + "\n"; }

std::string local_json(const plan::Plan& plan, const LocalForm& local) {
  Json object = claim_object(plan);
  const bool combining = !names_items(plan.problem());
  object["rank"] = local.rank.index;
  object["sends"] = Json::array();
  object["receives"] = Json::array();
  for (const Send& send : local.sends) object["sends"].push_back(send_object(send, combining));
  for (const Send& send : local.receives) object["receives"].push_back(send_object(send, combining));
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
