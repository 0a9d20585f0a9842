// SPDX-License-Identifier: MIT
// The reader of schedule files: a SAX handler instead of a document tree, so a file of 10^6 messages is read in one pass,
// straight into the Send array. It knows at each moment in which object it is (At) and which key came last.
#include <array>
#include <limits>
#include <optional>

#include "base/json_text.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/schedule/json.hpp"

namespace chasqui {
namespace {

enum class At {
  start,
  file,
  machine,
  problem,
  sends,
  send,
  parts,
  pair,
  operands,
  adds,
  add,
  nodes,
  sizes,
  run,
  publications,
  publication,
  readings,
  reading,
  end
};

struct Grammar {
  std::array<std::string_view, 13> keys;  ///< in the order of the switches below
  unsigned required;                      ///< bit i: keys[i] must be there
};

constexpr Grammar kFile{{"chasqui", "machine", "problem", "finish", "bound", "sends", "operands", "adds", "period",
                         "delay", "nodes", "publications", "readings"},
                        0b111111};
constexpr Grammar kMachine{{"P", "L", "o", "g"}, 0b1111};
constexpr Grammar kProblem{{"kind", "root", "items", "commutative", "exclusive"}, 0b1};
constexpr Grammar kSend{{"t", "from", "to", "item", "lo", "len", "parts"}, 0b111};
constexpr Grammar kAdd{{"t", "rank", "from", "count"}, 0b1111};
constexpr Grammar kNodes{{"sizes", "gamma", "publish", "read"}, 0b1111};
// What is carried stands where it stands in a message.
constexpr Grammar kPublication{{"t", "rank", "", "item", "lo", "len", "parts"}, 0b11};
constexpr Grammar kReading{{"t", "rank", "from", "item", "lo", "len", "parts"}, 0b111};
constexpr unsigned kItemKey = 1U << 3U, kIntervalKeys = 3U << 4U, kPartsKey = 1U << 6U;

/// The keys of the object `at`, or nullptr where there are none.
const Grammar* grammar(At at) {
  switch (at) {
    case At::file: return &kFile;
    case At::machine: return &kMachine;
    case At::problem: return &kProblem;
    case At::send: return &kSend;
    case At::add: return &kAdd;
    case At::nodes: return &kNodes;
    case At::publication: return &kPublication;
    case At::reading: return &kReading;
    default: return nullptr;
  }
}

/// "P", "L", "o", "g" with their quotes.
std::string quoted_list(const Grammar& g) {
  std::string list;
  for (const std::string_view key : g.keys) {
    if (!key.empty()) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", key);
  }
  return list;
}

/// Text from the file, fit for one line of a message.
std::string shown(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c < 127 ? c : '?';
  if (text.size() > 40) result += "...";
  return result;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  // The interface nlohmann::json::sax_parse asks for.
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { wrong_type("null"); }
  bool binary(binary_t&) { wrong_type("binary data"); }
  bool number_float(number_float_t, const string_t& text) {
    const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
    if (whole) fail(where(), "{} is out of range: use a number of at most {}", shown(text), kMaxTime);
    wrong_type(shown(text));
  }

  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(where(), "{} is out of range: use a number of at most {}", value, kMaxTime);
    }
    return number_integer(static_cast<std::int64_t>(value));
  }

