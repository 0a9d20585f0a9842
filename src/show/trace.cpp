// SPDX-License-Identifier: MIT
// Trace Event JSON, the format that Perfetto and chrome://tracing open.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "chasqui/show/draw.hpp"

namespace chasqui::show {
namespace {

/// Tracks: one per rank; on machines without overhead one for what goes out and one for what comes in, since sends and
/// receptions may coincide there.
struct Tracks {
  bool split;

  std::int64_t of(const Activity& activity) const {
    if (!split) return activity.rank.index;
    return 2 * std::int64_t{activity.rank.index} + (activity.doing == Doing::receive ? 1 : 0);
  }
};

class Writer {
 public:
  explicit Writer(double ticks_per_microsecond) : per_microsecond_(ticks_per_microsecond) {}

  std::string stamp(Time time) const {
    return fmt::format("{:.16g}", static_cast<double>(time.ticks) / per_microsecond_);
  }

  void event(const std::string& fields) {
    text_ += text_.empty() ? "\n  {" : ",\n  {";
    text_ += fields + "}";
  }

  std::string document(const std::string& title) const {
    return fmt::format("{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"title\": {}}}, \"traceEvents\": [{}\n]}}\n",
                       title, text_);
  }

 private:
  double per_microsecond_;
  std::string text_;
};

const char* name_of(Doing doing) {
  constexpr const char* kNames[] = {"send", "receive", "add", "publish", "read"};
  return kNames[static_cast<std::size_t>(doing)];
}

void write_track_names(Writer& writer, const Timeline& timeline, const Tracks& tracks) {
  for (std::int64_t rank = 0; rank < timeline.P; ++rank) {
    for (int part = 0; part < (tracks.split ? 2 : 1); ++part) {
      const std::int64_t track = tracks.split ? 2 * rank + part : rank;
      const char* suffix = !tracks.split ? "" : part == 0 ? " out" : " in";
      writer.event(
          fmt::format(R"("ph": "M", "name": "thread_name", "pid": 0, "tid": {}, "args": {{"name": "rank {}{}"}})",
                      track, rank, suffix));
      writer.event(
          fmt::format(R"("ph": "M", "name": "thread_sort_index", "pid": 0, "tid": {}, "args": {{"sort_index": {}}})",
                      track, track));
    }
  }
}

void write_activity(Writer& writer, const Timeline& timeline, const Tracks& tracks, const Activity& activity) {
  const std::int64_t track = tracks.of(activity);
  // An instant becomes a slice of one tick, which viewers can show and arrows can touch.
  const Time length = std::max(activity.end - activity.begin, Time{1});
  std::string name = name_of(activity.doing);
  std::string details;
  if (activity.message >= 0) {
    const Message& message = timeline.messages[static_cast<std::size_t>(activity.message)];
    const std::string what = carried(message, timeline);
    name += " " + what;
    details = fmt::format(R"("carries": "{}", "from": {}, "to": {})", what, message.from.index, message.to.index);
  } else {
    details = fmt::format(R"("additions": {})", activity.count);
  }
  writer.event(
      fmt::format(R"("ph": "X", "name": "{}", "cat": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}})",
                  name, name_of(activity.doing), track, writer.stamp(activity.begin), writer.stamp(length), details));
  if (activity.message < 0) return;
  const bool send = activity.doing == Doing::send;
  writer.event(fmt::format(
      R"("ph": "{}", {}"name": "message", "cat": "message", "id": {}, "pid": 0, "tid": {}, "ts": {})", send ? "s" : "f",
      send ? "" : R"("bp": "e", )", activity.message, track, writer.stamp(activity.begin)));
}

}  // namespace

std::string trace_json(const Timeline& timeline) {
  const bool instants = std::any_of(timeline.activities.begin(), timeline.activities.end(),
                                    [](const Activity& activity) { return activity.begin == activity.end; });
  const Tracks tracks{instants};
  Writer writer(timeline.ticks_per_microsecond);
  const std::string title =
      nlohmann::json(timeline.title).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  writer.event(fmt::format(R"("ph": "M", "name": "process_name", "pid": 0, "args": {{"name": {}}})", title));
  if (timeline.P <= 100'000) write_track_names(writer, timeline, tracks);
  for (const Activity& activity : timeline.activities) write_activity(writer, timeline, tracks, activity);
  return writer.document(title);
}

}  // namespace chasqui::show
