// SPDX-License-Identifier: MIT
// MPI_Allgatherv, Gatherv, Scatterv: blocks padded to the largest one, unless they differ too much. Only the root of a
// gatherv or scatterv knows all sizes: a served one begins with a broadcast of 16 bytes by which the ranks decide alike,
// and its cost is part of what is compared with the MPI library's own.
#include "preload/buffer.hpp"

namespace chasqui::preload {
namespace {

bool negative(const int* counts, int ranks) {
  return std::any_of(counts, counts + ranks, [](int count) { return count < 0; });
}

/// The blocks of all ranks in one buffer.
struct Uneven {
  const int* counts;
  const int* displacements;
  std::size_t largest = 0, total = 0;

  Uneven(const int* counts_, const int* displacements_, int ranks, std::size_t element)
      : counts(counts_), displacements(displacements_) {
    for (int r = 0; r < ranks; ++r) {
      const std::size_t bytes = static_cast<std::size_t>(std::max(0, counts[r])) * element;
      largest = std::max(largest, bytes);
      total += bytes;
    }
  }
  bool very_uneven(int ranks) const { return largest * static_cast<std::size_t>(ranks) > 2 * total + 4096; }
  void* block(const Buffer& buffer, int r) const {
    return moved(buffer.where, static_cast<MPI_Aint>(displacements[r]) * buffer.facts.extent);
  }
};

void returns_blocks(Demand& demand, const Buffer& out, const Uneven& blocks, int ranks) {
  demand.out = out.where;
  for (int r = 0; r < ranks; ++r) {
    const Span span = span_of(out.facts, blocks.counts[r]);
    const MPI_Aint at = static_cast<MPI_Aint>(blocks.displacements[r]) * out.facts.extent;
    if (span.low == span.high) continue;
    const bool first = demand.touched.low == demand.touched.high;
    demand.touched.low = first ? at + span.low : std::min(demand.touched.low, at + span.low);
    demand.touched.high = first ? at + span.high : std::max(demand.touched.high, at + span.high);
  }
  demand.result = demand.touched;
}

void pack_one(Work& work, const Buffer& from, void* packed) {
  if (from.bytes() != 0) pack(from.where, from.count, from.type, from.facts, packed, work.quiet(), work.rank());
}
void unpack_one(Work& work, const Buffer& to, const void* packed) {
  if (to.bytes() != 0) unpack(to.where, to.count, to.type, to.facts, packed, work.quiet(), work.rank());
}

/// Every block to the root, or to all. `in` is nullptr in place.
void collect(Work& work, Kind kind, int root, const Buffer* in, const Buffer& out, const Uneven& blocks) {
  const int me = work.rank();
  Bytes mine(std::max(blocks.largest, in != nullptr ? in->bytes() : 0));
  Bytes all(blocks.largest * static_cast<std::size_t>(work.size()));
  pack_one(work, in != nullptr ? *in : Buffer(blocks.block(out, me), blocks.counts[me], out.type), mine.data());
  run::Call call = call_of(kind, blocks.largest, root);
  call.in = mine.data();
  call.out = all.data();
  work.run(call);
  for (int r = 0; r < work.size(); ++r) {
    if (in == nullptr && r == me) continue;
    unpack_one(work, Buffer(blocks.block(out, r), blocks.counts[r], out.type),
               all.data() + static_cast<std::size_t>(r) * blocks.largest);
  }
}

/// What the root says before a gatherv or scatterv: the largest block, or that the MPI library does it, and why.
std::size_t largest_of(Work& work, int root, const Uneven* blocks, bool good) {
  std::uint64_t news[2] = {0, static_cast<std::uint64_t>(Reason::none)};
  if (work.rank() == root) {
    Reason reason = Reason::argument;
    if (good) {
      news[0] = blocks->largest;
      const auto ranks = static_cast<std::size_t>(work.size());
      reason = blocks->largest == 0                   ? Reason::empty
               : blocks->largest > kMostMoved / ranks ? Reason::too_long
               : blocks->very_uneven(work.size())     ? Reason::uneven
                                                      : Reason::none;
    }
    news[1] = static_cast<std::uint64_t>(reason);
  }
  run::Call call = call_of(Kind::broadcast, sizeof news, root);
  call.out = news;
  work.run(call);
  if (news[1] != static_cast<std::uint64_t>(Reason::none)) throw Declined{static_cast<Reason>(news[1])};
  return news[0];
}

/// One cell for all sizes, because ranks other than the root cannot know them.
Demand of_any_size(Kind kind) {
  Demand demand;
  demand.shape.kind = kind;
  return demand;
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;
namespace run = chasqui::run;

extern "C" {

int MPI_Allgatherv(const void* send, int sendcount, MPI_Datatype sendtype, void* receive, const int counts[],
                   const int displacements[], MPI_Datatype receivetype, MPI_Comm comm) {
  const auto look = [&](const State& state) {
    const bool in_place = send == MPI_IN_PLACE;
    const Buffer out(receive, 0, receivetype);
    if (!out.good() || counts == nullptr || displacements == nullptr) return bad();
    if (!in_place && !Buffer(send, sendcount, sendtype).good()) return bad();
    if (negative(counts, state.size)) return bad();
    const auto own = static_cast<std::size_t>(counts[state.rank]) * out.facts.size;
    if (!in_place && Buffer(send, sendcount, sendtype).bytes() != own) return bad();
    const Uneven blocks(counts, displacements, state.size, out.facts.size);
    if (overlap_is_an_error(send, receive, blocks.total) ||
        (receive == nullptr && out.facts.dense && blocks.total != 0))
      return bad();
    Demand demand = demand_of(Kind::allgather, blocks.largest, state.size);
    if (blocks.very_uneven(state.size)) demand.reason = Reason::uneven;
    returns_blocks(demand, out, blocks, state.size);
    return demand;
  };
  const auto ours = [&](Work& work) {
    const bool in_place = send == MPI_IN_PLACE;
    const Buffer in(send, in_place ? 0 : sendcount, in_place ? receivetype : sendtype);
    const Buffer out(receive, 0, receivetype);
    const Uneven blocks(counts, displacements, work.size(), out.facts.size);
    collect(work, Kind::allgather, 0, in_place ? nullptr : &in, out, blocks);
  };
  return serve(
      Collective::Allgatherv, comm,
      {[&] { return PMPI_Allgatherv(send, sendcount, sendtype, receive, counts, displacements, receivetype, comm); },
       look, ours, nothing});
}

int MPI_Gatherv(const void* send, int sendcount, MPI_Datatype sendtype, void* receive, const int counts[],
                const int displacements[], MPI_Datatype receivetype, int root, MPI_Comm comm) {
  const auto mine = [&] { return Buffer(send, sendcount, sendtype); };  // not looked at in place
  const auto in_place = [&](int rank) { return rank == root && send == MPI_IN_PLACE; };
  const auto root_is_good = [&](int ranks) {
    const Buffer out(receive, 0, receivetype);
    if (!out.good() || counts == nullptr || displacements == nullptr || negative(counts, ranks)) return false;
    const Uneven blocks(counts, displacements, ranks, out.facts.size);
    if (send != MPI_IN_PLACE &&
        (!mine().good() || mine().bytes() != static_cast<std::size_t>(counts[root]) * out.facts.size))
      return false;
    return !overlap_is_an_error(send, receive, blocks.total) &&
           !(receive == nullptr && out.facts.dense && blocks.total != 0);
  };
  const auto look = [&](const State& state) {
    if (root < 0 || root >= state.size || (state.rank != root && !mine().good())) return bad();
    Demand demand = of_any_size(Kind::gather);
    if (state.rank != root || !root_is_good(state.size)) return demand;
    const Buffer out(receive, 0, receivetype);
    returns_blocks(demand, out, Uneven(counts, displacements, state.size, out.facts.size), state.size);
    return demand;
  };
  const auto ours = [&](Work& work) {
    if (work.rank() != root) {
      const std::size_t largest = largest_of(work, root, nullptr, true);
      Bytes packed(std::max(largest, mine().bytes()));
      pack_one(work, mine(), packed.data());
      run::Call call = call_of(Kind::gather, largest, root);
      call.in = packed.data();
      return work.run(call);
    }
    if (!root_is_good(work.size())) static_cast<void>(largest_of(work, root, nullptr, false));
    const Buffer out(receive, 0, receivetype);
    const Uneven blocks(counts, displacements, work.size(), out.facts.size);
    static_cast<void>(largest_of(work, root, &blocks, true));
    if (in_place(work.rank())) return collect(work, Kind::gather, root, nullptr, out, blocks);
    const Buffer own = mine();
    collect(work, Kind::gather, root, &own, out, blocks);
  };
  return serve(
      Collective::Gatherv, comm,
      {[&] { return PMPI_Gatherv(send, sendcount, sendtype, receive, counts, displacements, receivetype, root, comm); },
       look, ours, nothing});
}

int MPI_Scatterv(const void* send, const int counts[], const int displacements[], MPI_Datatype sendtype, void* receive,
                 int receivecount, MPI_Datatype receivetype, int root, MPI_Comm comm) {
  const auto mine = [&] { return Buffer(receive, receivecount, receivetype); };
  const auto in_place = [&](int rank) { return rank == root && receive == MPI_IN_PLACE; };
  const auto root_is_good = [&](int ranks) {
    const Buffer from(send, 0, sendtype);
    if (!from.good() || counts == nullptr || displacements == nullptr || negative(counts, ranks)) return false;
    const Uneven blocks(counts, displacements, ranks, from.facts.size);
    if (receive != MPI_IN_PLACE &&
        (!mine().good() || mine().bytes() != static_cast<std::size_t>(counts[root]) * from.facts.size))
      return false;
    return !overlap_is_an_error(send, receive, blocks.total) &&
           !(send == nullptr && from.facts.dense && blocks.total != 0);
  };
  const auto look = [&](const State& state) {
    if (root < 0 || root >= state.size || (state.rank != root && !mine().good())) return bad();
    Demand demand = of_any_size(Kind::scatter);
    if (!in_place(state.rank) && mine().good()) returns(demand, mine(), 1);
    return demand;
  };
  const auto ours = [&](Work& work) {
    const bool at_root = work.rank() == root;
    if (at_root && !root_is_good(work.size())) static_cast<void>(largest_of(work, root, nullptr, false));
    Bytes all;
    std::size_t largest = 0;
    if (at_root) {
      const Buffer from(send, 0, sendtype);
      const Uneven blocks(counts, displacements, work.size(), from.facts.size);
      largest = largest_of(work, root, &blocks, true);
      all.resize(largest * static_cast<std::size_t>(work.size()));
      for (int r = 0; r < work.size(); ++r) {
        if (r == root && in_place(root)) continue;
        pack_one(work, Buffer(blocks.block(from, r), counts[r], sendtype),
                 all.data() + static_cast<std::size_t>(r) * largest);
      }
    } else {
      largest = largest_of(work, root, nullptr, true);
    }
    Bytes packed(std::max(largest, in_place(work.rank()) ? 0 : mine().bytes()));
    run::Call call = call_of(Kind::scatter, largest, root);
    call.in = all.data();
    call.out = packed.data();
    work.run(call);
    if (!in_place(work.rank())) unpack_one(work, mine(), packed.data());
  };
  return serve(Collective::Scatterv, comm,
               {[&] {
                  return PMPI_Scatterv(send, counts, displacements, sendtype, receive, receivecount, receivetype, root,
                                       comm);
                },
                look, ours, nothing});
}

}  // extern "C"
