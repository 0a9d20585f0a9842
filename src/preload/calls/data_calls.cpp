// SPDX-License-Identifier: MIT
// MPI_Barrier, Bcast, Gather, Scatter, Allgather, Alltoall.
#include <optional>

#include "preload/calls/buffer.hpp"
#include "preload/component/ongoing.hpp"
#include "preload/native.hpp"
#include "preload/repeated.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::preload {
namespace {

/// A collective that moves blocks of one size; broadcasts have no send buffer.
struct Movement {
  Kind kind;
  int root;
  const void* send;
  MPI_Aint sendcount;
  MPI_Datatype sendtype;
  void* receive;
  MPI_Aint receivecount;
  MPI_Datatype receivetype;

  bool reads(int rank) const {
    switch (kind) {
      case Kind::broadcast: return false;
      case Kind::scatter: return rank == root;
      case Kind::gather: return rank != root || send != MPI_IN_PLACE;
      default: return send != MPI_IN_PLACE;
    }
  }
  bool writes(int rank) const {
    switch (kind) {
      case Kind::gather: return rank == root;
      case Kind::scatter: return rank != root || receive != MPI_IN_PLACE;
      default: return true;
    }
  }
};

/// The arguments that count on this rank: of the others not even the type is looked at.
struct Significant {
  std::optional<BufferArgument> in, out;

  template <typename PackerOf>
  Significant(const Movement& movement, int rank, PackerOf&& packer_of) {
    if (movement.reads(rank)) in.emplace(movement.send, movement.sendcount, packer_of(movement.sendtype));
    if (movement.writes(rank)) out.emplace(movement.receive, movement.receivecount, packer_of(movement.receivetype));
  }
  std::size_t bytes() const { return in ? in->bytes() : out->bytes(); }
};

CallFacts look_at(const Movement& movement, const CommState& state) {
  if (movement.root < 0 || movement.root >= state.size) return bad();
  const Significant data(movement, state.rank, [](MPI_Datatype type) { return type; });
  if ((data.in && !data.in->good()) || (data.out && !data.out->good())) return bad();
  if (movement.kind == Kind::alltoall) {
    const std::size_t all = data.out->bytes() * static_cast<std::size_t>(state.size);
    if (data.in && overlap_is_an_error(data.in->where, data.out->where, all)) return bad();
  } else if (data.in && data.out) {  // this rank's block among those of all, and the one alone
    const bool scatters = movement.kind == Kind::scatter;
    const BufferArgument& all = scatters ? *data.in : *data.out;
    const MPI_Aint before = all.count * state.rank * all.packer.facts.extent;
    const void* alone = scatters ? data.out->where : data.in->where;
    if (overlap_is_an_error(alone, moved(all.where, before), all.bytes())) return bad();
  }
  CallFacts facts = movement_of(movement.kind, data.bytes(), movement.kind == Kind::broadcast ? 1 : state.size);
  const bool gathers =
      movement.kind == Kind::gather || movement.kind == Kind::allgather || movement.kind == Kind::alltoall;
  const bool gives = movement.kind == Kind::broadcast && state.rank == movement.root;  // its data may be constant
  if (data.out && !gives) returns(facts, *data.out, gathers ? state.size : 1);
  return facts;
}

class MovementCall final : public OwnedCall {
 public:
  MovementCall(const Movement& movement, const CommState& state)
      : data_(movement, state.rank, [](MPI_Datatype type) {
          return TypePacker{type, facts_of(type)};
        }) {
    call = call_of(movement.kind, data_.bytes(), movement.root);
    if (data_.in) read_from(call, *data_.in);
    if (data_.out) write_to(call, *data_.out);
    if (fits()) return;
    aside_ = run::AlignedBuffer(data_.bytes() * static_cast<std::size_t>(state.size));
    call.out = aside_.data();
    call.out_layout = {};
  }
  void end() override {
    if (fits()) return;
    throw Truncated{
        fmt::format("this rank gives {} bytes and has room for {} from each", data_.in->bytes(), data_.out->bytes())};
  }

 private:
  bool fits() const { return !data_.in || !data_.out || data_.in->bytes() == data_.out->bytes(); }

  Significant data_;
  run::AlignedBuffer aside_;  ///< for what does not fit
};

void run_movement(ServedCall& served, const Movement& movement) {
  MovementCall call(movement, served.state());
  served.run(call);
}

constexpr bool by_send(Kind kind) { return kind == Kind::gather || kind == Kind::allgather; }
/// What this rank has of its own and on the other side. In place the one stands for the other, too.
struct Sides {
  Elements own, other;

