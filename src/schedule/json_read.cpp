// SPDX-License-Identifier: MIT
// The reader of schedule files: a SAX handler instead of a document tree, so a file of 10^6 messages is read in one pass,
// straight into the Send array. It knows at each moment in which object it is (At) and which key came last.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

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

// What numbers must be; the reader says where they stand.

std::int32_t small(std::int64_t value) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (value < -most || value > most) throw Error("{} is out of range: use a number of at most {}", value, most);
  return static_cast<std::int32_t>(value);
}

std::int64_t at_least(std::int64_t least, std::int64_t value) {
  if (value < least) throw Error("{} is too small: it must be at least {}", value, least);
  if (value > kMaxTime) throw Error("{} is out of range: use a number of at most {}", value, kMaxTime);
  return value;
}

Time time(std::int64_t value) {
  if (value < -kMaxTime || value > kMaxTime)
    throw Error("{} is out of range: use a time of at most {} ticks", value, kMaxTime);
  return Time{value};
}

using Set = void(Schedule& schedule, std::int64_t value);

/// Into a member of the last one of a list.
template <auto list, auto member>
void last(Schedule& schedule, std::int64_t value) {
  auto& into = (schedule.*list).back().*member;
  if constexpr (std::is_same_v<decltype(into), Time&>) into = time(value);
  else if constexpr (std::is_same_v<decltype(into), Rank&>) into = Rank{small(value)};
  else into = at_least(0, value);
}
template <auto list>
void item(Schedule& schedule, std::int64_t value) {
  (schedule.*list).back().part = {small(value), 1};
}
template <auto list, auto bound>
void interval(Schedule& schedule, std::int64_t value) {
  (schedule.*list).back().part.*bound = small(value);
}

struct Key {
  std::string_view name;
  bool required = false;
  Set* set = nullptr;    ///< where an integer goes
  At opens = At::start;  ///< an object or an array
  std::string_view expected = "an integer";
};

constexpr std::string_view kObject = "an object {...}", kArray = "an array [...]";
constexpr Key kFile[] = {
    {"chasqui", true, [](Schedule&, std::int64_t) {}},  // the reader keeps it
    {"machine", true, nullptr, At::machine, kObject},
    {"problem", true, nullptr, At::problem, kObject},
    {"finish", true, [](Schedule& s, std::int64_t value) { s.finish = time(value); }},
    {"bound", true, [](Schedule& s, std::int64_t value) { s.bound = time(value); }},
    {"sends", true, nullptr, At::sends, kArray},
    {"operands", false, nullptr, At::operands, kArray},
    {"adds", false, nullptr, At::adds, kArray},
    {"period", false, [](Schedule& s, std::int64_t value) { s.period = Time{at_least(0, value)}; }},
    {"delay", false, [](Schedule& s, std::int64_t value) { s.delay = Time{at_least(0, value)}; }},
    {"nodes", false, nullptr, At::nodes, kObject},
    {"publications", false, nullptr, At::publications, kArray},
    {"readings", false, nullptr, At::readings, kArray}};
constexpr Key kMachine[] = {{"P", true, [](Schedule& s, std::int64_t value) { s.machine.P = value; }},
                            {"L", true, [](Schedule& s, std::int64_t value) { s.machine.L.ticks = value; }},
                            {"o", true, [](Schedule& s, std::int64_t value) { s.machine.o.ticks = value; }},
                            {"g", true, [](Schedule& s, std::int64_t value) { s.machine.g.ticks = value; }}};
constexpr Key kProblem[] = {
    {"kind", true, nullptr, At::start, "the name of a collective"},
    {"root", false, [](Schedule& s, std::int64_t value) { s.problem.root = Rank{small(value)}; }},
    {"items", false, [](Schedule& s, std::int64_t value) { s.problem.items = at_least(1, value); }},
    {"commutative", false, nullptr, At::start, "true or false"},
    {"exclusive", false, nullptr, At::start, "true or false"}};
constexpr Key kAdd[] = {{"t", true, last<&Schedule::adds, &Add::begin>},
                        {"rank", true, last<&Schedule::adds, &Add::rank>},
                        {"from", true, last<&Schedule::adds, &Add::from>},
                        {"count", true, last<&Schedule::adds, &Add::count>}};
