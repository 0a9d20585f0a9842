// SPDX-License-Identifier: MIT
#include "explorer/engine/question.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::explorer {
namespace {

std::int64_t integer(const Json& value, const std::string& key, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    throw Error("{} = {}: use a whole number from {} to {}", key, value.dump(), least, most);
  }
  return value.get<std::int64_t>();
}

std::string word(const Json& value, const std::string& key) {
  if (!value.is_string()) throw Error("{} = {}: use a word", key, value.dump());
  return value.get<std::string>();
}

bool flag(const Json& value, const std::string& key) {
  if (!value.is_boolean()) throw Error("{} = {}: use true or false", key, value.dump());
  return value.get<bool>();
}

void read_machine(Question& question, const std::string& key, const Json& value, bool& known) {
  LogP& machine = question.request.machine;
  Nodes& nodes = question.request.nodes;
  if (key == "N") {
    question.N = integer(value, key, 1, 100'000);
  } else if (key == "n") {
    question.n = integer(value, key, 1, 100'000);
  } else if (key == "gamma") {
    nodes.gamma = Time{integer(value, key, 0, 1'000'000)};
  } else if (key == "publish") {
    nodes.publish = Time{integer(value, key, 0, 1'000'000)};
  } else if (key == "read") {
    nodes.read = Time{integer(value, key, 0, 1'000'000)};
  } else if (key == "P") {
    machine.P = integer(value, key, 1, 100'000);
  } else if (key == "L") {
    machine.L = Time{integer(value, key, 0, 1'000'000)};
  } else if (key == "o") {
    machine.o = Time{integer(value, key, 0, 1'000'000)};
  } else if (key == "g") {
    machine.g = Time{integer(value, key, 1, 1'000'000)};
  } else {
    known = false;
  }
}

void read_collective(Question& question, const std::string& key, const Json& value, bool& known) {
  plan::Request& request = question.request;
  if (key == "collective") {
    request.problem.kind = plan::collective(word(value, key)).kind;
  } else if (key == "k") {
    request.problem.items = integer(value, key, 1, 100'000);
  } else if (key == "root") {
    request.problem.root = {static_cast<std::int32_t>(integer(value, key, 0, 99'999))};
  } else if (key == "operands") {
    request.operands = integer(value, key, 1, 1'000'000);
  } else if (key == "commutative") {
    request.problem.commutative = flag(value, key);
  } else if (key == "exclusive") {
    request.problem.exclusive = flag(value, key);
  } else if (key == "algorithm") {
    request.algorithm = word(value, key);
  } else if (key == "shape") {
    question.shape = word(value, key);
  } else if (key == "of") {
    question.of = integer(value, key, 0, 100'000);
  } else {
    known = false;
  }
}

void read_play(Question& question, const std::string& key, const Json& value, bool& known) {
  Play& play = question.play;
  if (key == "latency") {
    play.latency = word(value, key);
  } else if (key == "low") {
    play.low = integer(value, key, 0, 1'000'000);
  } else if (key == "seed") {
    play.seed = static_cast<std::uint64_t>(integer(value, key, 0, 9'007'199'254'740'991));
  } else if (key == "group") {
    play.group = integer(value, key, 1, 100'000);
  } else if (key == "event") {
    play.event_driven = flag(value, key);
  } else if (key == "late_rank") {
    play.late_rank = integer(value, key, -1, 99'999);
  } else if (key == "late_by") {
    play.late_by = integer(value, key, 0, 1'000'000'000);
  } else {
    known = false;
  }
}

}  // namespace

Question read_question(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error("the question is no JSON object");
  Question question;
  for (const auto& [key, value] : json.items()) {
    const auto read_by = [&question, &key = key, &value = value](auto reader) {
      bool known = true;
      reader(question, key, value, known);
      return known;
    };
    if (key == "do") {
      question.action = word(value, key);
    } else if (key == "name") {
      question.name = word(value, key);
    } else if (key == "text") {
      question.text = word(value, key);
    } else if (!read_by(read_machine) && !read_by(read_collective) && !read_by(read_play)) {
      throw Error("{}: unknown word in the question", key);
    }
  }
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
