// SPDX-License-Identifier: MIT
// MPI_Reduce, Allreduce, Scan, Exscan, Reduce_scatter(_block), on predefined datatypes without gaps and any operation.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "in_order.hpp"
#include "serve.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 27;
constexpr std::size_t kMostScattered = 64 * 1024;  ///< reduce-scatter is an all-reduce of which most is dropped

/// The arguments of a reduction of `count` elements a rank.
struct Fold {
  const void* send;
  void* receive;
  int count;
  MPI_Datatype type;
  MPI_Op op;
  Kind kind;
  int root = -1;  ///< -1: none
  bool exclusive = false;

  /// Rank 0 of an exclusive scan gets nothing: its receive buffer may be missing.
  bool keeps_nothing(int rank) const { return exclusive && rank == 0 && !in_place(); }
  bool in_place() const { return send == MPI_IN_PLACE; }
  const void* input() const { return in_place() ? receive : send; }
};

Demand look_at(const Fold& fold, const State& state, std::size_t most) {
  Demand demand;
  demand.reason = Reason::argument;
  const bool at_root = fold.root == state.rank;
  const bool writes = (fold.root < 0 || at_root) && !fold.keeps_nothing(state.rank);
  if (fold.kind == Kind::reduce && (fold.root < 0 || fold.root >= state.size)) return demand;
  if (fold.count < 0 || fold.op == MPI_OP_NULL || (fold.in_place() && !writes)) return demand;
  const TypeFacts facts = facts_of(fold.type);
  if (!facts.valid) return demand;
  demand.bytes = static_cast<std::size_t>(fold.count) * facts.size;
  if (demand.bytes != 0) {
    if (fold.input() == nullptr || (writes && (fold.receive == nullptr || fold.receive == MPI_IN_PLACE))) return demand;
#ifdef MPICH
    if (writes && fold.send == fold.receive) return demand;  // an error there, tolerated elsewhere
#endif
  }
  demand.shape.kind = fold.kind;
  demand.shape.layout.element = std::max<std::size_t>(1, facts.size);
  demand.folds = fold.type;
  if (demand.bytes == 0) {
    demand.reason = Reason::empty;
  } else if (!facts.dense) {
    demand.reason = Reason::gaps;
  } else if (!defined(fold.op, fold.type)) {
    demand.reason = Reason::operation;
  } else {
    demand.reason = demand.bytes > most ? Reason::too_long : Reason::none;
  }
  if (writes) {
    demand.out = fold.receive;
    demand.touched = demand.result = span_of(facts, fold.count);
  }
  return demand;
}

/// The call on the private communicator; `context` lives as long as it is used.
run::Call call_of(const Fold& fold, mpi::FoldContext& context) {
  run::Call call;
  call.kind = fold.kind;
  call.in = fold.in_place() ? nullptr : fold.send;
  call.out = fold.receive;
  call.count = fold.count;
  call.layout.element = static_cast<std::size_t>(context.extent);
  call.op = operator_for(context);
  call.root = std::max(0, fold.root);
  call.exclusive = fold.exclusive;
  return call;
}

mpi::FoldContext context_of(const Fold& fold) {
  return {fold.op, fold.type, static_cast<int>(facts_of(fold.type).size)};
}

void run_fold(Work& work, const Fold& fold) {
  mpi::FoldContext context = context_of(fold);
  run::Call call = call_of(fold, context);
  if (fold.kind == Kind::reduce && work.rank() != fold.root) call.out = nullptr;
  std::vector<std::max_align_t> room;
  if (fold.keeps_nothing(work.rank())) {
    room.resize(call.bytes() / sizeof(std::max_align_t) + 1);
    call.out = room.data();
  }
  work.run(call);
}

void run_fold_in_order(Work& work, const Fold& fold) {
  const int prefix = fold.kind != Kind::scan ? -1 : work.rank() + (fold.exclusive ? 0 : 1);
  fold_in_order(work, fold.input(), fold.receive, fold.count, fold.type, fold.op, fold.root, prefix);
}

int serve_fold(Collective what, const Fold& fold, MPI_Comm comm, Ref<int()> native) {
  return serve(what, comm,
               {native, [&](const State& state) { return look_at(fold, state, kMost); },
                [&](Work& work) { run_fold(work, fold); }, [&](Work& work) { run_fold_in_order(work, fold); }});
}