constexpr Key kNodes[] = {{"sizes", true, nullptr, At::sizes, "an array [[nodes,ranks],...]"},
                          {"gamma", true, [](Schedule& s, std::int64_t value) { s.nodes.gamma = time(value); }},
                          {"publish", true, [](Schedule& s, std::int64_t value) { s.nodes.publish = time(value); }},
                          {"read", true, [](Schedule& s, std::int64_t value) { s.nodes.read = time(value); }}};

/// When, who with whom, and what is carried: of a message, a publication and a reading.
template <auto list>
constexpr std::array<Key, 7> carrier(Key first, Key second, Key third) {
  return {{first,
           second,
           third,
           {"item", false, item<list>},
           {"lo", false, interval<list, &Part::lo>},
           {"len", false, interval<list, &Part::len>},
           {"parts", false, nullptr, At::parts, "an array [[lo,len],[lo,len]]"}}};
}
constexpr auto kSend = carrier<&Schedule::sends>({"t", true, last<&Schedule::sends, &Send::begin>},
                                                 {"from", true, last<&Schedule::sends, &Send::from>},
                                                 {"to", true, last<&Schedule::sends, &Send::to>});
constexpr auto kPublication =
    carrier<&Schedule::publications>({"t", true, last<&Schedule::publications, &Publication::begin>},
                                     {"rank", true, last<&Schedule::publications, &Publication::rank>}, {});
constexpr auto kReading = carrier<&Schedule::readings>({"t", true, last<&Schedule::readings, &Reading::begin>},
                                                       {"rank", true, last<&Schedule::readings, &Reading::rank>},
                                                       {"from", true, last<&Schedule::readings, &Reading::from>});
constexpr unsigned kItemKey = 1U << 3U, kIntervalKeys = 3U << 4U, kPartsKey = 1U << 6U;

/// The keys of the object `at`; none where it is no object.
std::span<const Key> keys_of(At at) {
  switch (at) {
    case At::file: return kFile;
    case At::machine: return kMachine;
    case At::problem: return kProblem;
    case At::send: return kSend;
    case At::add: return kAdd;
    case At::nodes: return kNodes;
    case At::publication: return kPublication;
    case At::reading: return kReading;
    default: return {};
  }
}

/// An array of objects, and one of them.
struct List {
  At at, one;
  std::string_view name, expected;
};
constexpr List kLists[] = {
    {At::sends, At::send, "sends", "a message {\"t\":..., \"from\":..., \"to\":..., ...}"},
    {At::adds, At::add, "adds", "an object {\"t\":..., \"rank\":..., \"from\":..., \"count\":...}"},
    {At::publications, At::publication, "publications", "an object {\"t\":..., \"rank\":..., ...}"},
    {At::readings, At::reading, "readings", "an object {\"t\":..., \"rank\":..., \"from\":..., ...}"}};
const List* list_of(At at) {
  const auto* found = std::find_if(std::begin(kLists), std::end(kLists),
                                   [&](const List& list) { return list.at == at || list.one == at; });
  return found == std::end(kLists) ? nullptr : found;
}

