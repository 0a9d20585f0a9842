// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/json_text.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/show/timeline.hpp"

namespace chasqui::show {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMost = 10'000'000;  ///< ranks, messages and activities of a file that can still be drawn
constexpr std::int64_t kFar = std::int64_t{1} << 53;

std::int64_t integer(const Json& value, std::int64_t least, std::int64_t most, const std::string& place,
                     const char* what) {
  if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    throw Error("{}: {} is {}: not a whole number in {}..{}", place, what,
                value.dump(-1, ' ', false, Json::error_handler_t::replace), least, most);
  }
  return value.get<std::int64_t>();
}

const Json& field(const Json& object, const char* key, const std::string& place) {
  if (!object.contains(key))
    throw Error("{}: no \"{}\": is it a file of `chasqui record` or `chasqui simulate --out`?", place, key);
  return object[key];
}

const Json& row(const Json& value, std::size_t length, const std::string& place) {
  if (!value.is_array() || value.size() != length)
    throw Error("{}: {} is not a list of {} numbers", place, value.dump(-1, ' ', false, Json::error_handler_t::replace),
                length);
  return value;
}

}  // namespace

std::string timeline_json(const Timeline& timeline) {
  std::string text = fmt::format(
      "{{\"chasqui_timeline\": 1, \"title\": {}, \"P\": {}, \"end\": {}, \"combining\": {}, \"measured\": {},\n"
      " \"ticks_per_microsecond\": {}, \"left_out\": {},\n",
      Json(timeline.title).dump(-1, ' ', true, Json::error_handler_t::replace), timeline.P, timeline.end.ticks,
      timeline.combining, timeline.measured, timeline.ticks_per_microsecond, timeline.left_out);
  if (!timeline.nodes.empty()) text += fmt::format(" \"nodes\": [{}],\n", fmt::join(timeline.nodes, ", "));
  text += " \"messages\": [";
  const char* comma = "\n  ";
  for (const Message& m : timeline.messages) {
    text += fmt::format("{}[{}, {}, {}, {}, {}, {}, {}, {}]", comma, m.from.index, m.to.index, m.departs.ticks,
                        m.arrives.ticks, m.part.lo, m.part.len, m.second.lo, m.second.len);
    comma = ",\n  ";
  }
  text += "],\n \"activities\": [";
  comma = "\n  ";
  for (const Activity& a : timeline.activities) {
    text += fmt::format("{}[{}, {}, {}, {}, {}, {}]", comma, a.rank.index, static_cast<int>(a.doing), a.begin.ticks,
                        a.end.ticks, a.message, a.count);
    comma = ",\n  ";
  }
  return text + "]}\n";
}

bool is_timeline(const std::string& text) {
  return text.find("\"chasqui_timeline\"") !=
         std::string::npos;  // no other file of ours has such a word, and keys have no order
}

Timeline timeline_from_json(const std::string& text, const std::string& place) {
  const Json object = json_document(text, place, "`chasqui record` and `chasqui simulate --out` write timelines");
  if (!object.is_object()) throw Error("{}: not a JSON object: is the file whole?", place);
  if (field(object, "chasqui_timeline", place) != 1)
    throw Error("{}: a timeline of another version: record it again", place);
  Timeline timeline;
  if (const Json& title = field(object, "title", place); title.is_string()) timeline.title = title.get<std::string>();
  timeline.P = integer(field(object, "P", place), 1, kMost, place, "P");
  timeline.end = Time{integer(field(object, "end", place), 0, kFar, place, "end")};
  timeline.combining = field(object, "combining", place) == true;
  timeline.measured = field(object, "measured", place) == true;
  timeline.left_out = integer(field(object, "left_out", place), 0, kFar, place, "left_out");
  const Json& scale = field(object, "ticks_per_microsecond", place);
  if (!scale.is_number() || !(scale.get<double>() > 0))
    throw Error("{}: ticks_per_microsecond is not a number above 0: record it again", place);
  timeline.ticks_per_microsecond = scale.get<double>();
  const auto number = [&](const Json& value, std::int64_t least, std::int64_t most, const char* what) {
    return integer(value, least, most, place, what);
  };
  const auto rank = [&](const Json& value) {
    return Rank{static_cast<std::int32_t>(number(value, 0, timeline.P - 1, "a rank"))};
  };
  const auto part = [&](const Json& lo, const Json& len) {
    return Part{static_cast<std::int32_t>(number(lo, 0, INT32_MAX, "a message")),
                static_cast<std::int32_t>(number(len, 0, INT32_MAX, "a message"))};
  };
  for (const Json& each : field(object, "messages", place)) {
    const Json& m = row(each, 8, place);
    const Time departs{number(m[2], -kFar, kFar, "a time")};
    timeline.messages.push_back({rank(m[0]), rank(m[1]), departs, Time{number(m[3], departs.ticks, kFar, "an arrival")},
                                 part(m[4], m[5]), part(m[6], m[7])});
  }
  if (object.contains("nodes")) {
    const Json& nodes = object["nodes"];
    if (!nodes.is_array()) throw Error("{}: \"nodes\" is not a list of first ranks: record it again", place);
    for (const Json& first : nodes) {
      const std::int64_t least = timeline.nodes.empty() ? 0 : timeline.nodes.back() + 1;
      timeline.nodes.push_back(
          number(first, least, timeline.nodes.empty() ? 0 : timeline.P - 1, "the first rank of a node"));
    }
  }
  const auto last = static_cast<std::int64_t>(timeline.messages.size()) - 1;
  for (const Json& each : field(object, "activities", place)) {
    const Json& a = row(each, 6, place);
    const auto doing = static_cast<Doing>(number(a[1], 0, static_cast<int>(Doing::read), "an activity"));
    const Time begin{number(a[2], -kFar, kFar, "a time")};
    const bool talks = doing == Doing::send || doing == Doing::receive;
    const std::int64_t message = number(a[4], talks ? 0 : -1, talks ? last : -1, "a message");
    timeline.activities.push_back({rank(a[0]), doing, begin, Time{number(a[3], begin.ticks, kFar, "an end")}, message,
                                   number(a[5], 0, kFar, "a count")});
  }
  normalise(timeline);
  return timeline;
}

}  // namespace chasqui::show
