// SPDX-License-Identifier: MIT
// Rank 0 asks around while it waits: two equal waves in which everybody waits and no message is under way.
#include <algorithm>
#include <cstring>

#include "bsp/mpi_endpoint.hpp"
#include "bsp/waiting_report.hpp"

namespace chasqui::bsp::detail {

MpiEndpoint::Status MpiEndpoint::own_status(const Waiting& why) const {
  return {true, sent_, received_, why, fmt::format("{}", why.file)};
}

void MpiEndpoint::answer_probe(const Waiting& why) {
  RecordHead head;
  head.record = Record::status;
  head.from = rank_;
  head.index = *probe_;
  head.blocked = 1;
  head.information = sent_;
  head.received = received_;
  probe_.reset();
  Buffer bytes;
  Waiting sent = why;
  sent.file = "";
  std::memcpy(bytes.extend(sizeof sent), &sent, sizeof sent);
  const std::size_t length = std::strlen(why.file);
  std::memcpy(bytes.extend(length + 1), why.file, length + 1);
  send_control(0, head, bytes.view().first(bytes.size() - 1));
}

/// Rank 0 only, while it waits. Starts a wave, or judges the one that is complete.
void MpiEndpoint::look_for_deadlock(const Waiting& why) {
  if (wave_ > 0) {
    statuses_[0] = own_status(why);
    std::uint64_t sent = 0, received = 0;
    std::vector<Status> wave;
    for (const auto& status : statuses_) {
      if (!status) return;  // somebody computes, or has not answered yet
      sent += status->sent, received += status->received;
      wave.push_back(*status);
    }
    if (sent == received && wave == last_wave_) {
      std::vector<Waiting> waiting;
      std::vector<std::uint8_t> finished;
      for (const Status& status : wave) {
        waiting.push_back(status.why);
        waiting.back().file = status.where.c_str();
        finished.push_back(status.why.what == Waiting::For::nothing ? 1 : 0);
      }
      const MachineError report = waiting_report(waiting, finished);
      aborted_ = true;
      fault_ = report.fault();
      fault_text_ = report.text();
      RecordHead head;
      head.record = Record::abort;
      head.index = static_cast<std::uint32_t>(fault_);
      for (std::int32_t to = 1; to < size_; ++to) send_control(to, head, std::as_bytes(std::span(fault_text_)));
      return;
    }
    last_wave_ = std::move(wave);
  }
  ++wave_;
  std::fill(statuses_.begin(), statuses_.end(), std::nullopt);
  RecordHead head;
  head.record = Record::probe;
  head.index = wave_;
  for (std::int32_t to = 1; to < size_; ++to) send_control(to, head, {});
}

}  // namespace chasqui::bsp::detail
