// SPDX-License-Identifier: MIT
// Messages between rank 0 and a partner, timed at rank 0. Both call the same functions; everybody else passes by, but
// for bursts: those go to all ranks on other nodes in turn, as the messages of a collective do.
#pragma once

#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/run/comm.hpp"
#include "measure/clocks.hpp"
#include "measure/estimate.hpp"
#include "measure/waiting.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

inline constexpr std::uint32_t kProbeTag = 32'100;  ///< no collective uses it, nor the next

class MessageProbe final : public Probe {
 public:
  /// The partner: the last rank on another node than rank 0's; else the last.
  explicit MessageProbe(run::Comm& comm)
      : fabric_(run::fabric_of(comm)), transport_(*fabric_.messages), rank_(comm.rank()),
        buffer_(std::size_t{1} << 20) {
    for (int r = 1; r < comm.size(); ++r) {
      if (node_of(comm, r) != node_of(comm, 0)) others_.push_back(r);
    }
    if (others_.empty()) others_.push_back(comm.size() - 1);
    partner_ = others_.back();
  }

  double half_trip(std::size_t bytes) override {
    if (!takes_part()) return 0;
    const double start = clock_now();
    if (rank_ == 0) send(buffer_.data(), bytes);
    receive(buffer_.data(), bytes);
    if (rank_ != 0) send(buffer_.data(), bytes);
    return (clock_now() - start) / 2;
  }
  double send_overhead() override {
    if (!takes_part()) return 0;
    if (rank_ != 0) return echo();
    std::byte byte{};
    const double start = clock_now();
    const auto ticket = transport_.send(partner_, kProbeTag, &byte, 1);
    const double spent = clock_now() - start;
    finish(fabric_, ticket);
    receive(&byte, 1);
    return spent;
  }
  double receive_overhead(double patience) override {
    if (!takes_part()) return 0;
    if (rank_ != 0) return echo();
    std::byte byte{};
    send(&byte, 1);
    for (const double until = clock_now() + patience; clock_now() < until;) run::cpu_relax();
    const double start = clock_now();
    receive(&byte, 1);
    return clock_now() - start;
  }
  /// The last message goes to the partner, who answers when it has all of its own.
  double burst(int messages) override {
    const auto to = [&](int i) {
      return others_[others_.size() - 1 - static_cast<std::size_t>(messages - 1 - i) % others_.size()];
    };
    std::vector<std::byte> data(static_cast<std::size_t>(messages));
    std::vector<run::Transport::Ticket> tickets;
    tickets.reserve(data.size());
    const double start = clock_now();
    for (int i = 0; i < messages; ++i) {
      std::byte* byte = &data[static_cast<std::size_t>(i)];
      if (rank_ == 0) tickets.push_back(transport_.send(to(i), kProbeTag, byte, 1));
      else if (rank_ == to(i)) tickets.push_back(transport_.receive(0, kProbeTag, byte, 1));
    }
    for (const auto ticket : tickets) finish(fabric_, ticket);
    std::byte byte{};
    if (rank_ == 0) receive(&byte, 1);
    else if (rank_ == partner_) send(&byte, 1);
    return clock_now() - start;
  }

 private:
  bool takes_part() const { return rank_ == 0 || rank_ == partner_; }
  int other() const { return rank_ == 0 ? partner_ : 0; }
  void send(const void* data, std::size_t bytes) { finish(fabric_, transport_.send(other(), kProbeTag, data, bytes)); }
  void receive(void* data, std::size_t bytes) { finish(fabric_, transport_.receive(other(), kProbeTag, data, bytes)); }
  double echo() {
    std::byte byte{};
    receive(&byte, 1);
    send(&byte, 1);
    return 0;
  }

  const run::Fabric& fabric_;
  run::Transport& transport_;
  int rank_;
  std::vector<int> others_;  ///< who gets the messages of a burst
  int partner_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace chasqui::measure
