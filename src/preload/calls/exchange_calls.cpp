// SPDX-License-Identifier: MIT
// MPI_Alltoallv, Alltoallw. No rank knows the sizes of all, so there is one comparison with the MPI library for all of them.
#include <algorithm>
#include <vector>

#include "preload/calls/exchange.hpp"
#include "preload/component/ongoing.hpp"
#include "preload/native.hpp"
#include "preload/repeated.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::preload {
namespace {

/// One side of the call: bytes where they lie, or packed side by side where a type has gaps.
class ExchangeSide {
 public:
  ExchangeSide(const ExchangeArgument& argument, int ranks)
      : argument_(argument), counts_(static_cast<std::size_t>(ranks)), first_(counts_.size()) {
    bool any = false;
    MPI_Aint least = 0;
    for (int r = 0; r < ranks; ++r) {
      if (argument.bytes(r) == 0) continue;
      const TypeFacts facts = facts_of(argument.type(r));
      counts_[at(r)] = static_cast<std::int64_t>(argument.bytes(r));
      first_[at(r)] = argument.place(r, facts);
      dense_ = dense_ && facts.dense;
      least = any ? std::min<MPI_Aint>(least, first_[at(r)]) : first_[at(r)];
      any = true;
    }
    std::int64_t end = 0;
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      first_[r] = counts_[r] == 0 ? 0 : dense_ ? first_[r] - least : end;
      end += counts_[r];
    }
    if (!dense_) packed_ = run::AlignedBuffer(static_cast<std::size_t>(end));
    data_ = dense_ ? moved(static_cast<std::byte*>(const_cast<void*>(argument.where)), least) : packed_.data();
  }

  run::Blocks blocks() const { return {counts_.data(), first_.data()}; }
  std::byte* data() const { return data_; }
  bool dense() const { return dense_; }
  std::int64_t bytes(int r) const { return counts_[at(r)]; }
  void give_nothing_to(int r) { counts_[at(r)] = 0; }
  void pack() const {
    each([&](const TypePacker& packer, void* user, MPI_Aint count, std::byte* packed) {
      packer.pack(user, count, packed);
    });
  }
  void unpack() const {
    each([&](const TypePacker& packer, void* user, MPI_Aint count, std::byte* packed) {
      packer.unpack(user, count, packed);
    });
  }

 private:
  static std::size_t at(int r) { return static_cast<std::size_t>(r); }
  template <typename Move>
  void each(Move move) const {
    for (std::size_t i = 0; !dense_ && i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      const int r = static_cast<int>(i);
      const TypePacker packer{argument_.type(r), facts_of(argument_.type(r))};
      void* user = moved(const_cast<void*>(argument_.where), argument_.place(r, packer.facts));
      move(packer, user, argument_.counts[r], packed_.data() + first_[i]);
    }
  }

  ExchangeArgument argument_;
  std::vector<std::int64_t> counts_, first_;  ///< bytes
  bool dense_ = true;
  run::AlignedBuffer packed_;
  std::byte* data_ = nullptr;
};

class ExchangeCall final : public OwnedCall {
 public:
  ExchangeCall(const UnevenExchange& exchange, const CommState& state)
      : sent_(exchange.in_place() ? exchange.receive : exchange.send, state.size),
        received_(exchange.receive, state.size), out_(received_.argument, state.size), in_(sent_.argument, state.size),
        given_(in_.bytes(state.rank)), taken_(out_.bytes(state.rank)) {
    if (given_ != taken_) in_.give_nothing_to(state.rank), out_.give_nothing_to(state.rank);
    call.kind = Kind::alltoall;
    call.in = exchange.in_place() && in_.dense() ? nullptr : in_.data();
    call.in_blocks = in_.blocks();
    call.out = out_.data();
    call.out_blocks = out_.blocks();
  }
  void begin() override { in_.pack(); }
  void end() override {
    out_.unpack();
    if (given_ != taken_) throw Truncated{fmt::format("this rank gives itself {} bytes and takes {}", given_, taken_)};
  }

 private:
  /// The function whose arguments these are may have returned when they are used, and the lists be gone: Fortran's gives that of the types back.
  struct Kept {
    Kept(const ExchangeArgument& given, int ranks)
        : types{given.types, given.types + (given.a_type_each ? ranks : 1)}, counts(given.counts, ranks),
          displacements(given.displacements, ranks), argument{given.where, counts, displacements, types.data(),
                                                              given.a_type_each} {}
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

    std::vector<MPI_Datatype> types;
    KeptNumbers counts, displacements;
    ExchangeArgument argument;
  };

  Kept sent_, received_;
  ExchangeSide out_, in_;
  std::int64_t given_, taken_;  ///< bytes of this rank to itself
};

