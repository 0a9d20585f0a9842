// SPDX-License-Identifier: MIT
#include "chasqui/model/cluster.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/in_words.hpp"

namespace chasqui {
namespace {

/// "16" where all nodes are equal, "16,16,8" otherwise; of a long list the beginning.
std::string sizes(const Nodes& nodes) {
  if (nodes.uniform()) return fmt::format("{}", nodes.runs.front().size);
  constexpr std::int64_t kSpelled = 16;
  std::string text;
  for (std::int64_t node = 0; node < std::min(nodes.count(), kSpelled); ++node)
    text += fmt::format("{}{}", node == 0 ? "" : ",", nodes.size(node));
  return nodes.count() > kSpelled ? text + ",..." : text;
}

std::string board(const Nodes& nodes) {
  return fmt::format("gamma={} publish={} read={}", nodes.gamma.ticks, nodes.publish.ticks, nodes.read.ticks);
}

void require_range(const char* name, Time value) {
  if (value < Time{0} || value.ticks > kMaxParameter)
    throw Error("{}={} is out of range: it must lie in 0..{}", name, value.ticks, kMaxParameter);
}

}  // namespace

void Nodes::add(std::int64_t size, std::int64_t count) {
  if (!runs.empty() && runs.back().size == size) {
    runs.back().count += count;
  } else {
    runs.push_back({count, size});
  }
}

std::int64_t Nodes::count() const {
  std::int64_t total = 0;
  for (const Run& run : runs) total = saturating_add(total, run.count);
  return total;
}

std::int64_t Nodes::ranks() const {
  std::int64_t total = 0;
  for (const Run& run : runs) total = saturating_add(total, saturating_multiply(run.count, run.size));
  return total;
}

std::int64_t Nodes::largest() const {
  std::int64_t most = 0;
  for (const Run& run : runs) most = std::max(most, run.size);
  return most;
}

std::int64_t Nodes::smallest() const {
  std::int64_t least = largest();
  for (const Run& run : runs) least = std::min(least, run.size);
  return least;
}

std::int64_t Nodes::size(std::int64_t node) const {
  for (const Run& run : runs) {
    if (node < run.count) return run.size;
    node -= run.count;
  }
  CHASQUI_CHECK(false, "node={} of {}", node, count());
  return 0;
}

std::int64_t Nodes::first_rank(std::int64_t node) const {
  std::int64_t rank = 0;
  for (const Run& run : runs) {
    const std::int64_t skipped = std::min(node, run.count);
    rank += skipped * run.size;
    node -= skipped;
  }
  return rank;
}

std::int64_t Nodes::node_of(Rank rank) const {
  std::int64_t node = 0;
  std::int64_t left = rank.index;
  for (const Run& run : runs) {
    if (left < run.count * run.size) return node + left / run.size;
    left -= run.count * run.size;
    node += run.count;
  }
  CHASQUI_CHECK(false, "rank={} of {}", rank.index, ranks());
  return 0;
}

Cluster Cluster::uniform(std::int64_t N, std::int64_t n, LogP base, Time gamma, Time publish, Time read) {
  Cluster cluster{base, {.runs = {{N, n}}, .gamma = gamma, .publish = publish, .read = read}};
  cluster.base.P = cluster.nodes.ranks();
  return cluster;
}

void validate(const Nodes& nodes, const LogP& machine) {
  if (nodes.empty()) return;
  for (const Nodes::Run& run : nodes.runs) {
    if (run.count < 1) throw Error("N={} is too small: a cluster has at least one node", run.count);
    if (run.size < 1) throw Error("n={} is too small: a node has at least one rank", run.size);
  }
  if (nodes.ranks() > kMaxProcessors)
    throw Error("the nodes have {} ranks: there may be at most {}", in_words(nodes.ranks()), kMaxProcessors);
  if (nodes.ranks() != machine.P)
    throw Error("the nodes have {} ranks but P={}: their sizes must add up to P", nodes.ranks(), machine.P);
  require_range("gamma", nodes.gamma);
  require_range("publish", nodes.publish);
  require_range("read", nodes.read);
  if (nodes.gamma > machine.gap()) {
    throw Error("gamma={} is more than max(g, o)={}: then one rank alone waits for the adapter; make g at least {}",
                nodes.gamma.ticks, machine.gap().ticks, nodes.gamma.ticks);
  }
  if (nodes.publish + nodes.read > machine.lambda()) {
    throw Error(
        "publish={} and read={} together are more than L+2o={}: a board slower than the network is none; make every "
        "rank a node of its own",
        nodes.publish.ticks, nodes.read.ticks, machine.lambda().ticks);
  }
}

void validate(const Cluster& cluster) {
  if (cluster.nodes.empty()) throw Error("a cluster has at least one node: say how many with -N and -n");
  LogP machine = cluster.base;
  machine.P = std::clamp<std::int64_t>(machine.P, 1, kMaxProcessors);  // what is wrong with P the nodes say better
  validate(machine);
  validate(cluster.nodes, cluster.base);
}

std::string to_string(const Nodes& nodes) {
  return fmt::format("N={} n={} {}", nodes.count(), sizes(nodes), board(nodes));
}

std::string to_string(const Cluster& cluster) {
  const LogP& m = cluster.base;
  return fmt::format("N={} n={} L={} o={} g={} {}", cluster.nodes.count(), sizes(cluster.nodes), m.L.ticks, m.o.ticks,
                     m.g.ticks, board(cluster.nodes));
}

}  // namespace chasqui
