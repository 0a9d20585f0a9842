// SPDX-License-Identifier: MIT
#include "bsp/processes/deadlock_waves.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bsp/waiting_report.hpp"

namespace chasqui::bsp::detail {

void pack(const RankStatus& status, Buffer& out) {
  Waiting why = status.why;
  why.file = "";
  std::byte* const place = out.extend(2 * sizeof(std::uint64_t) + sizeof why + status.where.size());
  const std::uint64_t counts[] = {status.sent, status.received};
  std::memcpy(place, counts, sizeof counts);
  std::memcpy(place + sizeof counts, &why, sizeof why);
  std::memcpy(place + sizeof counts + sizeof why, status.where.data(), status.where.size());
}

RankStatus unpack_status(std::span<const std::byte> bytes) {
  RankStatus status;
  std::uint64_t counts[2];
  std::memcpy(counts, bytes.data(), sizeof counts);
  status.sent = counts[0], status.received = counts[1];
  std::memcpy(&status.why, bytes.data() + sizeof counts, sizeof status.why);
  const std::span<const std::byte> where = bytes.subspan(sizeof counts + sizeof status.why);
  status.where.assign(reinterpret_cast<const char*>(where.data()), where.size());
  return status;
}

DeadlockWaves::Found DeadlockWaves::look(RankStatus own) {
  if (number_ > 0) {
    if (!all_have_answered()) return Found::nothing;
    answers_[0] = std::move(own);
    std::uint64_t sent = 0, received = 0;
    for (const auto& answer : answers_) sent += answer->sent, received += answer->received;
    if (sent == received && same_as_before()) return Found::deadlock;
    before_ = answers_;
  }
  ++number_;
  std::ranges::fill(answers_, std::nullopt);
  return Found::question;
}

bool DeadlockWaves::same_as_before() const {
  return std::ranges::equal(
      answers_, before_, [](const auto& a, const auto& b) { return a->sent == b->sent && a->received == b->received; });
}

void DeadlockWaves::hear(std::int32_t from, std::uint32_t wave, RankStatus status) {
  if (wave == number_) answers_[static_cast<std::size_t>(from)] = std::move(status);
}

bool DeadlockWaves::all_have_answered() const {
  return number_ == 0 ||
         std::all_of(answers_.begin() + 1, answers_.end(), [](const auto& answer) { return answer.has_value(); });
}

MachineError DeadlockWaves::report() const {
  std::vector<Waiting> waiting;
  std::vector<std::uint8_t> finished;
  for (const auto& answer : answers_) {
    waiting.push_back(answer->why);
    waiting.back().file = answer->where.c_str();
    finished.push_back(answer->why.what == Waiting::For::nothing ? 1 : 0);
  }
  return waiting_report(waiting, finished);
}

}  // namespace chasqui::bsp::detail
