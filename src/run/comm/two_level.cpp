// SPDX-License-Identifier: MIT
// Collectives of several nodes: one rank of each node, its leader, talks to the other nodes along a plan, the others
// talk to their leader through the board. Blocks travel in the order of the nodes, so nodes may have any size and
// their ranks may lie anywhere; folds that must keep the order need nodes that are intervals of ranks.
#include <algorithm>

#include "run/board/collectives.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/comm/tasks.hpp"
#include "run/messages/builders.hpp"

namespace chasqui::run {
namespace {

/// The blocks of whole nodes, every one straight. alltoall: from the input to the output, where block j holds what this node
/// gives to or gets from node j. reduce_scatter: all in the output, the fold of this node's block in its place.
Program nodes_straight(const Shape& shape, const NodeMap& nodes, const std::vector<std::size_t>& offsets) {
  constexpr Address input{Memory::input, 0}, output{Memory::output, 0};
  const auto node = static_cast<std::size_t>(shape.rank);
  const std::size_t members = nodes.members(shape.rank).size(), own = offsets[node + 1] - offsets[node];
  const bool folds = shape.kind == Kind::reduce_scatter;
  std::vector<BlockRange> given, gotten;
  for (std::size_t j = 0; j + 1 < offsets.size(); ++j) {
    const std::size_t times = folds ? 1 : members;
    given.push_back({times * offsets[j], times * (offsets[j + 1] - offsets[j])});
    if (folds) gotten.push_back({j * own, own});
  }
  Program program;
  if (!folds) {
    add_straight(program, shape, input, given, output, given);
    program.finish();
    return program;
  }
  const Address blocks = program.more_scratch(own * static_cast<std::size_t>(shape.size));
  add_straight(program, shape, output, given, blocks, gotten);
  program.finish();
  add_fold_in_order(program, shape, blocks, own / shape.element, output + offsets[node]);
  return program;
}

/// One rank's view of the level between the nodes.
struct BetweenNodes {
  Group group;     ///< the leaders; the plan's ranks are the nodes
  Choice choice;   ///< how the leaders talk
  int node = 0;    ///< this rank's
  int root = -1;   ///< the root's node
  int leader = 0;  ///< its place in this rank's node
  bool leads = false;
  bool alone = false;  ///< nobody else on this node
};

/// Only a leader needs to know the other leaders, and how they talk: that is chosen once for calls that are alike.
BetweenNodes between_nodes(Tasks& tasks, const Call& call, std::uint32_t tag) {
  const NodeMap& nodes = tasks.nodes();
  const int me = tasks.rank();
  BetweenNodes between;
  between.node = nodes.node_of(me);
  if (has_root(call.kind)) between.root = nodes.node_of(call.root);
  // The root of its node; for a scan the last, who knows the fold of its node; else the first.
  const auto leader_of = [&](int node) {
    return node == between.root      ? static_cast<int>(call.root)
           : call.kind == Kind::scan ? nodes.members(node).back()
                                     : nodes.members(node).front();
  };
  const int leader = leader_of(between.node);
  between.leader = nodes.place_of(leader);
  between.leads = leader == me;
  between.alone = nodes.members(between.node).size() == 1;
  if (!between.leads) return between;
  between.group = tasks.all_ranks(tag);
  between.group.rank = between.node;
  between.group.size = nodes.count();
  for (int node = 0; node < nodes.count(); ++node) between.group.members.push_back(leader_of(node));
  between.choice = tasks.selection().between_leaders(call);
  return between;
}

/// The blocks of whole nodes between their leaders.
std::shared_ptr<const Program> blocks_between(Tasks& tasks, const BetweenNodes& between, const Call& outer,
                                              const std::vector<std::size_t>& offsets) {
  const Shape shape = shape_of(outer, between.group.rank, between.group.size);
  const Choice& choice = between.choice;
  return tasks.program_between_nodes(shape, choice, [&] {
    if (outer.exchanges() && choice.method == Method::messages) return nodes_straight(shape, tasks.nodes(), offsets);
    return block_program(shape, choice.method, choice.parts, tasks.machine(), offsets);
  });
}

/// broadcast, reduce, allreduce, barrier
Task two_level_fold(Tasks& tasks, Call call, BetweenNodes between) {
  Call outer = call;
  outer.root = std::max(between.root, 0);
  Call inner = call;
  inner.root = between.leader;
  if (call.kind == Kind::broadcast) {
    if (between.leads) co_await tasks.by_messages(between.group, outer, between.choice);
    if (!between.alone) co_await tasks.inside_node(inner);
    co_return;
  }
  inner.kind = Kind::reduce;
  if (call.kind == Kind::barrier) inner.count = outer.count = 0;
  const bool spare = between.leads && call.kind == Kind::reduce && between.node != between.root;
  AlignedBuffer scratch;
  if (spare) {
    scratch = AlignedBuffer(call.bytes());
    inner.out = scratch.data();
    if (inner.in == nullptr) inner.in = call.out;
  }
  if (!between.alone) co_await tasks.inside_node(inner);
  if (between.leads) {
    if (!between.alone) outer.in = inner.out;
    if (spare) outer.out = inner.out;
    co_await tasks.by_messages(between.group, outer, between.choice);
  }
  if (call.kind == Kind::reduce || between.alone) co_return;
  inner.kind = Kind::broadcast;
  inner.in = nullptr;
  co_await tasks.inside_node(inner);
}

/// gather, allgather
Task two_level_gather(Tasks& tasks, Call call, BetweenNodes between) {
  const std::size_t bytes = call.bytes();
  const bool everywhere = call.kind == Kind::allgather;
  const bool at_root = everywhere || tasks.rank() == static_cast<int>(call.root);
  const auto offsets = tasks.nodes().offsets(bytes);
  auto* out = static_cast<std::byte*>(call.out);
  const bool in_place = at_root && tasks.topology().ordered;
  const AlignedBuffer scratch(!in_place && (between.leads || everywhere) ? offsets.back() : 0);
  std::byte* data = in_place ? out : scratch.data();
  std::byte* own_node = data + offsets[static_cast<std::size_t>(between.node)];
  Call inner = call;
  inner.kind = Kind::gather;
  inner.root = between.leader;
  if (call.in == nullptr && out != nullptr) inner.in = out + static_cast<std::size_t>(tasks.rank()) * bytes;
  inner.out = between.leads ? own_node : nullptr;
  if (between.alone) copy_bytes(own_node, inner.in, bytes);
  else co_await tasks.inside_node(inner);
  if (between.leads) {
    Call outer = call;
    outer.root = std::max(between.root, 0);
    outer.count *= tasks.topology().largest_node;
    co_await play(between.group, blocks_between(tasks, between, outer, offsets), {data, data}, {});
  }
  if (everywhere && !between.alone) {
    inner.kind = Kind::broadcast;
    inner.in = nullptr;
    inner.out = data;
    inner.count = call.count * tasks.topology().ranks;
    co_await tasks.inside_node(inner);
  }
  if (at_root && !in_place && bytes != 0) tasks.nodes().by_ranks(data, out, bytes);
}

Task two_level_scatter(Tasks& tasks, Call call, BetweenNodes between) {
  const std::size_t bytes = call.bytes();
  const bool at_root = tasks.rank() == static_cast<int>(call.root);
  const auto offsets = tasks.nodes().offsets(bytes);
  const auto* in = static_cast<const std::byte*>(call.in);
  const bool in_place = at_root && tasks.topology().ordered;
  const AlignedBuffer scratch(!in_place && between.leads ? offsets.back() : 0);
  std::byte* data = in_place ? const_cast<std::byte*>(in) : scratch.data();  // nothing arrives at the root
  if (at_root && !in_place && bytes != 0) tasks.nodes().by_nodes(in, data, bytes);
  if (between.leads) {
    Call outer = call;
    outer.root = between.root;
    outer.count *= tasks.topology().largest_node;
    co_await play(between.group, blocks_between(tasks, between, outer, offsets), {data, data}, {});
  }
  Call inner = call;
  inner.root = between.leader;
  inner.in = between.leads ? data + offsets[static_cast<std::size_t>(between.node)] : nullptr;
  if (!between.alone) co_await tasks.inside_node(inner);
  else if (call.out != nullptr) copy_bytes(call.out, inner.in, bytes);
}

/// Leaders collect what their node gives, one message a pair of nodes, and hand out what it gets. Blocks of two nodes travel
/// by receiver, then by sender.
Task two_level_all_to_all(Tasks& tasks, Call call, BetweenNodes between) {
  const std::size_t bytes = call.bytes();
  const std::vector<int>& members = tasks.nodes().members(between.node);
  const std::size_t row = bytes * static_cast<std::size_t>(tasks.topology().ranks),
                    all = between.leads ? row * members.size() : 0;
  const auto offsets = tasks.nodes().offsets(bytes);
  const AlignedBuffer rows(all), given(all), gotten(all);
  Call inner = call;
  inner.kind = Kind::gather;
  inner.root = between.leader;
  inner.count = call.count * tasks.topology().ranks;
  inner.out = between.leads ? rows.data() : nullptr;
  if (between.alone) copy_bytes(rows.data(), call.in, row);
  else co_await tasks.inside_node(inner);
  if (between.leads) {
    // Calls copy(in rows, in blocks of nodes) for each block of each member and rank elsewhere.
    const auto each_block = [&](bool by_receiver, const auto& copy) {
      for (int node = 0; node < tasks.nodes().count(); ++node) {
        const auto& others = tasks.nodes().members(node);
        for (std::size_t i = 0; i < members.size(); ++i) {
          for (std::size_t k = 0; k < others.size(); ++k) {
            const std::size_t place = by_receiver ? k * members.size() + i : i * others.size() + k;
            copy(i * row + static_cast<std::size_t>(others[k]) * bytes,
                 members.size() * offsets[static_cast<std::size_t>(node)] + place * bytes);
          }
        }
      }
    };
    each_block(true,
               [&](std::size_t from, std::size_t to) { copy_bytes(given.data() + to, rows.data() + from, bytes); });
    co_await play(between.group, blocks_between(tasks, between, call, offsets), {given.data(), gotten.data()}, {});
    each_block(false,
               [&](std::size_t to, std::size_t from) { copy_bytes(rows.data() + to, gotten.data() + from, bytes); });
  }
  inner.kind = Kind::scatter;
  inner.in = between.leads ? rows.data() : nullptr;
  inner.out = call.out;
  if (between.alone) copy_bytes(call.out, rows.data(), row);
  else co_await tasks.inside_node(inner);
}

/// Leaders have the folds of their nodes, exchange them by nodes, and hand out what their node gets.
Task two_level_reduce_scatter(Tasks& tasks, Call call, BetweenNodes between) {
  const std::size_t bytes = call.bytes();
  const auto offsets = tasks.nodes().offsets(bytes);
  const AlignedBuffer folded(between.leads ? offsets.back() : 0);
  const AlignedBuffer sorted(between.leads && !tasks.topology().ordered ? offsets.back() : 0);
  std::byte* data = folded.data();
  Call inner = call;
  inner.kind = Kind::reduce;
  inner.root = between.leader;
  inner.count = call.count * tasks.topology().ranks;
  inner.out = between.leads ? data : nullptr;
  if (between.alone) copy_bytes(data, call.in, offsets.back());
  else co_await tasks.inside_node(inner);
  if (between.leads) {
    if (!tasks.topology().ordered) {
      tasks.nodes().by_nodes(folded.data(), sorted.data(), bytes);
      data = sorted.data();
    }
    co_await play(between.group, blocks_between(tasks, between, call, offsets), {data, data}, call.op);
  }
  inner.kind = Kind::scatter;
  inner.count = call.count;
  inner.in = between.leads ? data + offsets[static_cast<std::size_t>(between.node)] : nullptr;
  inner.out = call.out;
  if (between.alone) copy_bytes(call.out, inner.in, bytes);
  else co_await tasks.inside_node(inner);
}

/// The folds of the ranks before this one: those of its node through the board, those of earlier nodes from its leader.
/// REQUIRES nodes that are intervals of ranks.
Task two_level_scan(Tasks& tasks, Call call, BetweenNodes between) {
  const std::size_t bytes = call.bytes();
  const auto count = static_cast<std::size_t>(call.count);
  const void* own = call.in != nullptr ? call.in : call.out;
  const AlignedBuffer before_memory(bytes), total_memory(bytes), earlier_memory(bytes);
  std::byte* before = before_memory.data();  // of this node, unless this rank is its first
  const bool first = tasks.nodes().members(between.node).front() == tasks.rank();
  if (!between.alone) {
    Call inner = call;
    inner.in = own;
    inner.out = before;
    inner.exclusive = true;
    co_await tasks.inside_node(inner);
  }
  std::byte* earlier = earlier_memory.data();  // of all nodes before this one, unless it is the first
  if (between.leads) {
    std::byte* total = total_memory.data();
    if (first) copy_bytes(total, own, bytes);
    else if (bytes != 0) call.op(before, own, total, count);
    Call outer = call;
    outer.in = total;
    outer.out = earlier;
    outer.exclusive = true;
    co_await tasks.by_messages(between.group, outer, between.choice);
  }
  if (between.node > 0 && !between.alone) {
    Call inner = call;
    inner.kind = Kind::broadcast;
    inner.root = between.leader;
    inner.in = nullptr;
    inner.out = earlier;
    co_await tasks.inside_node(inner);
  }
  if (bytes == 0) co_return;
  const std::byte* fold = nullptr;  // of everybody before this rank
  if (between.node > 0 && !first) call.op(earlier, before, before, count);
  if (!first) fold = before;
  else if (between.node > 0) fold = earlier;
  if (call.exclusive) {
    if (fold != nullptr) copy_bytes(call.out, fold, bytes);
  } else if (fold != nullptr) {
    call.op(fold, own, call.out, count);
  } else {
    copy_bytes(call.out, own, bytes);
  }
}

}  // namespace

Task in_two_levels(Tasks& tasks, Call call, std::uint32_t tag) {
  BetweenNodes between = between_nodes(tasks, call, tag);
  switch (call.kind) {
    case Kind::gather:
    case Kind::allgather: return two_level_gather(tasks, call, std::move(between));
    case Kind::scatter: return two_level_scatter(tasks, call, std::move(between));
    case Kind::alltoall: return two_level_all_to_all(tasks, call, std::move(between));
    case Kind::reduce_scatter: return two_level_reduce_scatter(tasks, call, std::move(between));
    case Kind::scan: return two_level_scan(tasks, call, std::move(between));
    default: return two_level_fold(tasks, call, std::move(between));
  }
}

}  // namespace chasqui::run
