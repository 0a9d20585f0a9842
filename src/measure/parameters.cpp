// SPDX-License-Identifier: MIT
#include "measure/parameters.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/message_probe.hpp"
#include "measure/node_pattern.hpp"
#include "measure/sampler.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr double kMessagesShare = 0.3, kBoardShare = 0.4,
                 kBspShare = 0.5;  ///< shares of a round after which each must be over

/// Rank 0 writes; where it is the reader who comes late, the last rank does.
class BoardOfRanks final : public BoardProbe {
 public:
  BoardOfRanks(Comm& comm, Sampler& sampler) : comm_(comm), sampler_(sampler) {}

  double line() override {
    return sampler_.once([&] { comm_.broadcast(value_, 0); });
  }
  double write() override { return own_call(0, 0); }
  double late_read(double patience) override { return own_call(patience, comm_.size() - 1); }
  double all_lines() override {
    return sampler_.once([&] { comm_.allreduce(value_); });
  }
  double copy(std::int64_t bytes) override {
    data_.resize(static_cast<std::size_t>(bytes));
    return sampler_.once([&] { comm_.broadcast(std::span<std::byte>(data_), 0); });
  }

 private:
  /// What the call takes at this rank, rank 0 coming later than the others.
  double own_call(double patience, int root) {
    double spent = 0;
    sampler_.once([&] {
      if (comm_.rank() == 0) {
        for (const double until = clock_now() + patience; clock_now() < until;) cpu_relax();
      }
      const double start = clock_now();
      comm_.broadcast(value_, root);
      spent = clock_now() - start;
    });
    return spent;
  }

  Comm& comm_;
  Sampler& sampler_;
  double value_ = 1;
  std::vector<std::byte> data_;
};

void measure_board(Comm& comm, Sampler& sampler, Parameters& round) {
  BoardOfRanks probe(comm, sampler);
  round.on_board = board_parameters(probe, sampler.every());
}

/// The same line inside each group of each level, in all groups at the same time; the slowest counts.
void measure_levels(Comm& comm, double nanoseconds, Parameters& round) {
  const auto levels = comm.topology().near;  // kept: it is looked at until the end
  if (levels == nullptr) return;
  comm.broadcast(nanoseconds, 0);
  for (const NearLevel& level : levels->levels()) {
    const auto near = comm.split(level.group_of[static_cast<std::size_t>(comm.rank())], comm.rank());
    double part = 0;
    if (near->size() > 1) {
      Sampler inside(*near);
      inside.open(nanoseconds, true);
      double value = 1;
      part = *inside.together(1, [&] { near->broadcast(value, 0); });
      if (near->rank() != 0) part = 0;
    }
    double publish = round.on_board.publish;  // of rank 0, which has measured it
    comm.broadcast(publish, 0);
    part = std::min(1.0, part / std::max(publish, 1.0));
    round.near[static_cast<std::size_t>(level.what)] = comm.allreduce(part, run::Maximum{});
  }
}

/// Supersteps in which everybody sends and gets h messages, then a barrier.
double superstep(Comm& comm, Sampler& sampler, double share, int h, std::size_t bytes) {
  Transport& transport = *fabric_of(comm).messages;
  const int size = comm.size();
  std::vector<std::byte> out(static_cast<std::size_t>(h) * bytes), in(out.size());
  return *sampler.together(share, [&] {
    std::vector<Transport::Ticket> tickets;
    for (int i = 0; i < h; ++i) {
      const int shift = 1 + i % (size - 1);
      const std::size_t at = static_cast<std::size_t>(i) * bytes;
      tickets.push_back(transport.receive((comm.rank() - shift + size) % size, kProbeTag + 1, &in[at], bytes));
      tickets.push_back(transport.send((comm.rank() + shift) % size, kProbeTag + 1, &out[at], bytes));
    }
    for (const auto ticket : tickets) finish(fabric_of(comm), ticket);
    comm.barrier();
  });
}