int serve_uneven(Collective what, const UnevenExchange& exchange, MPI_Comm comm, FunctionRef<int()> native) {
  int code = MPI_SUCCESS;
  const RepeatedCall like{what, comm, 0, {}};
  const auto alike = [&](const Known& known) { return exchange.surely_good(*known.state); };
  if (repeats_left(like, alike, never_empty, native, code)) return code;
  code = serve(what, comm,
               {native, [&](const CommState& state) { return exchange.look(state); },
                [&](ServedCall& served) {
                  ExchangeCall call(exchange, served.state());
                  served.run(call);
                },
                nothing});
  if (code == MPI_SUCCESS && may_repeat(comm)) remember_left(like, {});
  return code;
}

}  // namespace

std::unique_ptr<OwnedCall> make_exchange(const UnevenExchange& exchange, const CommState& state) {
  return std::make_unique<ExchangeCall>(exchange, state);
}

}  // namespace chasqui::preload

using namespace chasqui::preload;

/// name: with or without _c; each: is there a type for each rank, or one for all?
#define CHASQUI_UNEVEN(name, what, Count, Place, Type, types, each)                                                \
  extern "C" int CHASQUI_CALLED(name)(const void* send, const Count sendcounts[], const Place senddisplacements[], \
                                      Type sendtype, void* receive, const Count receivecounts[],                   \
                                      const Place receivedisplacements[], Type receivetype, MPI_Comm comm) {       \
    CHASQUI_CALLER                                                                                                 \
    const auto native = [&] {                                                                                      \
      return CHASQUI_NATIVE(name)(send, sendcounts, senddisplacements, sendtype, receive, receivecounts,           \
                                  receivedisplacements, receivetype, comm);                                        \
    };                                                                                                             \
    CHASQUI_UNLESS_UNSEEN(what, comm, native)                                                                      \
    const UnevenExchange exchange{{send, sendcounts, senddisplacements, types(sendtype), each},                    \
                                  {receive, receivecounts, receivedisplacements, types(receivetype), each}};       \
    return serve_uneven(Collective::what, exchange, comm, native);                                                 \
  }                                                                                                                \
  CHASQUI_NAMES(name)
#define CHASQUI_ONE_TYPE(type) &type
#define CHASQUI_TYPES(types) types

CHASQUI_UNEVEN(Alltoallv, Alltoallv, int, int, MPI_Datatype, CHASQUI_ONE_TYPE, false)
CHASQUI_UNEVEN(Alltoallw, Alltoallw, int, int, const MPI_Datatype*, CHASQUI_TYPES, true)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_UNEVEN(Alltoallv_c, Alltoallv, MPI_Count, MPI_Aint, MPI_Datatype, CHASQUI_ONE_TYPE, false)
CHASQUI_UNEVEN(Alltoallw_c, Alltoallw, MPI_Count, MPI_Aint, const MPI_Datatype*, CHASQUI_TYPES, true)
#endif

#ifdef CHASQUI_GOES_ON
namespace {

void* plan_uneven(Collective what, int form, const UnevenExchange& exchange, MPI_Comm comm) {
  return plan(
      {what, MPI_COMM_NULL, 0, MPI_BYTE}, static_cast<Form>(form), comm,
      [&](const CommState& state) { return exchange.look(state); },
      [&](const CommState& state) { return make_exchange(exchange, state); });
}

}  // namespace

#define CHASQUI_PLAN_UNEVEN(name, what, Count, Place, Type, types, each)                                               \
  extern "C" void* chasqui_plan_##name(                                                                                \
      int form, const void* send, const Count* sendcounts, const Place* senddisplacements, Type sendtype,              \
      void* receive, const Count* receivecounts, const Place* receivedisplacements, Type receivetype, MPI_Comm comm) { \
    return plan_uneven(Collective::what, form,                                                                         \
                       {{send, sendcounts, senddisplacements, types(sendtype), each},                                  \
                        {receive, receivecounts, receivedisplacements, types(receivetype), each}},                     \
                       comm);                                                                                          \
  }
CHASQUI_PLAN_UNEVEN(Alltoallv, Alltoallv, int, int, MPI_Datatype, CHASQUI_ONE_TYPE, false)
CHASQUI_PLAN_UNEVEN(Alltoallw, Alltoallw, int, int, const MPI_Datatype*, CHASQUI_TYPES, true)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_PLAN_UNEVEN(Alltoallv_c, Alltoallv, MPI_Count, MPI_Aint, MPI_Datatype, CHASQUI_ONE_TYPE, false)
CHASQUI_PLAN_UNEVEN(Alltoallw_c, Alltoallw, MPI_Count, MPI_Aint, const MPI_Datatype*, CHASQUI_TYPES, true)
#endif
#endif
