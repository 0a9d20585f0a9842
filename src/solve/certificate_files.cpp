// SPDX-License-Identifier: MIT
#include "solve/certificate_files.hpp"

#include <limits>

#include "base/json_text.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/solve/encoding.hpp"

namespace chasqui::solve {

std::string to_json(const CertificateText& certificate) {
  const LogP& m = certificate.instance.machine;
  const Problem& problem = certificate.instance.problem;
  nlohmann::ordered_json json;
  json["chasqui_certificate"] = 1;
  json["machine"] = {{"P", m.P}, {"L", m.L.ticks}, {"o", m.o.ticks}, {"g", m.g.ticks}};
  json["kind"] = to_string(problem.kind);
  json["root"] = problem.root.index;
  json["items"] = problem.items;
  json["exclusive"] = problem.exclusive;
  json["commutative"] = problem.commutative;
  json["two_values"] = certificate.instance.two_values;
  json["single_sending"] = certificate.instance.single_sending;
  json["period"] = certificate.instance.period.ticks;
  json["finish"] = certificate.finish.ticks;
  json["bound"] = certificate.evidence == Evidence::search ? "proof" : to_string(certificate.evidence);
  return json.dump(1) + "\n";
}

namespace {

/// Strict: no fractions, nothing that does not fit.
template <typename Integer = std::int64_t>
Integer integer(const nlohmann::json& json, const char* key, const std::string& place) {
  const nlohmann::json& value = json.at(key);
  if (!value.is_number_integer() || value.get<std::int64_t>() != static_cast<Integer>(value.get<std::int64_t>()) ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})) {
    throw Error("{}: {} is not an integer, or out of range", place, key);
  }
  return value.get<Integer>();
}

Instance instance_from(const nlohmann::json& json, const std::string& place) {
  Instance instance;
  const nlohmann::json& machine = json.at("machine");
  instance.machine = {integer(machine, "P", place), Time{integer(machine, "L", place)},
                      Time{integer(machine, "o", place)}, Time{integer(machine, "g", place)}};
  const std::optional<Kind> kind = kind_from(json.at("kind").get<std::string>());
  if (!kind) throw Error("{}: unknown kind {}", place, json.at("kind").dump());
  instance.problem.kind = *kind;
  instance.problem.root = Rank{integer<std::int32_t>(json, "root", place)};
  instance.problem.items = integer(json, "items", place);
  instance.problem.exclusive = json.at("exclusive").get<bool>();
  instance.problem.commutative = json.at("commutative").get<bool>();
  instance.two_values = json.at("two_values").get<bool>();
  instance.single_sending = json.at("single_sending").get<bool>();
  instance.period = Time{integer(json, "period", place)};
  try {
    validate(instance);
  } catch (const Error& error) {
    throw Error("{}: {}", place, error.what());
  }
  return instance;
}

}  // namespace

CertificateText certificate_from_json(const std::string& text, const std::string& place) {
  try {
    const nlohmann::json json = json_document(text, place, "`chasqui solve --proof` writes certificates");
    if (json.at("chasqui_certificate") != 1)
      throw Error("{}: unknown version of a certificate: this is version 1", place);
    if (json.size() != 12) throw Error("{}: a certificate has 12 keys, this has {}", place, json.size());
    CertificateText certificate;
    certificate.instance = instance_from(json, place);
    certificate.finish = Time{integer(json, "finish", place)};
    const std::string bound = json.at("bound");
    if (bound != "argument" && bound != "traffic" && bound != "proof") {
      throw Error("{}: bound is neither \"argument\" nor \"traffic\" nor \"proof\"", place);
    }
    certificate.evidence = bound == "argument"  ? Evidence::argument
                           : bound == "traffic" ? Evidence::traffic
                                                : Evidence::search;
    return certificate;
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}: not a certificate: {}", place, error.what());
  }
}

std::string one_step_less(const Instance& instance, Time finish) {
  const Question question = question_of(instance, finish);
  const std::vector<std::string> comments{
      fmt::format("{}: finish by {}", to_string(question.instance), question.by.ticks)};
  return to_dimacs(encode(question.instance, question.by)->cnf(), comments);
}

Question question_of(const Instance& asked, Time finish) {
  const Instance instance = forwards(asked);
  const std::int64_t c = scale(instance);
  if (finish.ticks % c != 0) return {instance, finish - Time{1}};
  return {coarsened(instance), Time{finish.ticks / c - 1}};
}

}  // namespace chasqui::solve
