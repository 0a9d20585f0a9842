// SPDX-License-Identifier: MIT
// MPI_Reduce, Allreduce, Scan, Exscan, Reduce_scatter(_block), on any datatype and with any operation defined for it.
#include <algorithm>
#include <numeric>
#include <vector>

#include "preload/buffer.hpp"
#include "preload/native.hpp"
#include "preload/repeated.hpp"
#include "preload/reproducible.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 27;

/// The arguments of a reduction of `count` elements a rank.
struct Reduction {
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

CallFacts look_at(const Reduction& reduction, const CommState& state) {
  CallFacts facts;
  facts.reason = Reason::argument;
  const bool at_root = reduction.root == state.rank;
  const bool writes = (reduction.root < 0 || at_root) && !reduction.keeps_nothing(state.rank);
  if (reduction.kind == Kind::reduce && (reduction.root < 0 || reduction.root >= state.size)) return facts;
  if (reduction.count < 0 || reduction.op == MPI_OP_NULL || (reduction.in_place() && !writes)) return facts;
  const TypeFacts type = facts_of(reduction.type);
  if (!type.valid) return facts;
  facts.bytes = static_cast<std::size_t>(reduction.count) * type.size;
  if (facts.bytes != 0) {
    const auto missing = [&type](const void* buffer) { return buffer == nullptr && type.dense; };  // else MPI_BOTTOM
    if (missing(reduction.input()) || (writes && (missing(reduction.receive) || reduction.receive == MPI_IN_PLACE)))
      return facts;
#ifdef MPICH
    if ((writes || reduction.exclusive) && reduction.send == reduction.receive) return facts;  // tolerated elsewhere
#endif
  }
  facts.shape.kind = reduction.kind;
  facts.shape.element = std::max<std::size_t>(1, type.size);
  facts.folds = reduction.type;
  facts.sums = reduction.op == MPI_SUM;
  facts.plain = facts.sums || reduction.op == MPI_MAX || reduction.op == MPI_MIN || reduction.op == MPI_PROD;
  facts.rounds = order_matters(reduction.op, type);
  facts.in = reduction.input();
  if (facts.bytes == 0) {
    facts.reason = Reason::empty;
  } else if (!defined(reduction.op, type)) {
    facts.reason = Reason::operation;
  } else {
    facts.reason = facts.bytes > kMost ? Reason::too_long : Reason::none;
  }
  if (writes) {
    facts.out = reduction.receive;
    facts.touched = facts.result = range_of(type, reduction.count);
  }
  return facts;
}

void run_reduction(ServedCall& served, const Reduction& reduction) {
  TypeFold fold{reduction.op, served.packer(reduction.type)};
  run::Call call;
  call.kind = reduction.kind;
  call.count = reduction.count;
  call.element = fold.packer.facts.size;
  call.op = fold.operator_of();
  call.root = std::max(0, reduction.root);
  call.exclusive = reduction.exclusive;
  BufferArgument in(reduction.input(), reduction.count, fold.packer);
  BufferArgument out(reduction.receive, reduction.count, fold.packer);
  static char somewhere;  // nothing is written
  if (!reduction.in_place()) read_from(call, in);
  if (reduction.keeps_nothing(served.rank())) call.out = &somewhere;
  else if (reduction.kind != Kind::reduce || served.rank() == reduction.root) write_to(call, out);
  served.run(call);
}

void run_reproducibly(ServedCall& served, const Reduction& reduction) {
  const Keep keep = reduction.kind == Kind::reduce ? Keep::root
                    : reduction.kind != Kind::scan ? Keep::all
                    : reduction.exclusive          ? Keep::before
                                                   : Keep::upto;
  fold_reproducibly(served, {reduction.input(), reduction.receive, reduction.count, reduction.type, reduction.op, keep,
                             reduction.root});
}

/// If its operator needs nothing of this call's.
void remember_fold(const RepeatedCall& like, const Reduction& reduction) {
  TypeFold fold{reduction.op, {reduction.type, facts_of(reduction.type)}};
  const TypeFacts& type = fold.packer.facts;
  if (reduction.exclusive || !type.dense || like.count <= 0 || !defined(like.op, type)) return;
  run::Call shape;
  shape.kind = reduction.kind;
  shape.count = reduction.count;
  shape.element = type.size;
  shape.op = fold.operator_of();
  if (shape.op.context != &fold.dense) remember(like, shape, order_matters(reduction.op, type));
}

int serve_fold(Collective what, const Reduction& reduction, MPI_Comm comm, FunctionRef<int()> native) {
  const RepeatedCall like{what, comm, reduction.count, reduction.type, reduction.op};
  int code = MPI_SUCCESS;
  const int root = reduction.kind == Kind::reduce ? reduction.root : 0;
  if (repeats(like, {reduction.send, reduction.receive, root}, native, code)) return code;
  code = serve(what, comm,
               {native, [&](const CommState& state) { return look_at(reduction, state); },
                [&](ServedCall& served) { run_reduction(served, reduction); },
                [&](ServedCall& served) { run_reproducibly(served, reduction); }});
  if (code == MPI_SUCCESS && may_repeat(comm)) remember_fold(like, reduction);
  return code;
}

/// counts[r] elements of the reduction of `whole` belong to rank r. Called when the arguments are good.
using Counts = FunctionRef<std::vector<int>(const CommState&)>;

/// Blocks of different lengths have no layout: those with gaps are packed here.
void scatter_unevenly(ServedCall& served, const Reduction& whole, const std::vector<int>& counts) {
  TypeFold fold{whole.op, served.packer(whole.type)};
  const std::vector<std::int64_t> lengths(counts.begin(), counts.end());
  std::vector<std::int64_t> first(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), first.begin(), std::int64_t{0});
  run::Call call;
  call.kind = Kind::reduce_scatter;
  call.element = fold.packer.facts.size;
  call.op = fold.operator_of();
  call.in = whole.in_place() ? nullptr : whole.send;
  call.in_blocks = {lengths.data(), first.data()};
  call.out = whole.receive;
  const int own = counts[static_cast<std::size_t>(served.rank())];
  run::AlignedBuffer in, out;
  if (!fold.packer.facts.dense) {
    in = run::AlignedBuffer(static_cast<std::size_t>(whole.count) * call.element);
    out = run::AlignedBuffer(static_cast<std::size_t>(own) * call.element);
    fold.packer.pack(whole.input(), whole.count, in.data());
    call.in = in.data();
    call.out = out.data();
  }
  served.run(call);
  if (!fold.packer.facts.dense) fold.packer.unpack(whole.receive, own, out.data());
}