  /// In numbers: what is copied as a whole so soon after it was written costs a short call ten nanoseconds.
  [[gnu::always_inline]] explicit Sides(const Movement& movement) {
    const bool no_send = movement.send == MPI_IN_PLACE, no_receive = movement.receive == MPI_IN_PLACE && !no_send;
    const MPI_Aint given = no_send ? movement.receivecount : movement.sendcount;
    const MPI_Aint taken = no_receive ? movement.sendcount : movement.receivecount;
    const MPI_Datatype given_type = no_send ? movement.receivetype : movement.sendtype;
    const MPI_Datatype taken_type = no_receive ? movement.sendtype : movement.receivetype;
    const bool sends = by_send(movement.kind);
    own.count = sends ? given : taken;
    own.type = sends ? given_type : taken_type;
    other.count = sends ? taken : given;
    other.type = sends ? taken_type : given_type;
  }
};
RepeatedCall like(Collective what, const Sides& sides, MPI_Comm comm) {
  return {what, comm, sides.own.count, sides.own.type};
}

/// Nothing, where the sides contradict each other.
std::optional<Found> found(const Movement& movement, const Sides& sides, const CommState& state) {
  const bool rooted = movement.kind == Kind::gather || movement.kind == Kind::scatter;
  const bool alone = movement.kind == Kind::broadcast || (rooted && state.rank != movement.root);
  const Elements other = alone ? sides.own : sides.other;  // what does not count may be anything
  const TypeFacts here = facts_of(sides.own.type), there = facts_of(other.type);
  const std::size_t bytes = static_cast<std::size_t>(sides.own.count) * here.size;
  if (static_cast<std::size_t>(other.count) * there.size != bytes) return {};
  return Found{.shape = call_of(movement.kind, bytes, 0),
               .other = movement.kind == Kind::broadcast ? sides.other : other,
               .stride = other.count * there.extent,
               .derived = here.derived || there.derived,
               .may_be_ours = here.dense && there.dense};
}

int serve_newly(Collective what, const Movement& movement, MPI_Comm comm, FunctionRef<int()> native) {
  const int code = serve(what, comm,
                         {native, [&](const CommState& state) { return look_at(movement, state); },
                          [&](ServedCall& served) { run_movement(served, movement); }, nothing});
  if (code != MPI_SUCCESS || !may_repeat(comm)) return code;
  const Sides sides(movement);
  if (const auto facts = found(movement, sides, *state_of(comm))) remember(like(what, sides, comm), *facts);
  return code;
}

template <typename Native>
[[gnu::always_inline]] inline int serve_movement(Collective what, const Movement& movement, MPI_Comm comm,
                                                 const Native& native) {
  int code = MPI_SUCCESS;
  const Sides sides(movement);
  const Places places{movement.send, movement.receive, movement.root, sides.other};
  if (repeats(like(what, sides, comm), movement.kind, places, native, code)) return code;
  if (passes_unseen(what, comm, native, code)) return code;
  return aside([=] { return serve_newly(what, movement, comm, native); });
}

int serve_barrier(MPI_Comm comm, FunctionRef<int()> native) {
  const int code = serve(Collective::Barrier, comm,
                         {native, [](const CommState&) { return CallFacts{}; },
                          [](ServedCall& served) { served.run(call_of(Kind::barrier, 0, 0)); }, nothing});
  if (code == MPI_SUCCESS && may_repeat(comm))
    remember({Collective::Barrier, comm, 0, MPI_BYTE}, {.shape = call_of(Kind::barrier, 0, 0), .may_be_ours = true});
  return code;
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

extern "C" int CHASQUI_CALLED(Barrier)(MPI_Comm comm) {
  CHASQUI_CALLER
  const auto native = [=] { return CHASQUI_NATIVE(Barrier)(comm); };
  if (int code = MPI_SUCCESS; repeats({Collective::Barrier, comm, 0, MPI_BYTE}, Kind::barrier, {}, native, code))
    return code;
  CHASQUI_UNLESS_UNSEEN(Barrier, comm, native)
  return aside([=] { return serve_barrier(comm, native); });
}
CHASQUI_NAMES(Barrier)

/// name: with or without _c; Count: int or MPI_Count.
#define CHASQUI_BCAST(name, Count)                                                                                 \
  extern "C" int CHASQUI_CALLED(name)(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) {     \
    CHASQUI_CALLER                                                                                                 \
    return serve_movement(Collective::Bcast, {Kind::broadcast, root, nullptr, 0, type, buffer, count, type}, comm, \
                          [=] { return CHASQUI_NATIVE(name)(buffer, count, type, root, comm); });                  \
  }                                                                                                                \
  CHASQUI_NAMES(name)
#define CHASQUI_ROOTED(name, what, kind, Count)                                                                    \
  extern "C" int CHASQUI_CALLED(name)(const void* send, Count sendcount, MPI_Datatype sendtype, void* receive,     \
                                      Count receivecount, MPI_Datatype receivetype, int root, MPI_Comm comm) {     \
    CHASQUI_CALLER                                                                                                 \
    return serve_movement(                                                                                         \
        Collective::what, {kind, root, send, sendcount, sendtype, receive, receivecount, receivetype}, comm, [=] { \
          return CHASQUI_NATIVE(name)(send, sendcount, sendtype, receive, receivecount, receivetype, root, comm);  \
        });                                                                                                        \
  }                                                                                                                \
  CHASQUI_NAMES(name)
#define CHASQUI_AMONG_ALL(name, what, kind, Count)                                                                  \
  extern "C" int CHASQUI_CALLED(name)(const void* send, Count sendcount, MPI_Datatype sendtype, void* receive,      \
                                      Count receivecount, MPI_Datatype receivetype, MPI_Comm comm) {                \
    CHASQUI_CALLER                                                                                                  \
    return serve_movement(                                                                                          \
        Collective::what, {kind, 0, send, sendcount, sendtype, receive, receivecount, receivetype}, comm,           \
        [=] { return CHASQUI_NATIVE(name)(send, sendcount, sendtype, receive, receivecount, receivetype, comm); }); \
  }                                                                                                                 \
  CHASQUI_NAMES(name)

CHASQUI_BCAST(Bcast, int)
CHASQUI_ROOTED(Gather, Gather, Kind::gather, int)
CHASQUI_ROOTED(Scatter, Scatter, Kind::scatter, int)
CHASQUI_AMONG_ALL(Allgather, Allgather, Kind::allgather, int)
CHASQUI_AMONG_ALL(Alltoall, Alltoall, Kind::alltoall, int)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_BCAST(Bcast_c, MPI_Count)
CHASQUI_ROOTED(Gather_c, Gather, Kind::gather, MPI_Count)
CHASQUI_ROOTED(Scatter_c, Scatter, Kind::scatter, MPI_Count)
CHASQUI_AMONG_ALL(Allgather_c, Allgather, Kind::allgather, MPI_Count)
CHASQUI_AMONG_ALL(Alltoall_c, Alltoall, Kind::alltoall, MPI_Count)
#endif

#ifdef CHASQUI_GOES_ON
namespace {

void* plan_movement(Collective what, int form, const Movement& movement, MPI_Comm comm) {
  const Sides sides(movement);
  const bool usual = movement.kind == Kind::broadcast ||
                     (sides.own == sides.other && movement.send != MPI_IN_PLACE && movement.receive != MPI_IN_PLACE);
  return plan(
      like(what, sides, usual ? comm : MPI_COMM_NULL), static_cast<Form>(form), comm,
      [&](const CommState& state) { return look_at(movement, state); },
      [&](const CommState& state) { return std::make_unique<MovementCall>(movement, state); });
}

}  // namespace

extern "C" void* chasqui_plan_Barrier(int form, MPI_Comm comm) {
  return plan(
      {Collective::Barrier, comm, 0, MPI_BYTE}, static_cast<Form>(form), comm,
      [](const CommState&) { return CallFacts{}; },
      [](const CommState&) {
        auto owned = std::make_unique<OwnedCall>();
        owned->call = call_of(Kind::barrier, 0, 0);
        return owned;
      });
}

#define CHASQUI_PLAN_BCAST(name, Count)                                                                           \
  extern "C" void* chasqui_plan_##name(int form, void* buffer, Count count, MPI_Datatype type, int root,          \
                                       MPI_Comm comm) {                                                           \
    return plan_movement(Collective::Bcast, form, {Kind::broadcast, root, nullptr, 0, type, buffer, count, type}, \
                         comm);                                                                                   \
  }
#define CHASQUI_PLAN_ROOTED(name, what, kind, Count)                                                          \
  extern "C" void* chasqui_plan_##name(int form, const void* send, Count sendcount, MPI_Datatype sendtype,    \
                                       void* receive, Count receivecount, MPI_Datatype receivetype, int root, \
                                       MPI_Comm comm) {                                                       \
    return plan_movement(Collective::what, form,                                                              \
                         {kind, root, send, sendcount, sendtype, receive, receivecount, receivetype}, comm);  \
  }
