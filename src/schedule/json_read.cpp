// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "schedule/json_reader.hpp"

namespace chasqui {
namespace schedule_file {
namespace {

constexpr unsigned kItemKey = 1U << 3U, kIntervalKeys = 3U << 4U, kPartsKey = 1U << 6U;

}  // namespace

std::int32_t Reader::small(std::int64_t value) const {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (value < -most || value > most) fail(where(), "{} is out of range: use a number of at most {}", value, most);
  return static_cast<std::int32_t>(value);
}

std::int64_t Reader::at_least(std::int64_t least, std::int64_t value) const {
  if (value < least) fail(where(), "{} is too small: it must be at least {}", value, least);
  if (value > kMaxTime) fail(where(), "{} is out of range: use a number of at most {}", value, kMaxTime);
  return value;
}

Time Reader::time(std::int64_t value) const {
  if (value < -kMaxTime || value > kMaxTime)
    fail(where(), "{} is out of range: use a time of at most {} ticks", value, kMaxTime);
  return Time{value};
}

void Reader::file_number(std::int64_t value) {
  switch (key_) {
    case 0:
      if (value != 1) fail(where(), "version {} is unknown: this program reads version 1", value);
      return;
    case 3: schedule_.finish = time(value); return;
    case 4: schedule_.bound = time(value); return;
    case 8: schedule_.period = Time{at_least(0, value)}; return;
    case 9: schedule_.delay = Time{at_least(0, value)}; return;
    default: wrong_type("a number");
  }
}

void Reader::send_number(std::int64_t value) {
  Send& send = schedule_.sends.back();
  switch (key_) {
    case 0: send.begin = time(value); return;
    case 1: send.from = Rank{small(value)}; return;
    case 2: send.to = Rank{small(value)}; return;
    case 3: send.part = {small(value), 1}; return;
    case 4: send.part.lo = small(value); return;
    case 5: send.part.len = small(value); return;
    default: wrong_type("a number");
  }
}

void Reader::add_number(std::int64_t value) {
  Add& add = schedule_.adds.back();
  switch (key_) {
    case 0: add.begin = time(value); return;
    case 1: add.rank = Rank{small(value)}; return;
    case 2: add.from = Rank{small(value)}; return;
    default: add.count = at_least(0, value); return;
  }
}

bool Reader::number_float(number_float_t, const string_t& text) {
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  if (whole) fail(where(), "{} is out of range: use a number of at most {}", shown(text), kMaxTime);
  wrong_type(shown(text));
}

bool Reader::number_integer(number_integer_t value) {
  switch (at_) {
    case At::file: file_number(value); break;
    case At::machine: {
      LogP& m = schedule_.machine;
      (key_ == 0 ? m.P : key_ == 1 ? m.L.ticks : key_ == 2 ? m.o.ticks : m.g.ticks) = value;
      break;
    }
    case At::problem:
      if (key_ == 1) {
        schedule_.problem.root = Rank{small(value)};
      } else if (key_ == 2) {
        schedule_.problem.items = at_least(1, value);
      } else {
        wrong_type("a number");
      }
      break;
    case At::send: send_number(value); break;
    case At::pair: {
      Part& part = pair_ == 0 ? schedule_.sends.back().part : schedule_.sends.back().second;
      if (place_in_pair_ > 1) fail(where(), "a pair has two numbers [lo,len]: remove the rest");
      (place_in_pair_ == 0 ? part.lo : part.len) = small(value);
      ++place_in_pair_;
      break;
    }
    case At::operands: schedule_.operands.push_back(at_least(0, value)); break;
    case At::add: add_number(value); break;
    default: wrong_type("a number");
  }
  return true;
}

bool Reader::boolean(bool value) {
  if (at_ != At::problem || key_ < 3) wrong_type(value ? "true" : "false");
  (key_ == 3 ? schedule_.problem.commutative : schedule_.problem.exclusive) = value;
  return true;
}

bool Reader::string(string_t& value) {
  if (at_ != At::problem || key_ != 0) wrong_type(fmt::format("\"{}\"", shown(value)));
  const std::optional<Kind> kind = kind_from(value);
  if (!kind) {
    fail(where(),
         "\"{}\" is no collective: use broadcast, scatter, gather, allgather, reduce, allreduce, scan, "
         "barrier, "
         "sum or stream",
         shown(value));
  }
  schedule_.problem.kind = *kind;
  return true;
}

bool Reader::start_object(std::size_t) {
  if (at_ == At::start) {
    at_ = At::file;
  } else if (at_ == At::file && (key_ == 1 || key_ == 2)) {
    at_ = key_ == 1 ? At::machine : At::problem;
  } else if (at_ == At::sends) {
    at_ = At::send;
    schedule_.sends.emplace_back();
  } else if (at_ == At::adds) {
    at_ = At::add;
    schedule_.adds.emplace_back();
  } else {
    wrong_type("an object");
  }
  key_ = -1;
  seen_ = 0;
  return true;
}

bool Reader::key(string_t& name) {
  const Grammar& g = *grammar(at_);
  std::size_t i = 0;
  while (i < g.keys.size() && (g.keys[i] != name || name.empty())) ++i;
  key_ = -1;
  if (name == "chasqui_profile")
    fail("", "this is a profile of `chasqui measure`, not a schedule: it is what --machine takes");
  if (i == g.keys.size()) fail(where(), "unknown key \"{}\": the keys here are {}", shown(name), quoted_list(g));
  unsigned& seen = at_ == At::file ? file_seen_ : seen_;
  if ((seen >> i & 1U) != 0) fail(where(), "\"{}\" is there twice: remove one", name);
  seen |= 1U << i;
  key_ = static_cast<int>(i);
  return true;
}

void Reader::end_send() {
  const std::size_t index = schedule_.sends.size() - 1;
  const unsigned payload = seen_ & (kItemKey | kIntervalKeys | kPartsKey);
  if (payload == kItemKey) {
    if (!first_item_) first_item_ = index;
  } else if (payload == kIntervalKeys || payload == kPartsKey) {
    if (!first_interval_) first_interval_ = index;
  } else {
    fail(where(), "say what it carries by exactly one of \"item\", \"lo\" with \"len\", and \"parts\"");
  }
}

bool Reader::end_object() {
  key_ = -1;
  require_keys();
  if (at_ == At::send) end_send();
  at_ = at_ == At::send ? At::sends : at_ == At::add ? At::adds : at_ == At::file ? At::end : At::file;
  return true;
}

bool Reader::start_array(std::size_t) {
  if (at_ == At::file && key_ >= 5 && key_ <= 7) {
    at_ = key_ == 5 ? At::sends : key_ == 6 ? At::operands : At::adds;
  } else if (at_ == At::send && key_ == 6) {
    at_ = At::parts;
    pair_ = 0;
  } else if (at_ == At::parts) {
    if (pair_ == 2) fail(where(), "a message has at most two parts: remove the rest");
    at_ = At::pair;
    place_in_pair_ = 0;
  } else {
    wrong_type("an array");
  }
  return true;
}

bool Reader::end_array() {
  if (at_ == At::pair) {
    if (place_in_pair_ != 2) fail(where(), "a pair has two numbers: write [lo,len]");
    ++pair_;
    at_ = At::parts;
  } else if (at_ == At::parts) {
    at_ = At::send;
    if (pair_ != 2) fail(where(), "\"parts\" has two pairs: write one part as \"lo\" and \"len\"");
  } else {
    at_ = At::file;
    key_ = -1;
  }
  return true;
}

bool Reader::parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception&) {
  // Our own words: those of the library change from version to version.
  if (byte > text_.size())
    fail("", "the text ends too early, after byte {}: write one complete JSON object", text_.size());
  const std::string_view before = text_.substr(0, byte == 0 ? 0 : byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  fail("", "line {}, column {}: this is not JSON: write one complete object and nothing after it", line, column);
}

Schedule Reader::finish() {
  at_ = At::end;
  const Kind kind = schedule_.problem.kind;
  const std::string name(to_string(kind));
  try {
    validate(schedule_.machine);
  } catch (const Error& error) {
    fail("machine", "{}", error.what());
  }
  try {
    validate(schedule_.problem, schedule_.machine);
  } catch (const Error& error) {
    fail("problem", "{}", error.what());
  }
  const bool named = names_items(schedule_.problem);
  if (!named && first_item_) {
    fail(fmt::format("sends[{}]", *first_item_), "a {} carries \"lo\" and \"len\": write them instead of \"item\"",
         name);
  }
  if (named && first_interval_) {
    fail(fmt::format("sends[{}]", *first_interval_), "a {} carries an \"item\": write it instead of an interval", name);
  }
  for (const std::string_view key : {"operands", "adds"}) {
    if (kind == Kind::sum && !has(key)) fail("", "\"{}\" is missing: a sum needs it", key);
    if (kind != Kind::sum && has(key)) fail(std::string(key), "only a sum has it: remove it");
  }
  for (const std::string_view key : {"period", "delay"}) {
    if (kind == Kind::stream && !has(key)) fail("", "\"{}\" is missing: a stream needs it", key);
    if (kind != Kind::stream && has(key)) fail(std::string(key), "only a stream has it: remove it");
  }
  if (kind == Kind::sum && static_cast<std::int64_t>(schedule_.operands.size()) != schedule_.machine.P) {
    fail("operands", "{} numbers for P={} ranks: write one for each rank", schedule_.operands.size(),
         schedule_.machine.P);
  }
  return std::move(schedule_);
}

}  // namespace schedule_file

Schedule schedule_from_json(std::string_view text, std::string_view place) {
  schedule_file::Reader reader(text, place);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  return reader.finish();
}

}  // namespace chasqui
