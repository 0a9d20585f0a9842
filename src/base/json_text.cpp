// SPDX-License-Identifier: MIT
#include "base/json_text.hpp"

#include <algorithm>
#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 64;

/// Runs over the text and tells somebody else how far it came: the parser does not say where a value stood.
class Watched {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Watched(const char* at, const char*& reached) : at_(at), reached_(&reached) {}
  reference operator*() const { return *at_; }
  Watched& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  Watched operator++(int) {
    Watched before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Watched& other) const { return at_ == other.at_; }
  bool operator!=(const Watched& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// Builds the document from the events of json::sax_parse.
class Builder {
 public:
  Builder(std::string_view text, std::string_view place, std::string_view remedy, const char*& reached)
      : text_(text), place_(place), remedy_(remedy), reached_(reached) {}

  json take() { return std::move(root_); }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(json::number_integer_t value) { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) { return add(value); }
  bool number_float(json::number_float_t value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(json::object()); }
  bool key(std::string& name) {
    const auto [place, is_new] = open_.back()->get_ref<json::object_t&>().try_emplace(name);
    if (!is_new)
      fail(here(), fmt::format("the key {} is there twice",
                               json(name.substr(0, 40)).dump(-1, ' ', true, json::error_handler_t::replace)));
    slot_ = &place->second;
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) {
    if (byte > text_.size())
      throw Error("{}: the text ends too early, after byte {}; {}", place_, text_.size(), remedy_);
    fail(byte == 0 ? 0 : byte - 1, json_fault(error));
  }

 private:
  [[noreturn]] void fail(std::size_t byte, std::string_view what) const {
    throw Error("{}: {}: {}; {}", place_, line_and_column(text_, byte), what, remedy_);
  }
  std::size_t here() const {
    return static_cast<std::size_t>(std::max(reached_ - text_.data() - 1, std::ptrdiff_t{0}));
  }

  bool add(json value) {
    put(std::move(value));
    return true;
  }
  json* put(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*slot_ = std::move(value));
    open_.back()->push_back(std::move(value));
    return &open_.back()->back();
  }
  bool open(json empty) {
    if (open_.size() == kDeepest) fail(here(), fmt::format("more than {} values inside each other", kDeepest));
    open_.push_back(put(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string_view place_;
  std::string_view remedy_;
  const char*& reached_;
  json root_;
  std::vector<json*> open_;  // objects and arrays that have not ended
  json* slot_ = nullptr;     // where the value of the last key goes
};

}  // namespace

json json_document(std::string_view text, std::string_view place, std::string_view remedy) {
  const char* reached = text.data();
  Builder builder(text, place, remedy, reached);
  json::sax_parse(Watched(text.data(), reached), Watched(text.data() + text.size(), reached), &builder);
  return builder.take();
}

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return fmt::format("line {}, column {}", line, before.size() - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
}

std::string_view json_fault(const json::exception& error) {
  constexpr int kNumberOverflow = 406;
  return error.id == kNumberOverflow ? "this number is too large: at most 1e308 can be read"
                                     : "this is not JSON: write one complete object and nothing after it";
}

}  // namespace chasqui
