// SPDX-License-Identifier: MIT
#include "solve/certificate_files.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

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

CertificateText certificate_from_json(const std::string& text, const std::string& place) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("chasqui_certificate") != 1) throw Error("{}: unknown version of a certificate: this is version 1", place);
    if (json.size() != 12) throw Error("{}: a certificate has 12 keys, this has {}", place, json.size());
    CertificateText certificate;
    Instance& instance = certificate.instance;
    const nlohmann::json& machine = json.at("machine");
    instance.machine = {machine.at("P"), Time{machine.at("L")}, Time{machine.at("o")}, Time{machine.at("g")}};
    const std::optional<Kind> kind = kind_from(json.at("kind").get<std::string>());
    if (!kind) throw Error("{}: unknown kind {}", place, json.at("kind").dump());
    instance.problem.kind = *kind;
    instance.problem.root = Rank{json.at("root")};
    instance.problem.items = json.at("items");
    instance.problem.exclusive = json.at("exclusive");
    instance.problem.commutative = json.at("commutative");
    instance.two_values = json.at("two_values");
    instance.single_sending = json.at("single_sending");
    instance.period = Time{json.at("period")};
    certificate.finish = Time{json.at("finish")};
    const std::string bound = json.at("bound");
    if (bound != "argument" && bound != "traffic" && bound != "proof") {
      throw Error("{}: bound is neither \"argument\" nor \"traffic\" nor \"proof\"", place);
    }
    certificate.evidence = bound == "argument" ? Evidence::argument : bound == "traffic" ? Evidence::traffic : Evidence::search;
    validate(instance);
    return certificate;
  } catch (const nlohmann::json::exception& error) {
    throw Error("{}: not a certificate: {}", place, error.what());
  }
}

std::string one_step_less(const Instance& instance, Time finish) {
  const Question question = question_of(instance, finish);
  const std::vector<std::string> comments{fmt::format("{}: finish by {}", to_string(question.instance), question.by.ticks)};
  return to_dimacs(encode(question.instance, question.by)->cnf(), comments);
}

Question question_of(const Instance& instance, Time finish) {
  const std::int64_t c = scale(instance);
  if (finish.ticks % c != 0) return {instance, finish - Time{1}};
  return {coarsened(instance), Time{finish.ticks / c - 1}};
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be read: is it there?", path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (!file) throw Error("{}: cannot be written: is the folder writable?", path.string());
}

}  // namespace chasqui::solve
