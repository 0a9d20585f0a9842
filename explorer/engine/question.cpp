// SPDX-License-Identifier: MIT
#include "explorer/engine/question.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::explorer {
namespace {

using Whole = std::int64_t;

/// A number of the question: what it may be, and where it goes.
struct Number {
  std::string_view key;
  Whole least, most;
  void (*put)(Question&, Whole);
};
constexpr Whole kRanks = 100'000, kTicks = 1'000'000;
constexpr Number kNumbers[] = {
    {"N", 1, kRanks, [](Question& q, Whole x) { q.N = x; }},
    {"n", 1, kRanks, [](Question& q, Whole x) { q.n = x; }},
    {"gamma", 0, kTicks, [](Question& q, Whole x) { q.request.nodes.gamma = Time{x}; }},
    {"publish", 0, kTicks, [](Question& q, Whole x) { q.request.nodes.publish = Time{x}; }},
    {"read", 0, kTicks, [](Question& q, Whole x) { q.request.nodes.read = Time{x}; }},
    {"P", 1, kRanks, [](Question& q, Whole x) { q.request.machine.P = x; }},
    {"L", 0, kTicks, [](Question& q, Whole x) { q.request.machine.L = Time{x}; }},
    {"o", 0, kTicks, [](Question& q, Whole x) { q.request.machine.o = Time{x}; }},
    {"g", 1, kTicks, [](Question& q, Whole x) { q.request.machine.g = Time{x}; }},
    {"k", 1, 100'000, [](Question& q, Whole x) { q.request.problem.items = x; }},
    {"root", 0, kRanks - 1, [](Question& q, Whole x) { q.request.problem.root = {static_cast<std::int32_t>(x)}; }},
    {"operands", 1, 1'000'000, [](Question& q, Whole x) { q.request.operands = x; }},
    {"of", 0, 100'000, [](Question& q, Whole x) { q.of = x; }},
    {"low", 0, kTicks, [](Question& q, Whole x) { q.play.low = x; }},
    {"seed", 0, 9'007'199'254'740'991, [](Question& q, Whole x) { q.play.seed = static_cast<std::uint64_t>(x); }},
    {"group", 1, kRanks, [](Question& q, Whole x) { q.play.group = x; }},
    {"late_rank", -1, kRanks - 1, [](Question& q, Whole x) { q.play.late_rank = x; }},
    {"late_by", 0, 1'000'000'000, [](Question& q, Whole x) { q.play.late_by = x; }},
};

struct Word {
  std::string_view key;
  void (*put)(Question&, std::string);
};
constexpr Word kWords[] = {
    {"do", [](Question& q, std::string x) { q.action = std::move(x); }},
    {"name", [](Question& q, std::string x) { q.name = std::move(x); }},
    {"text", [](Question& q, std::string x) { q.text = std::move(x); }},
    {"collective", [](Question& q, std::string x) { q.request.problem.kind = plan::collective(x).kind; }},
    {"algorithm", [](Question& q, std::string x) { q.request.algorithm = std::move(x); }},
    {"shape", [](Question& q, std::string x) { q.shape = std::move(x); }},
    {"latency", [](Question& q, std::string x) { q.play.latency = std::move(x); }},
};

struct Flag {
  std::string_view key;
  bool& (*of)(Question&);
};
constexpr Flag kFlags[] = {
    {"commutative", [](Question& q) -> bool& { return q.request.problem.commutative; }},
    {"exclusive", [](Question& q) -> bool& { return q.request.problem.exclusive; }},
    {"event", [](Question& q) -> bool& { return q.play.event_driven; }},
};

void read(Question& question, const std::string& key, const Json& value) {
  for (const Number& number : kNumbers) {
    if (number.key != key) continue;
    if (!value.is_number_integer() || value.get<Whole>() < number.least || value.get<Whole>() > number.most)
      throw Error("{} = {}: use a whole number from {} to {}", key, value.dump(), number.least, number.most);
    return number.put(question, value.get<Whole>());
  }
  for (const Word& word : kWords) {
    if (word.key != key) continue;
    if (!value.is_string()) throw Error("{} = {}: use a word", key, value.dump());
    return word.put(question, value.get<std::string>());
  }
  for (const Flag& flag : kFlags) {
    if (flag.key != key) continue;
    if (!value.is_boolean()) throw Error("{} = {}: use true or false", key, value.dump());
    flag.of(question) = value.get<bool>();
    return;
  }
  throw Error("{}: unknown word in the question", key);
}

}  // namespace

Question read_question(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error("the question is no JSON object");
  Question question;
  for (const auto& [key, value] : json.items()) read(question, key, value);
  if (question.N > 0 || question.n > 0) {
    if (question.N == 0 || question.n == 0) throw Error("a cluster has N nodes of n ranks: give both");
    if (question.N * question.n > 100'000)
      throw Error("N n = {}: use at most 100000 ranks together", question.N * question.n);
    question.request.nodes.add(question.n, question.N);
    question.request.machine.P = question.N * question.n;
  } else if (question.request.nodes != Nodes{}) {
    throw Error("gamma, publish and read are for clusters: give N and n, too");
  }
  return question;
}

}  // namespace chasqui::explorer
