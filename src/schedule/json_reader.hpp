// SPDX-License-Identifier: MIT
// The reader of schedule files: a SAX handler instead of a document tree, so a file of 10^6 messages is read
// in one pass, straight into the Send array. It knows at each moment in which object it is (At) and which key
// came last.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"

namespace chasqui::schedule_file {

enum class At { start, file, machine, problem, sends, send, parts, pair, operands, adds, add, end };

struct Grammar {
  std::array<std::string_view, 10> keys;  ///< in the order of the switches below
  unsigned required;                      ///< bit i: keys[i] must be there
};

/// The keys of the object `at`, or nullptr where there are none.
const Grammar* grammar(At at);

/// "P", "L", "o", "g" with their quotes.
std::string quoted_list(const Grammar& g);

/// Text from the file, fit for one line of a message.
std::string shown(std::string_view text);

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
  bool number_float(number_float_t, const string_t& text);
  bool number_unsigned(number_unsigned_t value) {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(where(), "{} is out of range: use a number of at most {}", value, kMaxTime);
    }
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_integer(number_integer_t value);
  bool boolean(bool value);
  bool string(string_t& value);
  bool start_object(std::size_t);
  bool key(string_t& name);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& what);

  Schedule finish();

 private:
  template <typename... Args>
  [[noreturn]] void fail(const std::string& where, fmt::format_string<Args...> text, Args&&... args) const {
    throw Error("{}: {}{}{}", place_, where, where.empty() ? "" : ": ", fmt::format(text, std::forward<Args>(args)...));
  }
  [[noreturn]] void wrong_type(std::string_view got) const {
    if (at_ == At::start) fail("", "expected an object {{\"chasqui\":1, ...}}, not {}: is this a schedule file?", got);
    fail(where(), "expected {}, not {}", expected(), got);
  }

  std::string where() const;
  std::string_view expected() const;
  bool has(std::string_view name) const;
  void require_keys() const;
  std::int32_t small(std::int64_t value) const;
  std::int64_t at_least(std::int64_t least, std::int64_t value) const;
  Time time(std::int64_t value) const;
  void file_number(std::int64_t value);
  void send_number(std::int64_t value);
  void add_number(std::int64_t value);
  void end_send();

  std::string_view text_;
  std::string_view place_;
  At at_ = At::start;
  int key_ = -1;            ///< index of the key just read in the grammar of at_
  unsigned seen_ = 0;       ///< keys of the current inner object
  unsigned file_seen_ = 0;  ///< keys of the outermost object
  int pair_ = 0, place_in_pair_ = 0;
  std::optional<std::size_t> first_item_,
      first_interval_;  ///< the messages that used "item", and "lo" or "parts"
  Schedule schedule_;
};

}  // namespace chasqui::schedule_file