  bool number_integer(number_integer_t value) {
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
        Part& part = pair_ == 0 ? cargo().first : cargo().second;
        if (place_in_pair_ > 1) fail(where(), "a pair has two numbers [lo,len]: remove the rest");
        (place_in_pair_ == 0 ? part.lo : part.len) = small(value);
        ++place_in_pair_;
        break;
      }
      case At::operands: schedule_.operands.push_back(at_least(0, value)); break;
      case At::add: add_number(value); break;
      case At::nodes: nodes_number(value); break;
      case At::run: {
        if (place_in_pair_ > 1) fail(where(), "a pair has two numbers [nodes,ranks]: remove the rest");
        run_[place_in_pair_ == 0 ? 0 : 1] = at_least(1, value);
        ++place_in_pair_;
        break;
      }
      case At::publication:
      case At::reading: board_number(value); break;
      default: wrong_type("a number");
    }
    return true;
  }

  bool boolean(bool value) {
    if (at_ != At::problem || key_ < 3) wrong_type(value ? "true" : "false");
    (key_ == 3 ? schedule_.problem.commutative : schedule_.problem.exclusive) = value;
    return true;
  }

  bool string(string_t& value) {
    if (at_ != At::problem || key_ != 0) wrong_type(fmt::format("\"{}\"", shown(value)));
    const std::optional<Kind> kind = kind_from(value);
    if (!kind) {
      fail(where(),
           "\"{}\" is no collective: use broadcast, scatter, gather, allgather, alltoall, reduce, allreduce, "
           "reduce-scatter, scan, barrier, sum or stream",
           shown(value));
    }
    schedule_.problem.kind = *kind;
    return true;
  }

  bool start_object(std::size_t) {
    if (at_ == At::start) {
      at_ = At::file;
    } else if (at_ == At::file && (key_ == 1 || key_ == 2)) {
      at_ = key_ == 1 ? At::machine : At::problem;
    } else if (at_ == At::file && key_ == 10) {
      at_ = At::nodes;
    } else if (at_ == At::publications) {
      at_ = At::publication;
      schedule_.publications.emplace_back();
    } else if (at_ == At::readings) {
      at_ = At::reading;
      schedule_.readings.emplace_back();
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

  bool key(string_t& name) {
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

  bool end_object() {
    key_ = -1;
    require_keys();
    if (at_ == At::send || at_ == At::publication || at_ == At::reading) end_cargo();
    switch (at_) {
      case At::send: at_ = At::sends; break;
      case At::add: at_ = At::adds; break;
      case At::publication: at_ = At::publications; break;
      case At::reading: at_ = At::readings; break;
      case At::file: at_ = At::end; break;
      default: at_ = At::file;
    }
    return true;
  }

  bool start_array(std::size_t) {
    if (at_ == At::file && key_ >= 5 && key_ <= 7) {
      at_ = key_ == 5 ? At::sends : key_ == 6 ? At::operands : At::adds;
    } else if (at_ == At::file && key_ >= 11) {
      at_ = key_ == 11 ? At::publications : At::readings;
    } else if (at_ == At::nodes && key_ == 0) {
      at_ = At::sizes;
    } else if (at_ == At::sizes) {
      at_ = At::run;
      place_in_pair_ = 0;
    } else if ((at_ == At::send || at_ == At::publication || at_ == At::reading) && key_ == 6) {
      carrier_ = at_;
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

  bool end_array() {
    if (at_ == At::pair) {
      if (place_in_pair_ != 2) fail(where(), "a pair has two numbers: write [lo,len]");
      ++pair_;
      at_ = At::parts;
    } else if (at_ == At::parts) {
      at_ = carrier_;
      if (pair_ != 2) fail(where(), "\"parts\" has two pairs: write one part as \"lo\" and \"len\"");
    } else if (at_ == At::run) {
      if (place_in_pair_ != 2) fail(where(), "a pair has two numbers: write [nodes,ranks]");
      if (run_[0] > kMaxProcessors) fail(where(), "{} nodes are too many: there may be {}", run_[0], kMaxProcessors);
      schedule_.nodes.add(run_[1], run_[0]);
      at_ = At::sizes;
    } else if (at_ == At::sizes) {
      at_ = At::nodes;
    } else {
      at_ = At::file;
      key_ = -1;
    }
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& error) {
    if (byte > text_.size())
      fail("", "the text ends too early, after byte {}: write one complete JSON object", text_.size());
    fail("", "{}: {}", line_and_column(text_, byte == 0 ? 0 : byte - 1), json_fault(error));
  }

  Schedule finish() {
    at_ = At::end;
    const Kind kind = schedule_.problem.kind;
    const std::string name(to_string(kind));
    try {
      validate(schedule_.machine);
    } catch (const Error& error) {
      fail("machine", "{}", error.what());
    }
    for (const std::string_view key : {"nodes", "publications", "readings"}) {
      if (version_ == 2 && !has(key)) fail("", "\"{}\" is missing: a file of version 2 has it", key);
      if (version_ == 1 && has(key)) fail(std::string(key), "only a file of version 2 has it: write \"chasqui\":2");
    }
    try {
      if (version_ == 2) validate(Cluster{schedule_.machine, schedule_.nodes});
    } catch (const Error& error) {
      fail("nodes", "{}", error.what());
    }
    try {
      validate(schedule_.problem, schedule_.machine);
    } catch (const Error& error) {
      fail("problem", "{}", error.what());
    }
    const bool named = names_items(schedule_.problem);
    if (!named && first_item_) {
      fail(*first_item_, "a {} carries \"lo\" and \"len\": write them instead of \"item\"", name);
    }
    if (named && first_interval_) {
      fail(*first_interval_, "a {} carries an \"item\": write it instead of an interval", name);
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

 private:
  template <typename... Args>
  [[noreturn]] void fail(const std::string& where, fmt::format_string<Args...> text, Args&&... args) const {
    throw Error("{}: {}{}{}", place_, where, where.empty() ? "" : ": ", fmt::format(text, std::forward<Args>(args)...));
  }

  [[noreturn]] void wrong_type(std::string_view got) const {
    if (at_ == At::start) fail("", "expected an object {{\"chasqui\":1, ...}}, not {}: is this a schedule file?", got);
    fail(where(), "expected {}, not {}", expected(), got);
  }

  std::string where() const {
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
      case At::parts: return fmt::format("{}.parts[{}]", carrier_place(), pair_);
      case At::pair: return fmt::format("{}.parts[{}][{}]", carrier_place(), pair_, place_in_pair_);
      case At::operands: return fmt::format("operands[{}]", schedule_.operands.size());
      case At::adds: return fmt::format("adds[{}]", schedule_.adds.size());
      case At::add: return keyed(fmt::format("adds[{}]", schedule_.adds.size() - 1));
      case At::nodes: return keyed("nodes");
      case At::sizes:
      case At::run: return "nodes.sizes";
      case At::publications: return fmt::format("publications[{}]", schedule_.publications.size());
      case At::publication: return keyed(fmt::format("publications[{}]", schedule_.publications.size() - 1));
      case At::readings: return fmt::format("readings[{}]", schedule_.readings.size());
      case At::reading: return keyed(fmt::format("readings[{}]", schedule_.readings.size() - 1));
    }
    return "";
  }

  std::string_view expected() const {
    switch (at_) {
      case At::file:
        if (key_ == 1 || key_ == 2 || key_ == 10) return "an object {...}";
        if ((key_ >= 5 && key_ <= 7) || key_ >= 11) return "an array [...]";
        return "an integer";
      case At::problem: return key_ == 0 ? "the name of a collective" : key_ >= 3 ? "true or false" : "an integer";
      case At::sends: return "a message {\"t\":..., \"from\":..., \"to\":..., ...}";
      case At::nodes: return key_ == 0 ? "an array [[nodes,ranks],...]" : "an integer";
      case At::sizes: return "a pair [nodes,ranks]";
      case At::publications: return "an object {\"t\":..., \"rank\":..., ...}";
      case At::readings: return "an object {\"t\":..., \"rank\":..., \"from\":..., ...}";
      case At::send:
      case At::publication:
      case At::reading: return key_ == 6 ? "an array [[lo,len],[lo,len]]" : "an integer";
      case At::parts: return "a pair [lo,len]";
      case At::adds: return "an object {\"t\":..., \"rank\":..., \"from\":..., \"count\":...}";
      default: return "an integer";
    }
  }

  /// Was this key of the file read?
  bool has(std::string_view name) const {
    for (std::size_t i = 0; i < kFile.keys.size(); ++i) {
      if (kFile.keys[i] == name) return (file_seen_ >> i & 1U) != 0;
    }
    return false;
  }

  void require_keys() const {
    const Grammar& g = *grammar(at_);
    const unsigned seen = at_ == At::file ? file_seen_ : seen_;
    for (std::size_t i = 0; i < g.keys.size(); ++i) {
      if ((g.required >> i & 1U) != 0 && (seen >> i & 1U) == 0) fail(where(), "\"{}\" is missing: add it", g.keys[i]);
    }
  }

  std::int32_t small(std::int64_t value) const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (value < -most || value > most) fail(where(), "{} is out of range: use a number of at most {}", value, most);
    return static_cast<std::int32_t>(value);
  }

  std::int64_t at_least(std::int64_t least, std::int64_t value) const {
    if (value < least) fail(where(), "{} is too small: it must be at least {}", value, least);
    if (value > kMaxTime) fail(where(), "{} is out of range: use a number of at most {}", value, kMaxTime);
    return value;
  }

  Time time(std::int64_t value) const {
    if (value < -kMaxTime || value > kMaxTime)
      fail(where(), "{} is out of range: use a time of at most {} ticks", value, kMaxTime);
    return Time{value};
  }

  void file_number(std::int64_t value) {
    switch (key_) {
      case 0:
        if (value != 1 && value != 2)
          fail(where(), "version {} is unknown: this program reads versions 1 and 2", value);
        version_ = static_cast<int>(value);
        return;
      case 3: schedule_.finish = time(value); return;
      case 4: schedule_.bound = time(value); return;
      case 8: schedule_.period = Time{at_least(0, value)}; return;
      case 9: schedule_.delay = Time{at_least(0, value)}; return;
      default: wrong_type("a number");
    }
  }

  void send_number(std::int64_t value) {
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

  void add_number(std::int64_t value) {
    Add& add = schedule_.adds.back();
    switch (key_) {
      case 0: add.begin = time(value); return;
      case 1: add.rank = Rank{small(value)}; return;
      case 2: add.from = Rank{small(value)}; return;
      default: add.count = at_least(0, value); return;
    }
  }

  void nodes_number(std::int64_t value) {
    if (key_ == 0) wrong_type("a number");
    (key_ == 1 ? schedule_.nodes.gamma : key_ == 2 ? schedule_.nodes.publish : schedule_.nodes.read) = time(value);
  }

  /// Of a publication or a reading.
  void board_number(std::int64_t value) {
    const bool published = at_ == At::publication;
    const auto [part, second] = cargo();
    switch (key_) {
      case 0: (published ? schedule_.publications.back().begin : schedule_.readings.back().begin) = time(value); return;
      case 1:
        (published ? schedule_.publications.back().rank : schedule_.readings.back().rank) = Rank{small(value)};
        return;
      case 2: schedule_.readings.back().from = Rank{small(value)}; return;
      case 3: part = {small(value), 1}; return;
      case 4: part.lo = small(value); return;
      case 5: part.len = small(value); return;
      default: wrong_type("a number");
    }
  }

  /// Where that stands whose parts are read.
  std::string carrier_place() const {
    if (carrier_ == At::publication) return fmt::format("publications[{}]", schedule_.publications.size() - 1);
    if (carrier_ == At::reading) return fmt::format("readings[{}]", schedule_.readings.size() - 1);
    return fmt::format("sends[{}]", schedule_.sends.size() - 1);
  }

  /// What the message, publication or reading just begun carries.
  std::pair<Part&, Part&> cargo() {
    const At at = at_ == At::pair ? carrier_ : at_;
    if (at == At::publication) return {schedule_.publications.back().part, schedule_.publications.back().second};
    if (at == At::reading) return {schedule_.readings.back().part, schedule_.readings.back().second};
    return {schedule_.sends.back().part, schedule_.sends.back().second};
  }

  void end_cargo() {
    const unsigned payload = seen_ & (kItemKey | kIntervalKeys | kPartsKey);
    if (payload == kItemKey) {
      if (!first_item_) first_item_ = where();
    } else if (payload == kIntervalKeys || payload == kPartsKey) {
      if (!first_interval_) first_interval_ = where();
    } else {
      fail(where(), "say what it carries by exactly one of \"item\", \"lo\" with \"len\", and \"parts\"");
    }
  }

  std::string_view text_;
  std::string_view place_;
  At at_ = At::start;
  int key_ = -1;            ///< index of the key just read in the grammar of at_
  unsigned seen_ = 0;       ///< keys of the current inner object
  unsigned file_seen_ = 0;  ///< keys of the outermost object
  int pair_ = 0, place_in_pair_ = 0;
  std::int64_t run_[2] = {0, 0};  ///< how many nodes of how many ranks
  At carrier_ = At::send;         ///< whose parts are being read
  int version_ = 1;
  std::optional<std::string> first_item_, first_interval_;  ///< where "item", and "lo" or "parts", stood first
  Schedule schedule_;
};

}  // namespace

Schedule schedule_from_json(std::string_view text, std::string_view place) {
  Reader reader(text, place);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  return reader.finish();
}

Schedule read_schedule(const std::filesystem::path& path) {
  const std::string text = read_input(path.string(), "give the name of a schedule file");
  return schedule_from_json(text, path == "-" ? "standard input" : path.string());
}

}  // namespace chasqui
