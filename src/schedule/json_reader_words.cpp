// SPDX-License-Identifier: MIT
// Where the reader is and what it wants there: the words of its complaints.
#include "schedule/json_reader.hpp"

namespace chasqui::schedule_file {
namespace {

constexpr Grammar kFile{
    {"chasqui", "machine", "problem", "finish", "bound", "sends", "operands", "adds", "period", "delay"}, 0b111111};
constexpr Grammar kMachine{{"P", "L", "o", "g"}, 0b1111};
constexpr Grammar kProblem{{"kind", "root", "items", "commutative", "exclusive"}, 0b1};
constexpr Grammar kSend{{"t", "from", "to", "item", "lo", "len", "parts"}, 0b111};
constexpr Grammar kAdd{{"t", "rank", "from", "count"}, 0b1111};

}  // namespace

const Grammar* grammar(At at) {
  switch (at) {
    case At::file: return &kFile;
    case At::machine: return &kMachine;
    case At::problem: return &kProblem;
    case At::send: return &kSend;
    case At::add: return &kAdd;
    default: return nullptr;
  }
}

std::string quoted_list(const Grammar& g) {
  std::string list;
  for (const std::string_view key : g.keys) {
    if (!key.empty()) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", key);
  }
  return list;
}

std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c < 127 ? c : '?';
  if (text.size() > 40) result += "...";
  return result;
}

std::string Reader::where() const {
  const auto keyed = [&](std::string object) {
    const Grammar* g = grammar(at_);
    if (key_ >= 0 && g != nullptr)
      object += fmt::format("{}{}", object.empty() ? "" : ".", g->keys[static_cast<std::size_t>(key_)]);
    return object;
  };
  const std::size_t message = schedule_.sends.size();
  switch (at_) {
    case At::start:
    case At::end: return "";
    case At::file: return keyed("");
    case At::machine: return keyed("machine");
    case At::problem: return keyed("problem");
    case At::sends: return fmt::format("sends[{}]", message);
    case At::send: return keyed(fmt::format("sends[{}]", message - 1));
    case At::parts: return fmt::format("sends[{}].parts[{}]", message - 1, pair_);
    case At::pair: return fmt::format("sends[{}].parts[{}][{}]", message - 1, pair_, place_in_pair_);
    case At::operands: return fmt::format("operands[{}]", schedule_.operands.size());
    case At::adds: return fmt::format("adds[{}]", schedule_.adds.size());
    case At::add: return keyed(fmt::format("adds[{}]", schedule_.adds.size() - 1));
  }
  return "";
}

std::string_view Reader::expected() const {
  switch (at_) {
    case At::file:
      if (key_ == 1 || key_ == 2) return "an object {...}";
      if (key_ >= 5 && key_ <= 7) return "an array [...]";
      return "an integer";
    case At::problem: return key_ == 0 ? "the name of a collective" : key_ >= 3 ? "true or false" : "an integer";
    case At::sends: return "a message {\"t\":..., \"from\":..., \"to\":..., ...}";
    case At::send: return key_ == 6 ? "an array [[lo,len],[lo,len]]" : "an integer";
    case At::parts: return "a pair [lo,len]";
    case At::adds: return "an object {\"t\":..., \"rank\":..., \"from\":..., \"count\":...}";
    default: return "an integer";
  }
}

/// Was this key of the file read?
bool Reader::has(std::string_view name) const {
  for (std::size_t i = 0; i < kFile.keys.size(); ++i) {
    if (kFile.keys[i] == name) return (file_seen_ >> i & 1U) != 0;
  }
  return false;
}

void Reader::require_keys() const {
  const Grammar& g = *grammar(at_);
  const unsigned seen = at_ == At::file ? file_seen_ : seen_;
  for (std::size_t i = 0; i < g.keys.size(); ++i) {
    if ((g.required >> i & 1U) != 0 && (seen >> i & 1U) == 0) fail(where(), "\"{}\" is missing: add it", g.keys[i]);
  }
}

}  // namespace chasqui::schedule_file