#define CHASQUI_PLAN_AMONG_ALL(name, what, kind, Count)                                                              \
  extern "C" void* chasqui_plan_##name(int form, const void* send, Count sendcount, MPI_Datatype sendtype,           \
                                       void* receive, Count receivecount, MPI_Datatype receivetype, MPI_Comm comm) { \
    return plan_movement(Collective::what, form,                                                                     \
                         {kind, 0, send, sendcount, sendtype, receive, receivecount, receivetype}, comm);            \
  }
CHASQUI_PLAN_BCAST(Bcast, int)
CHASQUI_PLAN_ROOTED(Gather, Gather, Kind::gather, int)
CHASQUI_PLAN_ROOTED(Scatter, Scatter, Kind::scatter, int)
CHASQUI_PLAN_AMONG_ALL(Allgather, Allgather, Kind::allgather, int)
CHASQUI_PLAN_AMONG_ALL(Alltoall, Alltoall, Kind::alltoall, int)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_PLAN_BCAST(Bcast_c, MPI_Count)
CHASQUI_PLAN_ROOTED(Gather_c, Gather, Kind::gather, MPI_Count)
CHASQUI_PLAN_ROOTED(Scatter_c, Scatter, Kind::scatter, MPI_Count)
CHASQUI_PLAN_AMONG_ALL(Allgather_c, Allgather, Kind::allgather, MPI_Count)
CHASQUI_PLAN_AMONG_ALL(Alltoall_c, Alltoall, Kind::alltoall, MPI_Count)
#endif
#endif
