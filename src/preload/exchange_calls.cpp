// SPDX-License-Identifier: MIT
// MPI_Alltoallv, Alltoallw. No rank knows the sizes of all, so there is one comparison with the MPI library for all of them.
#include <algorithm>
#include <vector>

#include "preload/buffer.hpp"
#include "preload/native.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::preload {
namespace {

/// What a rank gives to, or gets from, each: counts[r] elements, of a type of its own or of one for all.
struct ExchangeArgument {
  const void* where;
  const int *counts, *displacements;
  const MPI_Datatype* types;
  bool a_type_each;  ///< and displacements in bytes (Alltoallw)

  MPI_Datatype type(int r) const { return types[a_type_each ? r : 0]; }
  MPI_Aint place(int r, const TypeFacts& facts) const {
    return displacements[r] * (a_type_each ? MPI_Aint{1} : facts.extent);
  }
  bool good(int ranks) const {
    if (counts == nullptr || displacements == nullptr || types == nullptr || where == MPI_IN_PLACE) return false;
    for (int r = 0; r < ranks; ++r) {
#ifdef MPICH
      if (counts[r] == 0) continue;  // the type of no data may be missing
#endif
      const TypeFacts facts = facts_of(type(r));
      if (counts[r] < 0 || !facts.valid) return false;
      if (where == nullptr && facts.dense && counts[r] != 0 && !a_type_each) return false;
    }
    return true;
  }
  std::size_t bytes(int r) const { return static_cast<std::size_t>(counts[r]) * facts_of(type(r)).size; }
  ByteRange range(int ranks) const {
    ByteRange all;
    for (int r = 0; r < ranks; ++r) {
      const TypeFacts facts = facts_of(type(r));
      const ByteRange one = range_of(facts, counts[r]);
      const MPI_Aint at = place(r, facts);
      if (one.low == one.high) continue;
      const bool first = all.low == all.high;
      all.low = first ? at + one.low : std::min(all.low, at + one.low);
      all.high = first ? at + one.high : std::max(all.high, at + one.high);
    }
    return all;
  }
};

/// One side of the call: bytes where they lie, or packed side by side where a type has gaps.
class ExchangeSide {
 public:
  ExchangeSide(ServedCall& served, const ExchangeArgument& argument)
      : served_(served), argument_(argument), counts_(static_cast<std::size_t>(served.size())), first_(counts_.size()) {
    bool any = false;
    MPI_Aint least = 0;
    for (int r = 0; r < served.size(); ++r) {
      const TypeFacts facts = facts_of(argument.type(r));
      counts_[at(r)] = static_cast<std::int64_t>(argument.bytes(r));
      first_[at(r)] = argument.place(r, facts);
      if (counts_[at(r)] == 0) continue;
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
  void give_itself_nothing() { counts_[at(served_.rank())] = 0; }
  void pack() const {
    each([&](const TypePacker& packer, void* user, int count, std::byte* packed) { packer.pack(user, count, packed); });
  }
  void unpack() const {
    each([&](const TypePacker& packer, void* user, int count, std::byte* packed) {
      packer.unpack(user, count, packed);
    });
  }

 private:
  static std::size_t at(int r) { return static_cast<std::size_t>(r); }
  template <typename Move>
  void each(Move move) const {
    for (int r = 0; !dense_ && r < served_.size(); ++r) {
      if (counts_[at(r)] == 0) continue;
      const TypePacker packer = served_.packer(argument_.type(r));
      void* user = moved(const_cast<void*>(argument_.where), argument_.place(r, packer.facts));
      move(packer, user, argument_.counts[r], packed_.data() + first_[at(r)]);
    }
  }

  ServedCall& served_;
  const ExchangeArgument& argument_;
  std::vector<std::int64_t> counts_, first_;  ///< bytes
  bool dense_ = true;
  run::AlignedBuffer packed_;
  std::byte* data_ = nullptr;
};

struct UnevenExchange {
  ExchangeArgument send, receive;

  bool in_place() const { return send.where == MPI_IN_PLACE; }
  CallFacts look(const CommState& state) const {
    if (!receive.good(state.size) || (!in_place() && !send.good(state.size))) return bad();
    CallFacts facts;
    facts.shape.kind = Kind::alltoall;
    facts.out = const_cast<void*>(receive.where);
    facts.touched = facts.result = receive.range(state.size);
    const auto all = static_cast<std::size_t>(facts.touched.high - facts.touched.low);
    return overlap_is_an_error(send.where, receive.where, all) ? bad() : facts;
  }
  void run(ServedCall& served) const {
    ExchangeSide out(served, receive);
    ExchangeSide in(served, in_place() ? receive : send);
    const std::int64_t given = in.bytes(served.rank()), taken = out.bytes(served.rank());
    if (given != taken) in.give_itself_nothing(), out.give_itself_nothing();
    run::Call call;
    call.kind = Kind::alltoall;
    in.pack();
    call.in = in_place() && in.dense() ? nullptr : in.data();
    call.in_blocks = in.blocks();
    call.out = out.data();
    call.out_blocks = out.blocks();
    served.run(call);
    out.unpack();
    if (given != taken) throw Truncated{fmt::format("this rank gives itself {} bytes and takes {}", given, taken)};
  }
};

int serve_uneven(Collective what, const UnevenExchange& exchange, MPI_Comm comm, FunctionRef<int()> native) {
  return serve(what, comm,
               {native, [&](const CommState& state) { return exchange.look(state); },
                [&](ServedCall& served) { exchange.run(served); }, nothing});
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;

extern "C" {

int CHASQUI_CALLED(Alltoallv)(const void* send, const int sendcounts[], const int senddisplacements[],
                              MPI_Datatype sendtype, void* receive, const int receivecounts[],
                              const int receivedisplacements[], MPI_Datatype receivetype, MPI_Comm comm) {
  const UnevenExchange exchange{{send, sendcounts, senddisplacements, &sendtype, false},
                                {receive, receivecounts, receivedisplacements, &receivetype, false}};
  return serve_uneven(Collective::Alltoallv, exchange, comm, [&] {
    return CHASQUI_NATIVE(Alltoallv)(send, sendcounts, senddisplacements, sendtype, receive, receivecounts,
                                     receivedisplacements, receivetype, comm);
  });
}

int CHASQUI_CALLED(Alltoallw)(const void* send, const int sendcounts[], const int senddisplacements[],
                              const MPI_Datatype sendtypes[], void* receive, const int receivecounts[],
                              const int receivedisplacements[], const MPI_Datatype receivetypes[], MPI_Comm comm) {
  const UnevenExchange exchange{{send, sendcounts, senddisplacements, sendtypes, true},
                                {receive, receivecounts, receivedisplacements, receivetypes, true}};
  return serve_uneven(Collective::Alltoallw, exchange, comm, [&] {
    return CHASQUI_NATIVE(Alltoallw)(send, sendcounts, senddisplacements, sendtypes, receive, receivecounts,
                                     receivedisplacements, receivetypes, comm);
  });
}

}  // extern "C"
