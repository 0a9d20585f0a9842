// SPDX-License-Identifier: MIT
#include "chasqui/bsp/ledger_file.hpp"

#include <initializer_list>
#include <set>
#include <string_view>

#include "base/json_text.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"

namespace chasqui::bsp {

namespace {

using nlohmann::json;

void known_keys(const json& object, std::initializer_list<std::string_view> keys, const std::string& place) {
  if (!object.is_object()) throw Error("{}: an object is expected", place);
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) throw Error("{}: unknown key \"{}\"", place, key);
  }
}

template <typename T>
T need(const json& object, const char* key, const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error("{}: key \"{}\" is missing", place, key);
  try {
    return found->template get<T>();
  } catch (const json::exception&) {
    throw Error("{}: key \"{}\" has the wrong type", place, key);
  }
}

constexpr std::string_view kStepKeys[] = {"w_ns",         "w",           "h",      "blocks", "bytes", "messages_total",
                                          "blocks_total", "bytes_total", "span_ns"};

json step_to_json(const Superstep& s) {
  json out = {{"w_ns", s.nanoseconds},
              {"w", s.work},
              {"h", s.messages},
              {"blocks", s.blocks},
              {"bytes", s.bytes},
              {"messages_total", s.total_messages},
              {"blocks_total", s.total_blocks},
              {"bytes_total", s.total_bytes},
              {"span_ns", s.span_nanoseconds}};
  for (const Row& row : s.rows) {
    out["rows"].push_back({row.rank, row.nanoseconds, row.work, row.sent_messages, row.sent_blocks, row.sent_bytes,
                           row.received_messages, row.received_blocks, row.received_bytes});
  }
  return out;
}

Superstep step_from_json(const json& in, std::uint64_t number, const std::string& place) {
  known_keys(in,
             {"w_ns", "w", "h", "blocks", "bytes", "messages_total", "blocks_total", "bytes_total", "span_ns", "rows"},
             place);
  std::int64_t v[9];
  for (std::size_t i = 0; i < 9; ++i) v[i] = need<std::int64_t>(in, std::string(kStepKeys[i]).c_str(), place);
  for (const std::int64_t value : v) {
    if (value < 0) throw Error("{}: negative counts", place);
  }
  Superstep step{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], {}};
  if (in.contains("rows")) {
    for (const auto& r : need<std::vector<std::vector<std::int64_t>>>(in, "rows", place)) {
      if (r.size() != 9) throw Error("{}: a row has 9 numbers", place);
      step.rows.push_back({number, r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]});
    }
  }
  return step;
}

}  // namespace

std::string to_json(const Ledger& ledger) {
  json out = {
      {"chasqui_bsp", 1}, {"processors", ledger.processors}, {"seconds", ledger.seconds}, {"machines", json::array()}};
  for (const MachineCosts& machine : ledger.machines) {
    json one = {{"id", fmt::format("{:x}", machine.id)},
                {"parent", fmt::format("{:x}", machine.parent)},
                {"split", fmt::format("{:x}", machine.split)},
                {"size", machine.size},
                {"supersteps", json::array()}};
    for (const Superstep& step : machine.supersteps) one["supersteps"].push_back(step_to_json(step));
    out["machines"].push_back(std::move(one));
  }
  return out.dump();
}

Ledger ledger_from_json(const std::string& text, const std::string& place) {
  const json in = json_document(text, place, "`chasqui bsp record` writes a ledger");
  known_keys(in, {"chasqui_bsp", "processors", "seconds", "machines"}, place);
  if (const auto version = need<std::int64_t>(in, "chasqui_bsp", place); version != 1) {
    throw Error("{}: ledger version {}; this program reads version 1", place, version);
  }
  Ledger ledger;
  ledger.processors = need<std::int64_t>(in, "processors", place);
  ledger.seconds = need<double>(in, "seconds", place);
  std::set<std::uint64_t> ids;
  const auto name = [&](const json& one, const char* key) {
    const auto digits = need<std::string>(one, key, place);
    std::size_t used = 0;
    std::uint64_t value = 0;
    try {
      value = std::stoull(digits, &used, 16);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != digits.size())
      throw Error("{}: \"{}\": \"{}\" is no hexadecimal number", place, key, digits);
    return value;
  };
  for (const json& one : need<json>(in, "machines", place)) {
    known_keys(one, {"id", "parent", "split", "size", "supersteps"}, place);
    MachineCosts machine{
        name(one, "id"), name(one, "parent"), name(one, "split"), need<std::int64_t>(one, "size", place), {}};
    for (const json& step : need<json>(one, "supersteps", place)) {
      machine.supersteps.push_back(step_from_json(step, machine.supersteps.size(), place));
    }
    // A parent comes before its children, so the machines form a tree.
    if ((machine.parent == 0) != ids.empty() || (machine.parent != 0 && !ids.contains(machine.parent)) ||
        !ids.insert(machine.id).second) {
      throw Error("{}: machine {:x} of parent {:x}: the whole machine comes first, a parent before its children", place,
                  machine.id, machine.parent);
    }
    ledger.machines.push_back(std::move(machine));
  }
  return ledger;
}

Ledger read_ledger(const std::string& path) {
  return ledger_from_json(read_file(path, "record one with write_ledger() or `chasqui bsp record`"), path);
}

void write_ledger(const std::string& path, const Ledger& ledger) { replace_file(path, to_json(ledger) + '\n'); }

Machine machine_from_json(const std::string& text, const std::string& place) {
  const json in = json_document(text, place, "docs/bsp.md has examples");
  if (!in.is_object()) throw Error("{}: a machine is an object with a \"model\": bsp, bsp* or d-bsp", place);
  const auto model = need<std::string>(in, "model", place);
  Machine machine;
  if (model == "bsp") {
    known_keys(in, {"model", "p", "g", "L"}, place);
    machine = Bsp{need<std::int64_t>(in, "p", place), need<double>(in, "g", place), need<double>(in, "L", place)};
  } else if (model == "bsp*") {
    known_keys(in, {"model", "p", "g", "L", "B", "unit_bytes"}, place);
    machine =
        BspStar{need<std::int64_t>(in, "p", place), need<double>(in, "g", place), need<double>(in, "L", place),
                need<double>(in, "B", place), in.contains("unit_bytes") ? need<double>(in, "unit_bytes", place) : 8};
  } else if (model == "d-bsp") {
    known_keys(in, {"model", "p", "g", "L"}, place);
    machine = DBsp{need<std::int64_t>(in, "p", place), need<std::vector<double>>(in, "g", place),
                   need<std::vector<double>>(in, "L", place)};
  } else {
    throw Error("{}: model \"{}\": bsp, bsp* or d-bsp", place, model);
  }
  std::visit([](const auto& one) { validate(one); }, machine);
  return machine;
}

std::string to_json(const Machine& machine) {
  if (const auto* bsp = std::get_if<Bsp>(&machine))
    return json{{"model", "bsp"}, {"p", bsp->p}, {"g", bsp->g}, {"L", bsp->L}}.dump();
  if (const auto* star = std::get_if<BspStar>(&machine)) {
    return json{{"model", "bsp*"}, {"p", star->p}, {"g", star->g},
                {"L", star->L},    {"B", star->B}, {"unit_bytes", star->unit_bytes}}
        .dump();
  }
  const auto& d = std::get<DBsp>(machine);
  return json{{"model", "d-bsp"}, {"p", d.p}, {"g", d.g}, {"L", d.L}}.dump();
}

}  // namespace chasqui::bsp
