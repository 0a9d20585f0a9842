// SPDX-License-Identifier: MIT
// MPI_Barrier, Bcast, Gather, Scatter, Allgather. Data travels as bytes in the order of the type map, so ranks may
// describe the same data with different types; derived types are packed.
#include "preload/buffer.hpp"

namespace chasqui::preload {
namespace {

void broadcast(Work& work, const Buffer& data, int root) {
  run::Call call = call_of(Kind::broadcast, data.bytes(), root);
  call.out = data.where;
  if (data.facts.dense) return work.run(call);
  Bytes packed(data.bytes());
  call.out = packed.data();
  if (work.rank() == root)
    pack(data.where, data.count, data.type, data.facts, packed.data(), work.quiet(), work.rank());
  work.run(call);
  if (work.rank() != root)
    unpack(data.where, data.count, data.type, data.facts, packed.data(), work.quiet(), work.rank());
}

/// Gather at its root and allgather: `in` is missing when the own block is in place.
void collect(Work& work, Kind kind, const Buffer* in, const Buffer& out, int root) {
  run::Call call = call_of(kind, out.bytes(), root);
  Bytes packed_in, packed_out;
  if (in != nullptr && !in->facts.dense) {
    packed_in.resize(in->bytes());
    pack(in->where, in->count, in->type, in->facts, packed_in.data(), work.quiet(), work.rank());
  }
  if (in != nullptr) call.in = in->facts.dense ? in->where : packed_in.data();
  call.out = out.where;
  if (out.facts.dense) return work.run(call);
  packed_out.resize(out.bytes() * static_cast<std::size_t>(work.size()));
  call.out = packed_out.data();
  const auto own = static_cast<std::size_t>(work.rank()) * out.bytes();
  if (in == nullptr)
    pack(out.block(work.rank()), out.count, out.type, out.facts, packed_out.data() + own, work.quiet(), work.rank());
  work.run(call);
  for (int r = 0; r < work.size(); ++r) {
    if (in == nullptr && r == work.rank()) continue;
    unpack(out.block(r), out.count, out.type, out.facts, packed_out.data() + static_cast<std::size_t>(r) * out.bytes(),
           work.quiet(), work.rank());
  }
}

void bring(Work& work, const Buffer& in, int root) {
  run::Call call = call_of(Kind::gather, in.bytes(), root);
  Bytes packed;
  call.in = in.where;
  if (!in.facts.dense) {
    packed.resize(in.bytes());
    pack(in.where, in.count, in.type, in.facts, packed.data(), work.quiet(), work.rank());
    call.in = packed.data();
  }
  work.run(call);
}

void scatter(Work& work, const Buffer* in, const Buffer* out, int root) {
  const std::size_t bytes = in != nullptr ? in->bytes() : out->bytes();
  run::Call call = call_of(Kind::scatter, bytes, root);
  Bytes packed_in, packed_out;
  if (in != nullptr) {
    call.in = in->where;
    if (!in->facts.dense) {
      packed_in.resize(bytes * static_cast<std::size_t>(work.size()));
      for (int r = 0; r < work.size(); ++r) {
        pack(in->block(r), in->count, in->type, in->facts, packed_in.data() + static_cast<std::size_t>(r) * bytes,
             work.quiet(), work.rank());
      }
      call.in = packed_in.data();
    }
  }
  if (out != nullptr) {
    call.out = out->where;
    if (!out->facts.dense) {
      packed_out.resize(bytes);
      call.out = packed_out.data();
    }
  }
  work.run(call);
  if (!packed_out.empty())
    unpack(out->where, out->count, out->type, out->facts, packed_out.data(), work.quiet(), work.rank());
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  return serve(Collective::Barrier, comm,
               {[&] { return PMPI_Barrier(comm); }, [](const State&) { return Demand{}; },
                [](Work& work) { work.run(call_of(Kind::barrier, 0, 0)); }, nothing});
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const auto look = [&](const State& state) {
    const Buffer data(buffer, count, type);
    if (root < 0 || root >= state.size || !data.good()) return bad();
    Demand demand = demand_of(Kind::broadcast, data.bytes(), 1);
    returns(demand, data, 1);
    return demand;
  };
  return serve(Collective::Bcast, comm,
               {[&] { return PMPI_Bcast(buffer, count, type, root, comm); }, look,
                [&](Work& work) { broadcast(work, Buffer(buffer, count, type), root); }, nothing});
}

int MPI_Gather(const void* send, int sendcount, MPI_Datatype sendtype, void* receive, int receivecount,
               MPI_Datatype receivetype, int root, MPI_Comm comm) {
  const auto look = [&](const State& state) {
    if (root < 0 || root >= state.size) return bad();
    const bool at_root = state.rank == root;
    const bool in_place = at_root && send == MPI_IN_PLACE;
    if (!in_place && !Buffer(send, sendcount, sendtype).good()) return bad();
    if (!at_root) return demand_of(Kind::gather, Buffer(send, sendcount, sendtype).bytes(), state.size);
    const Buffer out(receive, receivecount, receivetype);
    if (!out.good() || overlap_is_an_error(send, receive, out.bytes())) return bad();
    if (!in_place && Buffer(send, sendcount, sendtype).bytes() != out.bytes()) return bad();
    Demand demand = demand_of(Kind::gather, out.bytes(), state.size);
    returns(demand, out, state.size);
    return demand;
  };
  const auto ours = [&](Work& work) {
    if (work.rank() != root) return bring(work, Buffer(send, sendcount, sendtype), root);
    const Buffer in(send, send == MPI_IN_PLACE ? 0 : sendcount, send == MPI_IN_PLACE ? receivetype : sendtype);
    collect(work, Kind::gather, send == MPI_IN_PLACE ? nullptr : &in, Buffer(receive, receivecount, receivetype), root);
  };
  return serve(Collective::Gather, comm,
               {[&] { return PMPI_Gather(send, sendcount, sendtype, receive, receivecount, receivetype, root, comm); },
                look, ours, nothing});
}

int MPI_Scatter(const void* send, int sendcount, MPI_Datatype sendtype, void* receive, int receivecount,
                MPI_Datatype receivetype, int root, MPI_Comm comm) {
  const auto look = [&](const State& state) {
    if (root < 0 || root >= state.size) return bad();
    const bool at_root = state.rank == root;
    const bool in_place = at_root && receive == MPI_IN_PLACE;
    if (!in_place && !Buffer(receive, receivecount, receivetype).good()) return bad();
    if (at_root && !Buffer(send, sendcount, sendtype).good()) return bad();
    if (at_root && overlap_is_an_error(send, receive, Buffer(send, sendcount, sendtype).bytes())) return bad();
    const std::size_t bytes =
        at_root ? Buffer(send, sendcount, sendtype).bytes() : Buffer(receive, receivecount, receivetype).bytes();
    if (at_root && !in_place && Buffer(receive, receivecount, receivetype).bytes() != bytes) return bad();
    Demand demand = demand_of(Kind::scatter, bytes, state.size);
    if (!in_place) returns(demand, Buffer(receive, receivecount, receivetype), 1);
    return demand;
  };
  const auto ours = [&](Work& work) {
    const bool at_root = work.rank() == root;
    const bool in_place = at_root && receive == MPI_IN_PLACE;
    const Buffer in(send, at_root ? sendcount : 0, at_root ? sendtype : receivetype);
    const Buffer out(receive, in_place ? 0 : receivecount, in_place ? sendtype : receivetype);
    scatter(work, at_root ? &in : nullptr, in_place ? nullptr : &out, root);
  };
  return serve(Collective::Scatter, comm,
               {[&] { return PMPI_Scatter(send, sendcount, sendtype, receive, receivecount, receivetype, root, comm); },
                look, ours, nothing});
}

int MPI_Allgather(const void* send, int sendcount, MPI_Datatype sendtype, void* receive, int receivecount,
                  MPI_Datatype receivetype, MPI_Comm comm) {
  const auto look = [&](const State& state) {
    const Buffer out(receive, receivecount, receivetype);
    const bool in_place = send == MPI_IN_PLACE;
    if (!out.good() || overlap_is_an_error(send, receive, out.bytes())) return bad();
    if (!in_place && !Buffer(send, sendcount, sendtype).good()) return bad();
    if (!in_place && Buffer(send, sendcount, sendtype).bytes() != out.bytes()) return bad();
    Demand demand = demand_of(Kind::allgather, out.bytes(), state.size);
    returns(demand, out, state.size);
    return demand;
  };
  const auto ours = [&](Work& work) {
    const bool in_place = send == MPI_IN_PLACE;
    const Buffer in(send, in_place ? 0 : sendcount, in_place ? receivetype : sendtype);
    collect(work, Kind::allgather, in_place ? nullptr : &in, Buffer(receive, receivecount, receivetype), 0);
  };
  return serve(Collective::Allgather, comm,
               {[&] { return PMPI_Allgather(send, sendcount, sendtype, receive, receivecount, receivetype, comm); },
                look, ours, nothing});
}

}  // extern "C"
