// SPDX-License-Identifier: MIT
#include "chasqui/schedule/schedule.hpp"

#include <algorithm>

#include "chasqui/schedule/trace.hpp"

namespace chasqui {

void normalise(Schedule& schedule) {
  std::sort(schedule.sends.begin(), schedule.sends.end());
  std::sort(schedule.adds.begin(), schedule.adds.end());
  std::sort(schedule.publications.begin(), schedule.publications.end());
  std::sort(schedule.readings.begin(), schedule.readings.end());
}

LocalForm restrict_to(const Schedule& schedule, Rank rank) {
  LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
  for (const Send& send : schedule.sends) {
    if (send.from == rank) local.sends.push_back(send);
    if (send.to == rank) local.receives.push_back(send);
  }
  for (const Add& add : schedule.adds) {
    if (add.rank == rank) local.adds.push_back(add);
  }
  for (const Publication& publication : schedule.publications) {
    if (publication.rank == rank) local.publications.push_back(publication);
  }
  for (const Reading& reading : schedule.readings) {
    if (reading.rank == rank) local.readings.push_back(reading);
  }
  std::sort(local.publications.begin(), local.publications.end());
  std::sort(local.readings.begin(), local.readings.end());
  std::sort(local.sends.begin(), local.sends.end());
  std::sort(local.receives.begin(), local.receives.end());
  std::sort(local.adds.begin(), local.adds.end());
  if (!schedule.operands.empty()) local.operands = schedule.operands.at(static_cast<std::size_t>(rank.index));
  return local;
}

Time actual_finish(const Schedule& schedule) {
  Time last{0};
  for (const Send& send : schedule.sends) last = std::max(last, available(schedule.machine, send));
  for (const Add& add : schedule.adds) last = std::max(last, add.begin + Time{add.count});
  for (const Reading& reading : schedule.readings) last = std::max(last, reading.begin + schedule.nodes.read);
  return last;
}

std::string to_string(CriticalStep::Reason reason) {
  constexpr const char* kWords[] = {"waited for its planned time",
                                    "began at once",
                                    "waited for what it carries",
                                    "waited for the gap after the previous send",
                                    "waited for the processor",
                                    "was under way",
                                    "waited for the gap after the previous reception",
                                    "waited for the gap of its node",
                                    "waited for the publication"};
  return kWords[static_cast<std::size_t>(reason)];
}

}  // namespace chasqui