/// One rank of each further node, a few at most, sends to rank 0.
FanIn fan_in(Comm& comm, Sampler& sampler, double share) {
  constexpr std::size_t kSenders = 4;
  FanIn found;
  found.bytes = 65'536;
  std::vector<int> senders;
  std::set<int> nodes = {node_of(comm, 0)};
  for (int r = 1; r < comm.size() && senders.size() < kSenders; ++r) {
    if (nodes.insert(node_of(comm, r)).second) senders.push_back(r);
  }
  if (senders.size() < 2) return found;
  found.senders = static_cast<int>(senders.size());
  Transport& transport = *fabric_of(comm).messages;
  std::vector<std::vector<std::byte>> data(comm.rank() == 0 ? kSenders : 1, std::vector<std::byte>(65'536));
  const auto from = [&](std::size_t count) {
    return *sampler.together(share / 2, [&] {
      std::vector<Transport::Ticket> tickets;
      for (std::size_t i = 0; i < count; ++i) {
        if (comm.rank() == 0)
          tickets.push_back(transport.receive(senders[i], kProbeTag + 1, data[i].data(), data[i].size()));
        if (comm.rank() == senders[i])
          tickets.push_back(transport.send(0, kProbeTag + 1, data[0].data(), data[0].size()));
      }
      for (const auto ticket : tickets) finish(fabric_of(comm), ticket);
    });
  };
  found.one = from(1);
  found.all = from(senders.size());
  return found;
}

class NodesOfRanks final : public NodeProbe {
 public:
  NodesOfRanks(Comm& comm, Sampler& sampler) : sampler_(sampler), fabric_(fabric_of(comm)) {
    std::map<int, std::vector<int>> members;
    for (int r = 0; r < comm.size(); ++r) members[node_of(comm, r)].push_back(r);
    for (auto& [node, ranks] : members) {
      const auto found = std::find(ranks.begin(), ranks.end(), comm.rank());
      if (found != ranks.end()) node_ = nodes_.size(), place_ = static_cast<std::size_t>(found - ranks.begin());
      if (node == node_of(comm, 0)) ranks_ = static_cast<int>(ranks.size());
      nodes_.push_back(std::move(ranks));
    }
    const auto largest = static_cast<std::size_t>(comm.topology().largest_node);
    const std::size_t own = nodes_[node_].size();
    out_.resize(static_cast<std::size_t>(kLongBytes * kLongMessages));
    in_.resize(out_.size() * ((largest + own - 1) / own));  // several of a larger node may send to one of this
  }

  int ranks() const { return ranks_; }  ///< of rank 0's node
  bool tells() const { return ranks_ > 1 && nodes_.size() > 1; }

  double burst(int lanes, int messages, std::int64_t bytes) override {
    return sampler_.once([&] {
      Transport& transport = *fabric_.messages;
      std::vector<Transport::Ticket> tickets;
      const auto length = static_cast<std::size_t>(bytes);
      std::size_t received = 0, sent = 0;
      for (const NodeMessage& message :
           node_pattern(nodes_, node_, place_, static_cast<std::size_t>(lanes), static_cast<std::size_t>(messages))) {
        tickets.push_back(message.arrives
                              ? transport.receive(message.peer, kProbeTag + 1, &in_[received++ * length], length)
                              : transport.send(message.peer, kProbeTag + 1, &out_[sent++ * length], length));
      }
      for (const auto ticket : tickets) finish(fabric_, ticket);
    });
  }

 private:
  Sampler& sampler_;
  const Fabric& fabric_;
  std::vector<std::vector<int>> nodes_;  ///< the ranks of each
  std::size_t node_ = 0, place_ = 0;     ///< this rank's node, and its place there
  int ranks_ = 0;
  std::vector<std::byte> out_, in_;
};

std::vector<NodeBurst> node_bursts_of(Comm& comm, Sampler& sampler, double share) {
  NodesOfRanks probe(comm, sampler);
  if (!probe.tells()) return {};
  return node_bursts(probe, probe.ranks(), [&](double part, const std::function<double()>& sample) {
    return sampler.every()(share * part, sample);
  });
}

MessageParameters messages_of(Comm& comm, Sampler& sampler, double nanoseconds) {
  MessageProbe probe(comm);
  sampler.open(nanoseconds, true);
  return message_parameters(probe, sampler.every());
}

/// The inside of the nodes, every node at the same time; rank 0's counts.
void measure_node(Comm& comm, const RoundBudget& budget, Parameters& round) {
  double times[2] = {budget.left(kMessagesShare), 0};
  times[1] = budget.left(kBoardShare) - std::max(0.0, times[0]);
  comm.broadcast(times, 0);
  const auto node = comm.split(node_of(comm, comm.rank()), comm.rank());
  if (node->size() > 1 && node->topology().nodes == 1) {
    Sampler inside(*node);
    round.node = messages_of(*node, inside, times[0]);
    inside.open(times[1], true);
    measure_board(*node, inside, round);
    measure_levels(*node, 0.02 * budget.nanoseconds, round);
    round.board = true;
    round.node_ranks = node->size();
    round.least += inside.least();
    round.cut = round.cut || inside.cut();
  }
  comm.barrier();
}

}  // namespace

double RoundBudget::left(double share) const { return begun + share * nanoseconds - clock_now(); }

Parameters measure_parameters(Comm& comm, const RoundBudget& budget) {
  if (comm.size() < 2) throw Error("measuring needs two ranks or more; this communicator has {}", comm.size());
  if (fabric_of(comm).messages == nullptr) throw Error("measuring needs messages between the ranks");
  const auto tell = [&](const char* what) {
    if (comm.rank() == 0 && budget.progress) budget.progress(what);
  };
  Sampler sampler(comm);
  Parameters round;
  round.ranks = comm.size();
  round.threads = comm.topology().shares_memory;
  const bool one_node = comm.topology().nodes == 1;
  const bool nodes = !one_node && comm.topology().largest_node > 1 && comm.topology().board;
  tell("messages");
  const MessageParameters messages =
      messages_of(comm, sampler, budget.left(nodes ? kMessagesShare / 2 : kMessagesShare));
  (one_node ? round.node : round.network) = messages;
  tell("memory that ranks share");
  if (one_node && comm.topology().board) {
    sampler.open(budget.left(kBoardShare), true);
    measure_board(comm, sampler, round);
    round.board = true;
    round.node_ranks = comm.size();
    measure_levels(comm, 0.02 * budget.nanoseconds, round);
  } else if (nodes) {
    measure_node(comm, budget, round);
  }
  tell("supersteps");
  sampler.open(budget.left(kBspShare), true);
  round.superstep = superstep(comm, sampler, 0.15, 1, 8);
  round.long_superstep = superstep(comm, sampler, 0.15, kWords, 8);
  round.block_superstep = superstep(comm, sampler, 0.2, blocks_sent(comm.size()), kBlock);
  round.fan_in = fan_in(comm, sampler, 0.2);
  if (nodes) round.bursts = node_bursts_of(comm, sampler, 0.3);
  round.clocks = sampler.clocks();
  round.least += sampler.least();
  round.cut = round.cut || sampler.cut();
  return round;
}

}  // namespace chasqui::measure