/// Elements first .. first+count-1 of the fold of `whole` belong to this rank.
struct Share {
  int first = 0, count = 0;
};

int serve_scattered(Collective what, const Fold& whole, Ref<Share(const State&)> share, MPI_Comm comm, Ref<int()> native) {
  const auto look = [&](const State& state) {
    Fold judged = whole;
    static char somewhere;  // the receive buffer of a rank that gets nothing may be missing
    if (judged.receive == nullptr && share(state).count == 0) judged.receive = &somewhere;
    Demand demand = look_at(judged, state, kMostScattered);
    if (demand.out == nullptr) return demand;
    const TypeFacts facts = facts_of(whole.type);
    demand.result = span_of(facts, share(state).count);
    if (!whole.in_place()) demand.touched = demand.result;
    return demand;
  };
  const auto through = [&](Work& work, bool in_order) {
    const TypeFacts facts = facts_of(whole.type);
    const Span span = span_of(facts, whole.count);
    std::vector<std::max_align_t> room(static_cast<std::size_t>(span.high - span.low) / sizeof(std::max_align_t) + 1);
    Fold all = whole;
    all.kind = Kind::allreduce;
    all.send = whole.input();
    all.receive = reinterpret_cast<void*>(reinterpret_cast<MPI_Aint>(room.data()) - span.low);
    in_order ? run_fold_in_order(work, all) : run_fold(work, all);
    const Share own = share(work.state());
    if (own.count == 0) return;
    std::vector<std::byte> packed(static_cast<std::size_t>(own.count) * facts.size);
    const void* from = reinterpret_cast<void*>(reinterpret_cast<MPI_Aint>(all.receive) + own.first * facts.extent);
    pack(from, own.count, whole.type, facts, packed.data(), work.quiet(), work.rank());
    unpack(whole.receive, own.count, whole.type, facts, packed.data(), work.quiet(), work.rank());
  };
  return serve(what, comm,
               {native, look, [&](Work& work) { through(work, false); }, [&](Work& work) { through(work, true); }});
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

extern "C" {

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const Fold fold{send, receive, count, type, op, Kind::reduce, root, false};
  return serve_fold(Collective::Reduce, fold, comm, [&] { return PMPI_Reduce(send, receive, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Fold fold{send, receive, count, type, op, Kind::allreduce, -1, false};
  return serve_fold(Collective::Allreduce, fold, comm, [&] { return PMPI_Allreduce(send, receive, count, type, op, comm); });
}

int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Fold fold{send, receive, count, type, op, Kind::scan, -1, false};
  return serve_fold(Collective::Scan, fold, comm, [&] { return PMPI_Scan(send, receive, count, type, op, comm); });
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Fold fold{send, receive, count, type, op, Kind::scan, -1, true};
  return serve_fold(Collective::Exscan, fold, comm, [&] { return PMPI_Exscan(send, receive, count, type, op, comm); });
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 1;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &ranks);
  const long long total = static_cast<long long>(count) * ranks;
  const Fold whole{send, receive, total > 0x7fffffff ? -1 : static_cast<int>(total), type, op, Kind::allreduce, -1, false};
  return serve_scattered(Collective::Reduce_scatter_block, whole,
                         [&](const State& state) { return Share{count * state.rank, count}; }, comm,
                         [&] { return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm); });
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 0;
  int inter = 0;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL && counts != nullptr &&
      PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0) {
    PMPI_Comm_size(comm, &ranks);
  }
  const bool good = std::all_of(counts, counts + ranks, [](int each) { return each >= 0; });
  const long long total = std::accumulate(counts, counts + ranks, 0ll);
  const Fold whole{send, receive, good && total < 0x7fffffff ? static_cast<int>(total) : -1, type, op, Kind::allreduce, -1,
                   false};
  const auto share = [&](const State& state) {
    return Share{static_cast<int>(std::accumulate(counts, counts + state.rank, 0ll)), counts[state.rank]};
  };
  return serve_scattered(Collective::Reduce_scatter, whole, share, comm,
                         [&] { return PMPI_Reduce_scatter(send, receive, counts, type, op, comm); });
}

}  // extern "C"
