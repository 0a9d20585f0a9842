// SPDX-License-Identifier: MIT
// Any bytes are an Error or a schedule; a schedule passes through its file unchanged and can be judged.
#include <cstdint>

#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "require.hpp"

using namespace chasqui;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Schedule schedule;
  try {
    schedule = schedule_from_json(text, "input");
  } catch (const Error& error) {
    require_named_place(error);
    return 0;
  }
  normalise(schedule);
  // A message of two parts whose second is empty is written as one.
  for (Send& send : schedule.sends) {
    if (send.second.len == 0) send.second = {};
  }
  for (Publication& publication : schedule.publications) {
    if (publication.second.len == 0) publication.second = {};
  }
  for (Reading& reading : schedule.readings) {
    if (reading.second.len == 0) reading.second = {};
  }
  normalise(schedule);
  const Schedule again = schedule_from_json(to_json(schedule), "again");
  require(again.sends.size() == schedule.sends.size(), "all messages pass through the file");
  require(to_json(again) == to_json(schedule), "the file is stable");
  const VerifyOptions few{.most = 100};
  const Report report = verify(schedule, few);
  require(report.violations.size() <= few.most, "the limit holds");
  if (schedule.problem.kind != Kind::stream && schedule.nodes.empty()) {
    verify(schedule, {.receptions = Receptions::buffered, .buffer = 1, .most = 100});
  }
  return 0;
}
