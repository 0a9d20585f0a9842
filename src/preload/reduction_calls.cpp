// SPDX-License-Identifier: MIT
// MPI_Reduce, Allreduce, Scan, Exscan, Reduce_scatter(_block), on any datatype and with any operation defined for it.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "preload/elements.hpp"
#include "preload/packed_fold.hpp"
#include "preload/reproducible.hpp"
#include "preload/serve.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 27;
constexpr std::size_t kDropped = 64 * 1024;  ///< up to here a reduce-scatter is an all-reduce of which most is dropped

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

Demand look_at(const Fold& fold, const State& state) {
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
  demand.shape.element = std::max<std::size_t>(1, facts.size);
  demand.folds = fold.type;
  if (demand.bytes == 0) {
    demand.reason = Reason::empty;
  } else if (!defined(fold.op, facts)) {
    demand.reason = Reason::operation;
  } else {
    demand.reason = demand.bytes > kMost ? Reason::too_long : Reason::none;
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
  call.element = static_cast<std::size_t>(context.extent);
  call.op = operator_for(context);
  call.root = std::max(0, fold.root);
  call.exclusive = fold.exclusive;
  return call;
}

mpi::FoldContext context_of(const Fold& fold) {
  return {fold.op, fold.type, static_cast<int>(facts_of(fold.type).size)};
}

/// As bytes where they lie.
void run_dense(Work& work, const Fold& fold) {
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

/// Derived datatypes, and pairs with gaps: packed.
void run_packed(Work& work, const Fold& fold) {
  PackedFold context{fold.op, fold.type, facts_of(fold.type), work.quiet(), work.rank()};
  const std::size_t bytes = static_cast<std::size_t>(fold.count) * context.facts.size;
  std::vector<std::byte> in(bytes), out(bytes);
  pack(fold.input(), fold.count, fold.type, context.facts, in.data(), work.quiet(), work.rank());
  run::Call call;
  call.kind = fold.kind;
  call.in = in.data();
  call.out = fold.kind == Kind::reduce && work.rank() != fold.root ? nullptr : out.data();
  call.count = fold.count;
  call.element = context.facts.size;
  call.op = operator_of(context);
  call.root = std::max(0, fold.root);
  call.exclusive = fold.exclusive;
  work.run(call);
  if (call.out == nullptr || (fold.exclusive && work.rank() == 0)) return;
  unpack(fold.receive, fold.count, fold.type, context.facts, out.data(), work.quiet(), work.rank());
}

void run_fold(Work& work, const Fold& fold) {
  facts_of(fold.type).dense ? run_dense(work, fold) : run_packed(work, fold);
}

void run_fold_in_order(Work& work, const Fold& fold) {
  const Keep keep = fold.kind == Kind::reduce ? Keep::root
                    : fold.kind != Kind::scan ? Keep::all
                    : fold.exclusive          ? Keep::before
                                              : Keep::upto;
  fold_in_order(work, {fold.input(), fold.receive, fold.count, fold.type, fold.op, keep, fold.root});
}

int serve_fold(Collective what, const Fold& fold, MPI_Comm comm, Ref<int()> native) {
  return serve(what, comm,
               {native, [&](const State& state) { return look_at(fold, state); },
                [&](Work& work) { run_fold(work, fold); }, [&](Work& work) { run_fold_in_order(work, fold); }});
}

/// counts[r] elements of the fold of `whole` belong to rank r. Called when the arguments are good.
using Counts = Ref<std::vector<int>(const State&)>;

/// Short ones: an all-reduce of which most is dropped.
void scatter_by_dropping(Work& work, const Fold& whole, const std::vector<int>& counts) {
  const TypeFacts facts = facts_of(whole.type);
  const Elements room(facts, whole.count);
  Fold all = whole;
  all.kind = Kind::allreduce;
  all.send = whole.input();
  all.receive = room.at(0);
  run_fold(work, all);
  const int own = counts[static_cast<std::size_t>(work.rank())];
  if (own == 0) return;
  const int first = std::accumulate(counts.begin(), counts.begin() + work.rank(), 0);
  std::vector<std::byte> packed(static_cast<std::size_t>(own) * facts.size);
  pack(room.at(first), own, whole.type, facts, packed.data(), work.quiet(), work.rank());
  unpack(whole.receive, own, whole.type, facts, packed.data(), work.quiet(), work.rank());
}

int serve_scattered(Collective what, const Fold& whole, Counts counts, MPI_Comm comm, Ref<int()> native) {
  const auto look = [&](const State& state) {
    const int own = whole.count < 0 ? 0 : counts(state)[static_cast<std::size_t>(state.rank)];
    Fold judged = whole;
    static char somewhere;  // the receive buffer of a rank that gets nothing may be missing
    if (judged.receive == nullptr && own == 0) judged.receive = &somewhere;
    Demand demand = look_at(judged, state);
    if (demand.out == nullptr) return demand;
    demand.result = span_of(facts_of(whole.type), own);
    if (!whole.in_place()) demand.touched = demand.result;
    return demand;
  };
  const auto in_order = [&](Work& work) {
    fold_in_order(
        work, {whole.input(), whole.receive, whole.count, whole.type, whole.op, Keep::share, -1, counts(work.state())});
  };
  const auto ours = [&](Work& work) {
    const auto bytes = static_cast<std::size_t>(whole.count) * facts_of(whole.type).size;
    bytes <= kDropped ? scatter_by_dropping(work, whole, counts(work.state())) : in_order(work);
  };
  return serve(what, comm, {native, look, ours, in_order});
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

extern "C" {

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const Fold fold{send, receive, count, type, op, Kind::reduce, root, false};
  return serve_fold(Collective::Reduce, fold, comm,
                    [&] { return PMPI_Reduce(send, receive, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Fold fold{send, receive, count, type, op, Kind::allreduce, -1, false};
  return serve_fold(Collective::Allreduce, fold, comm,
                    [&] { return PMPI_Allreduce(send, receive, count, type, op, comm); });
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
  const Fold whole{send, receive, total > 0x7fffffff ? -1 : static_cast<int>(total), type, op, Kind::allreduce,
                   -1,   false};
  return serve_scattered(
      Collective::Reduce_scatter_block, whole,
      [&](const State& state) { return std::vector<int>(static_cast<std::size_t>(state.size), count); }, comm,
      [&] { return PMPI_Reduce_scatter_block(send, receive, count, type, op, comm); });
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  int ranks = 0;
  int inter = 0;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL && counts != nullptr &&
      PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0) {
    PMPI_Comm_size(comm, &ranks);
  }
  const bool good = std::all_of(counts, counts + ranks, [](int each) { return each >= 0; });
  const long long total = std::accumulate(counts, counts + ranks, 0ll);
  const Fold whole{send, receive, good && total < 0x7fffffff ? static_cast<int>(total) : -1, type, op, Kind::allreduce,
                   -1,   false};
  return serve_scattered(
      Collective::Reduce_scatter, whole,
      [&](const State& state) { return std::vector<int>(counts, counts + state.size); }, comm,
      [&] { return PMPI_Reduce_scatter(send, receive, counts, type, op, comm); });
}

}  // extern "C"