void scatter_evenly(ServedCall& served, const Reduction& whole, int count) {
  Reduction blocks = whole;
  blocks.count = count;
  run_reduction(served, blocks);
}

int serve_scattered(Collective what, const Reduction& whole, Counts counts, MPI_Comm comm, FunctionRef<int()> native) {
  const auto look = [&](const CommState& state) {
    const std::vector<int> shares =
        whole.count < 0 ? std::vector<int>(static_cast<std::size_t>(state.size)) : counts(state);
    const auto mine = shares.begin() + state.rank;
    const int own = *mine;
    Reduction judged = whole;
    static char somewhere;  // the receive buffer of a rank that gets nothing may be missing
    if (judged.receive == nullptr && own == 0) judged.receive = &somewhere;
    CallFacts facts = look_at(judged, state);
    if (facts.out == nullptr) return facts;
    facts.result = range_of(facts_of(whole.type), own);
    facts.first = static_cast<std::size_t>(std::accumulate(shares.begin(), mine, 0));
    if (!whole.in_place()) facts.touched = facts.result;
    return facts;
  };
  const auto reproducible = [&](ServedCall& served) {
    fold_reproducibly(served, {whole.input(), whole.receive, whole.count, whole.type, whole.op, Keep::share, -1,
                               counts(served.state())});
  };
  const auto ours = [&](ServedCall& served) {
    const std::vector<int> shares = counts(served.state());
    const bool even = std::all_of(shares.begin(), shares.end(), [&](int each) { return each == shares[0]; });
    even ? scatter_evenly(served, whole, shares[0]) : scatter_unevenly(served, whole, shares);
  };
  return serve(what, comm, {native, look, ours, reproducible});
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

extern "C" {

int CHASQUI_CALLED(Reduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm) {
  const Reduction reduction{send, receive, count, type, op, Kind::reduce, root, false};
  return serve_fold(Collective::Reduce, reduction, comm,
                    [&] { return CHASQUI_NATIVE(Reduce)(send, receive, count, type, op, root, comm); });
}

int CHASQUI_CALLED(Allreduce)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Reduction reduction{send, receive, count, type, op, Kind::allreduce, -1, false};
  return serve_fold(Collective::Allreduce, reduction, comm,
                    [&] { return CHASQUI_NATIVE(Allreduce)(send, receive, count, type, op, comm); });
}

int CHASQUI_CALLED(Scan)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Reduction reduction{send, receive, count, type, op, Kind::scan, -1, false};
  return serve_fold(Collective::Scan, reduction, comm,
                    [&] { return CHASQUI_NATIVE(Scan)(send, receive, count, type, op, comm); });
}

int CHASQUI_CALLED(Exscan)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Reduction reduction{send, receive, count, type, op, Kind::scan, -1, true};
  return serve_fold(Collective::Exscan, reduction, comm,
                    [&] { return CHASQUI_NATIVE(Exscan)(send, receive, count, type, op, comm); });
}

int CHASQUI_CALLED(Reduce_scatter_block)(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                         MPI_Comm comm) {
  int ranks = 1;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &ranks);
  const long long total = static_cast<long long>(count) * ranks;
  const Reduction whole{
      send, receive, total > 0x7fffffff ? -1 : static_cast<int>(total), type, op, Kind::reduce_scatter, -1, false};
  return serve_scattered(
      Collective::Reduce_scatter_block, whole,
      [&](const CommState& state) { return std::vector<int>(static_cast<std::size_t>(state.size), count); }, comm,
      [&] { return CHASQUI_NATIVE(Reduce_scatter_block)(send, receive, count, type, op, comm); });
}

int CHASQUI_CALLED(Reduce_scatter)(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm) {
  int ranks = 0;
  int inter = 0;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL && counts != nullptr &&
      PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0) {
    PMPI_Comm_size(comm, &ranks);
  }
  const bool good = std::all_of(counts, counts + ranks, [](int each) { return each >= 0; });
  const long long total = std::accumulate(counts, counts + ranks, 0ll);
  const Reduction whole{send, receive, good && total < 0x7fffffff ? static_cast<int>(total) : -1,
                        type, op,      Kind::reduce_scatter,
                        -1,   false};
  return serve_scattered(
      Collective::Reduce_scatter, whole,
      [&](const CommState& state) { return std::vector<int>(counts, counts + state.size); }, comm,
      [&] { return CHASQUI_NATIVE(Reduce_scatter)(send, receive, counts, type, op, comm); });
}

}  // extern "C"