/// "P", "L", "o", "g" with their quotes.
std::string quoted_list(std::span<const Key> keys) {
  std::string list;
  for (const Key& key : keys) {
    if (!key.name.empty()) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", key.name);
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
    if (at_ == At::pair || at_ == At::run) {
      if (place_in_pair_ > 1) fail(where(), "a pair has two numbers {}: remove the rest", pair_form());
    } else if (at_ != At::operands && (key_ == nullptr || key_->set == nullptr)) {
      wrong_type("a number");
    }
    try {
      if (at_ == At::operands) schedule_.operands.push_back(at_least(0, value));
      else if (at_ == At::run) run_[place_in_pair_++] = at_least(1, value);
      else if (at_ == At::pair) part() = small(value), ++place_in_pair_;
      else key_->set(schedule_, value);
    } catch (const Error& error) {
      fail(where(), "{}", error.what());
    }
    if (key_ != &kFile[0] || at_ != At::file) return true;
    if (value != 1 && value != 2) fail(where(), "version {} is unknown: this program reads versions 1 and 2", value);
    version_ = static_cast<int>(value);
    return true;
  }

  bool boolean(bool value) {
    if (key_ != &kProblem[3] && key_ != &kProblem[4]) wrong_type(value ? "true" : "false");
    (key_ == &kProblem[3] ? schedule_.problem.commutative : schedule_.problem.exclusive) = value;
    return true;
  }

  bool string(string_t& value) {
    if (key_ != &kProblem[0]) wrong_type(fmt::format("\"{}\"", shown(value)));
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
    if (at_ == At::start) at_ = At::file;
    else if (const List* list = list_of(at_); list != nullptr && list->at == at_) begin(*list);
    else if (key_ != nullptr && !keys_of(key_->opens).empty()) at_ = key_->opens;
    else wrong_type("an object");
    key_ = nullptr;
    seen_ = 0;
    return true;
  }

  bool key(string_t& name) {
    const auto keys = keys_of(at_);
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.name == name && !name.empty(); });
    key_ = nullptr;
    if (found == keys.end() && at_ == At::file) refuse_other_files();
    if (found == keys.end()) fail(where(), "unknown key \"{}\": the keys here are {}", shown(name), quoted_list(keys));
    const unsigned bit = 1U << (found - keys.begin());
    unsigned& seen = at_ == At::file ? file_seen_ : seen_;
    if ((seen & bit) != 0) fail(where(), "\"{}\" is there twice: remove one", name);
    seen |= bit;
    key_ = &*found;
    return true;
  }

  bool end_object() {
    key_ = nullptr;
    require_keys();
    if (carries(at_)) end_cargo();
    const List* list = list_of(at_);
    at_ = list != nullptr ? list->at : at_ == At::file ? At::end : At::file;
    return true;
  }

  bool start_array(std::size_t) {
    if (at_ == At::parts && pair_ == 2) fail(where(), "a message has at most two parts: remove the rest");
    if (at_ == At::sizes || at_ == At::parts) {
      at_ = at_ == At::sizes ? At::run : At::pair;
      place_in_pair_ = 0;
    } else if (!keys_of(at_).empty() && key_ != nullptr && key_->opens != At::start && keys_of(key_->opens).empty()) {
      if (key_->opens == At::parts) carrier_ = at_, pair_ = 0;
      at_ = key_->opens;
    } else {
      wrong_type("an array");
    }
    return true;
  }

  bool end_array() {
    if ((at_ == At::pair || at_ == At::run) && place_in_pair_ != 2)
      fail(where(), "a pair has two numbers: write {}", pair_form());
    if (at_ == At::pair) {
      ++pair_;
      at_ = At::parts;
    } else if (at_ == At::parts) {
      at_ = carrier_;
      if (pair_ != 2) fail(where(), "\"parts\" has two pairs: write one part as \"lo\" and \"len\"");
    } else if (at_ == At::run) {
      if (run_[0] > kMaxProcessors) fail(where(), "{} nodes are too many: there may be {}", run_[0], kMaxProcessors);
      schedule_.nodes.add(run_[1], run_[0]);
      at_ = At::sizes;
    } else if (at_ == At::sizes) {
      at_ = At::nodes;
    } else {
      at_ = At::file;
      key_ = nullptr;
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
    const auto check = [&](const char* part, const auto& validation) {
      try {
        validation();
      } catch (const Error& error) {
        fail(part, "{}", error.what());
      }
    };
    check("machine", [&] { validate(schedule_.machine); });
    for (const char* key : {"nodes", "publications", "readings"}) {
      if (version_ == 2 && !has(key)) fail("", "\"{}\" is missing: a file of version 2 has it", key);
      if (version_ == 1 && has(key)) fail(key, "only a file of version 2 has it: write \"chasqui\":2");
    }
    if (version_ == 2) check("nodes", [&] { validate(Cluster{schedule_.machine, schedule_.nodes}); });
    check("problem", [&] { validate(schedule_.problem, schedule_.machine); });
    const bool named = names_items(schedule_.problem);
    if (!named && first_item_)
      fail(*first_item_, "a {} carries \"lo\" and \"len\": write them instead of \"item\"", to_string(kind));
    if (named && first_interval_)
      fail(*first_interval_, "a {} carries an \"item\": write it instead of an interval", to_string(kind));
    for (const auto& [key, only] : {std::pair{"operands", Kind::sum}, std::pair{"adds", Kind::sum},
                                    std::pair{"period", Kind::stream}, std::pair{"delay", Kind::stream}}) {
      if (kind == only && !has(key)) fail("", "\"{}\" is missing: a {} needs it", key, to_string(only));
      if (kind != only && has(key)) fail(key, "only a {} has it: remove it", to_string(only));
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

  /// Other files of Chasqui, by the key that only they have, wherever it stands.
  void refuse_other_files() const {
    for (const auto& [mark, what] :
         {std::pair{"\"chasqui_profile\"",
                    "a profile of `chasqui measure`, not a schedule: it is what --machine takes"},
          std::pair{"\"chasqui_timeline\"", "a timeline of a run, not a schedule: `chasqui draw` shows it"},
          std::pair{"\"chasqui_report\"", "a report of `chasqui run`, not a schedule"},
          std::pair{"\"chasqui_certificate\"",
                    "part of a proof, not a schedule: `chasqui check-proof` takes its folder"},
          std::pair{"\"chasqui_bsp\"", "a ledger of a BSP program, not a schedule: `chasqui bsp cost` takes it"}}) {
      if (text_.find(mark) != std::string_view::npos) fail("", "this is {}", what);
    }
  }

  [[noreturn]] void wrong_type(std::string_view got) const {
    if (at_ == At::start) fail("", "expected an object {{\"chasqui\":1, ...}}, not {}: is this a schedule file?", got);
    fail(where(), "expected {}, not {}", expected(), got);
  }

  std::string where() const {
    const auto in_list = [&](At at) {
      const List& list = *list_of(at);
      return fmt::format("{}[{}]", list.name, size_of(list) - (at == list.at ? 0 : 1));
    };
    std::string object;
    switch (at_) {
      case At::start:
      case At::end:
      case At::file: break;
      case At::machine: object = "machine"; break;
      case At::problem: object = "problem"; break;
      case At::nodes: object = "nodes"; break;
      case At::sizes:
      case At::run: return "nodes.sizes";
      case At::operands: return fmt::format("operands[{}]", schedule_.operands.size());
      case At::parts: return fmt::format("{}.parts[{}]", in_list(carrier_), pair_);
      case At::pair: return fmt::format("{}.parts[{}][{}]", in_list(carrier_), pair_, place_in_pair_);
      default: object = in_list(at_);
    }
    if (key_ != nullptr && !keys_of(at_).empty()) object += fmt::format("{}{}", object.empty() ? "" : ".", key_->name);
    return object;
  }

  std::string_view expected() const {
    if (at_ == At::parts) return "a pair [lo,len]";
    if (at_ == At::sizes) return "a pair [nodes,ranks]";
    if (const List* list = list_of(at_); list != nullptr && list->at == at_) return list->expected;
    return key_ != nullptr && !keys_of(at_).empty() ? key_->expected : "an integer";
  }

  /// Was this key of the file read?
  bool has(std::string_view name) const {
    const auto* key =
        std::find_if(std::begin(kFile), std::end(kFile), [&](const Key& each) { return each.name == name; });
    return (file_seen_ >> (key - kFile) & 1U) != 0;
  }

  void require_keys() const {
    const auto keys = keys_of(at_);
    const unsigned seen = at_ == At::file ? file_seen_ : seen_;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].required && (seen >> i & 1U) == 0) fail(where(), "\"{}\" is missing: add it", keys[i].name);
    }
  }

  static bool carries(At at) { return at == At::send || at == At::publication || at == At::reading; }
  std::string_view pair_form() const { return at_ == At::pair ? "[lo,len]" : "[nodes,ranks]"; }

  template <typename Use>
  static auto with(const List& list, Use&& use) {
    switch (list.at) {
      case At::sends: return use(&Schedule::sends);
      case At::adds: return use(&Schedule::adds);
      case At::publications: return use(&Schedule::publications);
      default: return use(&Schedule::readings);
    }
  }
  std::size_t size_of(const List& list) const {
    return with(list, [&](auto member) { return (schedule_.*member).size(); });
  }
  void begin(const List& list) {
    with(list, [&](auto member) { (schedule_.*member).emplace_back(); });
    at_ = list.one;
  }

  /// Of what is being carried, the number that comes next.
  std::int32_t& part() {
    const auto of = [&](auto& one) -> std::int32_t& {
      Part& part = pair_ == 0 ? one.part : one.second;
      return place_in_pair_ == 0 ? part.lo : part.len;
    };
    if (carrier_ == At::publication) return of(schedule_.publications.back());
    return carrier_ == At::reading ? of(schedule_.readings.back()) : of(schedule_.sends.back());
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
  const Key* key_ = nullptr;  ///< just read
  unsigned seen_ = 0;         ///< keys of the current inner object
  unsigned file_seen_ = 0;    ///< keys of the outermost object
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
