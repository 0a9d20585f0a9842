// SPDX-License-Identifier: MIT
// A group whose ranks live on several hosts: which ranks share one, and how those meet.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "group/meeting.hpp"

namespace chasqui::group {

/// Of every rank, numbered by first appearance.
struct Hosts {
  std::vector<int> host_of;  ///< ranks that can reach each other by local sockets share one: kernel, network namespace
  std::vector<int> machine_of;  ///< ranks under one kernel, whose cores they share
};
/// Collective; `pretended`: Options::pretend_node_size.
Hosts hosts_of(Meeting& all, int pretended);

/// How many cores there are for the ranks of this rank's host, if those of its machine share them evenly; maybe 0. Collective.
int cores_of_host(Meeting& all, const Hosts& hosts);

/// The ranks of this rank's host, around the first of them. Collective over all of them; host_of[r]: of rank r of `all`.
std::unique_ptr<Meeting> meet_on_host(Meeting& all, const std::vector<int>& host_of, double timeout);

/// The ranks of this host, who ask along with all.
class HostRanks final : public run::NodeRanks {
 public:
  HostRanks(Meeting& all, Meeting& host) : NodeRanks(host.rank(), host.size()), all_(all), host_(host) {}

  int most(int mine) override { return all_.most(mine); }
  int open_memory(std::size_t bytes) override { return host_.open_memory(bytes); }
  std::size_t free_memory() const override { return host_.free_memory(); }

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override {
    const auto gathered = host_.gather(static_cast<const char*>(mine), bytes);
    std::copy(gathered.begin(), gathered.end(), static_cast<char*>(all));
  }

  Meeting& all_;
  Meeting& host_;
};

}  // namespace chasqui::group
