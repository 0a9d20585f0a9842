// SPDX-License-Identifier: MIT
#include "run/choose/selection.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "run/choose/leaders.hpp"

namespace chasqui::run {

Selection::Selection(const Topology& topology, BoardMethods methods, std::shared_ptr<const Profile> profile)
    : topology_(topology), methods_(std::move(methods)), profile_(std::move(profile)) {
  force({});
}

void Selection::force(std::optional<Choice> choice) {
  forced_ = std::move(choice);
  by_table_ = topology_.board_spans() && topology_.ranks > 1 && !forced_;
}

std::string Selection::objection(const Call& call, Among among) const {
  if (!forced_) return {};
  if (call.uneven() && forced_->method != uneven_method(call, topology_) && topology_.ranks > 1)
    return "blocks of different lengths go another way";
  std::string why = run::objection(*forced_, query_of(call), topology_, methods_);
  if (why.empty() && among == Among::ours && forced_->method == Method::native) why = "it cannot be started";
  return why;
}

/// Groups would be brackets.
std::optional<Method> Selection::in_order(const Call& call) const {
  const auto method = methods_.ours(call.kind, call.bytes(), call.element);
  return method == Method::grouped_fold || method == Method::level_fold ? Method::slots : method;
}

bool Selection::gathers(const Call& call) const {
  if (!call.op.in_order || topology_.ranks == 1 || (call.count == 0 && !call.uneven()) || !combines(call.kind))
    return false;
  return !topology_.board_spans() || (forced_ && !on_board(forced_->method)) || !in_order(call);
}

std::vector<Choice> Selection::choices_for(const Call& call) const {
  if (call.uneven()) return {{uneven_method(call, topology_), 0, 1, "blocks of different lengths"}};
  return choices(query_of(call), topology_, *profile_, methods_);
}

Choice Selection::choose(const Call& call, Among among) {
  if (forced_) return {forced_->method, forced_->nanoseconds, forced_->parts, {}};
  if (call.uneven()) return {uneven_method(call, topology_), 0, 1, {}};
  if (topology_.board_spans()) {
    const auto method = among == Among::all ? look_up(call)
                        : call.op.in_order  ? in_order(call)
                                            : methods_.ours(call.kind, call.bytes(), call.element);
    if (method) return {*method, 0, 1, {}};
  }
  return choices_.get({call.kind, call.bytes(), call.element, call.op.commutative, among}, [&] {
    const auto list = choices_for(call);
    const auto chosen = std::find_if(list.begin(), list.end(), [among](const Choice& each) {
      return among == Among::all || each.method != Method::native;
    });
    Choice choice = chosen != list.end() ? *chosen : Choice{};
    choice.why.clear();  // its words would be copied from task to task
    return choice;
  });
}

const Choice& Selection::between_leaders(const Call& call) {
  const Query query = query_of(call);
  return leaders_.get({query.kind, query.bytes, query.element, query.commutative, Among::ours},
                      [&] { return leaders_choice(query, topology_, *profile_); });
}

}  // namespace chasqui::run
