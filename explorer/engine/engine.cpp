// SPDX-License-Identifier: MIT
#include "explorer/engine/engine.hpp"

#include <algorithm>
#include <numeric>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/schedule/unroll.hpp"
#include "chasqui/show/draw.hpp"
#include "chasqui/verify/verify.hpp"
#include "explorer/engine/played.hpp"
#include "explorer/engine/question.hpp"

namespace chasqui::explorer {
namespace {

constexpr std::int64_t kMostMessages = 300'000;
constexpr std::size_t kMostDrawn = 20'000;     ///< beyond this a summary replaces chart and table
constexpr std::size_t kMostAnimated = 60'000;  ///< beyond this the animation has no messages

Json about() {
  Json object{{"version", CHASQUI_VERSION}, {"collectives", Json::array()}, {"algorithms", Json::array()}};
  for (const plan::Collective& c : plan::collectives()) {
    if (c.name == "kitem") continue;
    const auto takes = [&c](unsigned option) { return (c.takes & option) != 0; };
    object["collectives"].push_back({{"name", c.name},
                                     {"summary", c.summary},
                                     {"root", takes(plan::kRoot)},
                                     {"items", takes(plan::kItems)},
                                     {"operands", takes(plan::kOperands)},
                                     {"order", takes(plan::kNonCommutative)},
                                     {"exclusive", takes(plan::kExclusive)},
                                     {"algorithm", c.kind == Kind::broadcast || c.kind == Kind::stream}});
  }
  for (const plan::StreamAlgorithm& a : plan::stream_algorithms()) {
    object["algorithms"].push_back({{"name", a.name}, {"summary", a.summary}, {"stream", a.stream != nullptr}});
  }
  return object;
}

/// Nobody waits for a picture of a million messages.
void refuse_too_large(const plan::Plan& plan) {
  const std::int64_t messages = plan::message_count(plan);
  if (messages > kMostMessages) {
    throw Error(
        "about {} messages are too many for this page (at most {}): use a smaller P or k, or the chasqui "
        "command",
        messages, kMostMessages);
  }
}

Json verdict(const Schedule& schedule) {
  VerifyOptions options;
  options.most = 1'000;
  const Report strict = verify(schedule, options);
  Json object{{"legal", strict.legal()}, {"rules", strict.rules}, {"violations", Json::array()}};
  if (!strict.legal() && schedule.problem.kind != Kind::stream && schedule.nodes.empty()) {
    options.receptions = Receptions::buffered;
    object["buffered"] = verify(schedule, options).legal();
  }
  for (const Violation& v : strict.violations) {
    Json entry{{"rule", v.rule},
               {"name", rule_name(v.rule)},
               {"rank", v.rank.index},
               {"time", v.time.ticks},
               {"text", to_string(v)}};
    if (v.message >= 0 && static_cast<std::size_t>(v.message) < schedule.sends.size()) {
      const Send& send = schedule.sends[static_cast<std::size_t>(v.message)];
      entry["send"] = {send.from.index, send.to.index, send.begin.ticks, available(schedule.machine, send).ticks};
    }
    object["violations"].push_back(entry);
  }
  object["omitted"] = strict.omitted;
  return object;
}

Json messages_of(const show::Timeline& timeline, Time o) {
  Json list = Json::array();
  if (timeline.messages.size() > kMostAnimated) return list;
  for (const show::Message& m : timeline.messages) {
    list.push_back({m.from.index, m.to.index, (m.departs - o).ticks, m.departs.ticks, m.arrives.ticks,
                    (m.arrives + o).ticks, m.part.lo, m.part.len});
  }
  return list;
}

/// What is published and read: rank, "publish" or "read", begin, end.
Json boards_of(const show::Timeline& timeline) {
  Json list = Json::array();
  if (timeline.activities.size() > 3 * kMostAnimated) return list;
  for (const show::Activity& a : timeline.activities) {
    if (a.doing == show::Doing::publish || a.doing == show::Doing::read)
      list.push_back({a.rank.index, a.doing == show::Doing::publish ? "publish" : "read", a.begin.ticks, a.end.ticks});
  }
  return list;
}

/// Pictures, messages and the finish as played. `shown` has finitely many items.
void draw_and_play(Json& object, const Schedule& schedule, const Schedule& shown, const Question& question,
                   bool playable) {
  using show::Picture;
  const bool cluster = !shown.nodes.empty();
  const bool small = shown.sends.size() + shown.readings.size() <= kMostDrawn;
  if (!cluster) {  // trees and tables show messages and no boards
    const show::Trees trees = show::trees_in(shown);
    object["trees"] = trees.count;
    object["tree_of"] = trees.each;
    object["pictures"]["tree"] = show::to_svg(shown, Picture::tree, std::min(question.of, trees.count - 1));
    object["pictures"]["table"] = show::to_svg(schedule, small ? Picture::table : Picture::summary);
  }
  show::Timeline timeline = show::timeline_of(shown);
  if (playable) {
    Played played = play(shown, question.play);
    const bool stuck = played.trace.finish == kNever;
    object["played"] = {{"planned", shown.finish.ticks}, {"note", played.note}, {"stuck", stuck}};
    if (!stuck) object["played"]["finish"] = played.trace.finish.ticks;
    object["played"]["utilisation"] = played.trace.utilisation;
    if (!stuck && !is_plain(question.play)) {
      timeline = show::timeline_of(played.trace);
      timeline.title = fmt::format("{} as played, finish {}", to_string(shown.problem.kind), played.trace.finish.ticks);
    }
  }
  const bool chart = small && shown.machine.P <= show::kLargestPicture;
  object["pictures"]["chart"] = chart ? show::chart_svg(timeline) : show::to_svg(shown, Picture::summary);
  object["end"] = timeline.end.ticks;
  object["combining"] = timeline.combining;
  object["messages"] = messages_of(timeline, shown.machine.o);
  object["boards"] = boards_of(timeline);
  object["animated"] = timeline.messages.size() <= kMostAnimated;
}

Json described(const Schedule& schedule) {
  const LogP& m = schedule.machine;
  const Nodes& nodes = schedule.nodes;
  Json first = Json::array();  // rank of each node
  for (std::int64_t node = 0; node < nodes.count(); ++node) first.push_back(nodes.first_rank(node));
  return {{"kind", to_string(schedule.problem.kind)},
          {"machine", nodes.empty() ? to_string(m) : to_string(Cluster{m, nodes})},
          {"P", m.P},
          {"nodes", first},
          {"boards", schedule.publications.size() + schedule.readings.size()},
          {"root", schedule.problem.root.index},
          {"items", schedule.problem.items},
          {"count", schedule.sends.size()},
          {"finish", (schedule.problem.kind == Kind::stream ? schedule.delay : schedule.finish).ticks},
          {"bound", schedule.bound.ticks}};
}

/// A stream is shown and played by its first items, and long enough to reach the steady state.
Schedule finite(const Schedule& schedule, std::int64_t items) {
  if (schedule.problem.kind != Kind::stream || schedule.period <= Time{0}) return schedule;
  return unroll(schedule,
                std::clamp<std::int64_t>(items, 1, std::max<std::int64_t>(1, kMostMessages / schedule.machine.P)));
}

/// What this question would be on a plain tree. A stream stands for its first items, as everywhere on the page.
plan::PlainSchedule plain(plan::PlainTree tree, const Schedule& best, std::int64_t items) {
  if (best.problem.kind == Kind::sum) {
    return plan::plain_sum(tree, best.machine,
                           std::accumulate(best.operands.begin(), best.operands.end(), std::int64_t{0}));
  }
  Problem problem = best.problem;
  if (problem.kind == Kind::stream) problem = {.kind = Kind::broadcast, .root = problem.root, .items = items};
  return plan::plain_schedule(tree, best.machine, problem);
}

/// One rank a node talks for it.
Schedule by_leaders(const Question& question) {
  plan::Request request = question.request;
  request.algorithm = "leaders";
  return make_plan(request)->schedule();
}

Json compared(const Schedule& planned, const Question& question) {
  Json list = Json::array();
  const auto row = [&](std::string_view name, const Schedule& schedule) {
    const bool legal = verify(schedule).legal();
    Json entry{{"shape", name}, {"finish", schedule.finish.ticks}, {"legal", legal}, {"count", schedule.sends.size()}};
    if (legal) {
      const Played played = play(schedule, question.play);
      if (played.trace.finish != kNever) entry["played"] = played.trace.finish.ticks;
    }
    list.push_back(entry);
  };
  const Schedule shown = finite(planned, question.request.problem.items);
  row("plan", shown);
  if (!planned.nodes.empty()) {
    row("leaders", by_leaders(question));
    return list;
  }
  for (const auto tree : plan::kPlainTrees) {
    const plan::PlainSchedule made = plain(tree, planned, shown.problem.items);
    if (const auto* schedule = std::get_if<Schedule>(&made)) row(to_string(tree), *schedule);
    else list.push_back({{"shape", to_string(tree)}, {"why", std::get<std::string_view>(made)}});
  }
  return list;
}

Json planned(const Question& question) {
  validate(question.request.machine);
  validate(question.request.nodes, question.request.machine);
  if (question.request.problem.root.index >= question.request.machine.P) {
    throw Error("root {} does not exist: ranks are 0..{}", question.request.problem.root.index,
                question.request.machine.P - 1);
  }
  const plan::PlanPtr plan = make_plan(question.request);
  refuse_too_large(*plan);
  const plan::Claim& claim = plan->claim();
  Json object;
  object["claim"] = {{"finish", claim.finish.ticks},
                     {"bound", claim.bound.ticks},
                     {"optimal", claim.optimal()},
                     {"source", claim.bound_source},
                     {"construction", claim.construction}};
  const Schedule best = plan->schedule();
  Schedule schedule = best;
  if (question.shape == "leaders" && !best.nodes.empty()) {
    schedule = by_leaders(question);
  } else if (question.shape != "plan" && !best.nodes.empty()) {
    throw Error("shape {}: on a cluster use plan or leaders", question.shape);
  } else if (question.shape != "plan") {
    const auto tree = plan::plain_tree_from(question.shape);
    if (!tree) throw Error("shape {}: use plan, binomial, chain or flat", question.shape);
    const Schedule shown = finite(best, question.request.problem.items);
    plan::PlainSchedule made = plain(*tree, best, shown.problem.items);
    if (const auto* why = std::get_if<std::string_view>(&made)) {
      throw Error("no {} form of this {}: {}; choose the plan", question.shape, to_string(best.problem.kind), *why);
    }
    schedule = std::move(std::get<Schedule>(made));
    // The first items of a stream finish no earlier than a broadcast of one of them.
    schedule.bound = best.problem.kind == Kind::stream ? shown.bound : best.bound;
  }
  object["shown"] = described(schedule);
  object["verify"] = verdict(schedule);
  const bool legal = object["verify"]["legal"].get<bool>() || object["verify"].value("buffered", false);
  draw_and_play(object, schedule, finite(schedule, question.request.problem.items), question, legal);
  object["compare"] = compared(best, question);
  object["schedule"] = to_json(schedule);
  return object;
}

/// The question that asks for a schedule like this one; null where none can: nodes of different sizes.
Json question_for(const Schedule& schedule) {
  const LogP& m = schedule.machine;
  const Problem& problem = schedule.problem;
  const Nodes& nodes = schedule.nodes;
  Json form{{"collective", to_string(problem.kind)}, {"L", m.L.ticks}, {"o", m.o.ticks}, {"g", m.g.ticks}};
  if (nodes.empty()) {
    form["P"] = m.P;
  } else {
    if (!nodes.uniform()) return nullptr;
    form["N"] = nodes.count();
    form["n"] = nodes.largest();
    form["gamma"] = nodes.gamma.ticks;
    form["publish"] = nodes.publish.ticks;
    form["read"] = nodes.read.ticks;
  }
  form["root"] = problem.root.index;
  if (problem.kind != Kind::stream) form["k"] = problem.items;
  if (problem.kind == Kind::sum)
    form["operands"] = std::accumulate(schedule.operands.begin(), schedule.operands.end(), std::int64_t{0});
  form["commutative"] = problem.commutative;
  form["exclusive"] = problem.exclusive;
  return form;
}

Json loaded(const Question& question) {
  const Schedule schedule = schedule_from_json(question.text, question.name.empty() ? "file" : question.name);
  if (schedule.machine.P > 100'000 || schedule.sends.size() > static_cast<std::size_t>(kMostMessages)) {
    throw Error("{}: too large for this page (at most 100000 processors and {} messages): use chasqui verify and draw",
                question.name, kMostMessages);
  }
  Json object;
  object["shown"] = described(schedule);
  object["verify"] = verdict(schedule);
  const bool legal = object["verify"]["legal"].get<bool>();
  draw_and_play(object, schedule, legal ? finite(schedule, question.request.problem.items) : schedule, question, legal);
  const bool illegal = !legal && !object["verify"].value("buffered", false);
  for (auto& [name, picture] : object["pictures"].items()) {
    if (illegal) picture = show::marked_illegal(picture.get<std::string>());
  }
  object["compare"] = Json::array();
  object["schedule"] = to_json(schedule);
  object["form"] = question_for(schedule);
  return object;
}

Json answered(const Question& question) {
  if (question.action == "about") return about();
  if (question.action == "plan") return planned(question);
  if (question.action == "load") return loaded(question);
  throw Error("do = {}: use about, plan or load", question.action);
}

}  // namespace

std::string answer(const std::string& question) {
  try {
    return answered(read_question(question)).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const std::exception& error) {
    return Json{{"error", error.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace chasqui::explorer
