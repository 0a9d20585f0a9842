// SPDX-License-Identifier: MIT
#include "group/hosts.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "group/appointment.hpp"
#include "run/board/node_memory.hpp"
#include "run/comm/node_fabric.hpp"

namespace chasqui::group {
namespace {

/// Of a host: the start of its kernel, and its network.
struct Identity {
  char start[48] = {};
  std::uint64_t network = 0;
  bool operator==(const Identity&) const = default;
};

Identity own_identity() {
  Identity own;
  std::string start;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> start;
  start.copy(own.start, sizeof own.start - 1);
  struct stat found {};
  if (stat("/proc/self/ns/net", &found) == 0) own.network = found.st_ino;
  return own;
}

/// The ranks under this rank's kernel, who share nothing but cores.
class MachineRanks final : public run::NodeRanks {
 public:
  MachineRanks(Meeting& all, const std::vector<int>& machine_of)
      : NodeRanks(0, static_cast<int>(std::count(machine_of.begin(), machine_of.end(),
                                                 machine_of[static_cast<std::size_t>(all.rank())]))),
        all_(all), machine_of_(machine_of) {}
  int most(int mine) override { return all_.most(mine); }
  int open_memory(std::size_t) override { return -1; }
  std::size_t free_memory() const override { return 0; }

 private:
  void gather_bytes(const void* mine, std::size_t bytes, void* all) override {
    const auto everybody = all_.gather(static_cast<const char*>(mine), bytes);
    auto* to = static_cast<char*>(all);
    for (std::size_t r = 0; r < machine_of_.size(); ++r) {
      if (machine_of_[r] == machine_of_[static_cast<std::size_t>(all_.rank())])
        to = std::copy_n(everybody.data() + r * bytes, bytes, to);
    }
  }

  Meeting& all_;
  const std::vector<int>& machine_of_;
};

}  // namespace

Hosts hosts_of(Meeting& all, int pretended) {
  const Identity mine = own_identity();
  const auto everybody = all.gather(&mine);
  const auto first = [&](auto&& same) {
    std::vector<int> firsts;
    for (const Identity& each : everybody) {
      const auto found =
          std::find_if(everybody.begin(), everybody.end(), [&](const Identity& a) { return same(a, each); });
      firsts.push_back(static_cast<int>(found - everybody.begin()));
    }
    return run::numbered(std::move(firsts));
  };
  Hosts hosts;
  hosts.machine_of = first([](const Identity& a, const Identity& b) { return std::strcmp(a.start, b.start) == 0; });
  hosts.host_of = pretended != 0 ? run::numbered(run::pretended_nodes(all.size(), pretended))
                                 : first([](const Identity& a, const Identity& b) { return a == b; });
  return hosts;
}

int cores_of_host(Meeting& all, const Hosts& hosts) {
  const auto alike = [&](const std::vector<int>& of) {
    return static_cast<int>(std::count(of.begin(), of.end(), of[static_cast<std::size_t>(all.rank())]));
  };
  MachineRanks machine(all, hosts.machine_of);
  return run::cores_of(machine) * alike(hosts.host_of) / machine.size();
}

std::unique_ptr<Meeting> meet_on_host(Meeting& all, const std::vector<int>& host_of, double timeout) {
  const auto me = static_cast<std::size_t>(all.rank());
  int rank = 0, size = 0;
  std::size_t first = me;
  for (std::size_t r = 0; r < host_of.size(); ++r) {
    if (host_of[r] != host_of[me]) continue;
    first = std::min(first, r);
    if (r < me) ++rank;
    ++size;
  }
  MeetingPlace place{.address = {}, .timeout = timeout};
  Card card;
  if (rank == 0 && size > 1) card = invite(place, "");
  const auto cards = all.gather(&card);
  follow(place, cards[first], "a host of the group");
  return std::make_unique<Meeting>(rank, size, std::move(place));
}

}  // namespace chasqui::group
