// SPDX-License-Identifier: MIT
// MPI_Reduce, Allreduce, Scan, Exscan, Reduce_scatter(_block), on any datatype and with any operation defined for it.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "preload/calls/buffer.hpp"
#include "preload/component/ongoing.hpp"
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
  facts.op = reduction.op;
  facts.plain =
      reduction.op == MPI_SUM || reduction.op == MPI_MAX || reduction.op == MPI_MIN || reduction.op == MPI_PROD;
  facts.rounds = order_matters(reduction.op, type, state.size);
  facts.in = reduction.input();
  if (facts.bytes == 0) {
    facts.reason = Reason::empty;
  } else if (!defined(reduction.op, type)) {
    facts.reason = Reason::operation;
  } else {
    facts.reason = facts.bytes > kMost ? Reason::too_long : Reason::none;
  }
  if (writes) {
    facts.output = {.where = reduction.receive, .count = reduction.count, .type = reduction.type};
    facts.in_place = facts.in == reduction.receive;
  }
  return facts;
}

class FoldCall final : public OwnedCall {
 public:
  FoldCall(const Reduction& reduction, const CommState& state)
      : fold_{reduction.op, {reduction.type, facts_of(reduction.type)}},
        in_(reduction.input(), reduction.count, fold_.packer), out_(reduction.receive, reduction.count, fold_.packer) {
    call.kind = reduction.kind;
    call.count = reduction.count;
    call.element = fold_.packer.facts.size;
    call.op = fold_.operator_of();
    call.root = std::max(0, reduction.root);
    call.exclusive = reduction.exclusive;
    static char somewhere;  // nothing is written
    if (!reduction.in_place()) read_from(call, in_);
    if (reduction.keeps_nothing(state.rank)) call.out = &somewhere;
    else if (reduction.kind != Kind::reduce || state.rank == reduction.root) write_to(call, out_);
  }

 private:
  TypeFold fold_;
  BufferArgument in_, out_;
};

void run_reduction(ServedCall& served, const Reduction& reduction) {
  FoldCall call(reduction, served.state());
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

/// Without addresses, as it is run when it comes again: if its operator needs nothing of this call's.
std::optional<run::Call> shape_again(const Reduction& reduction) {
  TypeFold fold{reduction.op, {reduction.type, facts_of(reduction.type)}};
  const TypeFacts& type = fold.packer.facts;
  if (reduction.exclusive || !type.dense || reduction.count <= 0 || !defined(reduction.op, type)) return {};
  run::Call shape;
  shape.kind = reduction.kind;
  shape.count = reduction.count;
  shape.element = type.size;
  shape.op = fold.operator_of();
  if (shape.op.context == &fold.dense) return {};
  return shape;
}
/// With them.
std::optional<run::Call> again(const Reduction& reduction, const CommState& state) {
  std::optional<run::Call> call = shape_again(reduction);
  const Places places{reduction.send, reduction.receive, std::max(0, reduction.root)};
  if (!call || !plain(reduction.kind, places, state, true, 0)) return {};
  call->in = reduction.in_place() ? nullptr : reduction.send;
  call->out = places.out;
  call->root = places.root;
  return call;
}

/// Are reductions that round left to the MPI library as long as this communicator lives?
bool came_too_late(const CommState& state) { return state.early && !*state.early && settings().same_bits; }

/// After a call that the MPI library or we have made without an error.
void remember_fold(const RepeatedCall& like, const Reduction& reduction) {
  const CommState* const state = state_of(like.comm);
  const TypeFacts type = facts_of(reduction.type);
  Found found{.derived = type.derived, .rounds = order_matters(reduction.op, type, state->size)};
  const std::size_t bytes = static_cast<std::size_t>(reduction.count) * type.size;
  if (bytes > 0 && bytes <= kMost / static_cast<std::size_t>(state->size) && found.rounds &&
      defined(reduction.op, type) && came_too_late(*state))
    return remember_passed(like, Reason::short_lived, found);
  if (!may_repeat(like.comm) || bytes > kMost) return;
  if (bytes == 0) return remember_passed(like, Reason::empty, found);
  if (!defined(reduction.op, type)) return remember_passed(like, Reason::operation, found);
  const std::optional<run::Call> again = shape_again(reduction);
  found.may_be_ours = again.has_value();
  if (again) {
    found.shape = *again;
  } else {
    found.shape.kind = reduction.kind;
    found.shape.count = reduction.count;
    found.shape.element = type.size;
  }
  remember(like, found);
}

int serve_fold(Collective what, const Reduction& reduction, MPI_Comm comm, FunctionRef<int()> native) {
  const int code = serve(what, comm,
                         {native, [&](const CommState& state) { return look_at(reduction, state); },
                          [&](ServedCall& served) { run_reduction(served, reduction); },
                          [&](ServedCall& served) { run_reproducibly(served, reduction); },
                          [&](const CommState& state) { return again(reduction, state); }});
  if (code == MPI_SUCCESS && may_remember(comm))
    remember_fold({what, comm, reduction.count, reduction.type, reduction.op}, reduction);
  return code;
}

/// counts[r] elements of the reduction of `whole` belong to rank r. Called when the arguments are good.
using Counts = FunctionRef<std::vector<int>(const CommState&)>;

/// Blocks of different lengths have no layout: those with gaps are packed here.
class UnevenFoldCall final : public OwnedCall {
 public:
  UnevenFoldCall(const Reduction& whole, const std::vector<int>& counts, const CommState& state)
      : whole_(whole), fold_{whole.op, {whole.type, facts_of(whole.type)}}, lengths_(counts.begin(), counts.end()),
        first_(lengths_.size()), own_(counts[static_cast<std::size_t>(state.rank)]) {
    std::exclusive_scan(lengths_.begin(), lengths_.end(), first_.begin(), std::int64_t{0});
    call.kind = Kind::reduce_scatter;
    call.element = fold_.packer.facts.size;
    call.op = fold_.operator_of();
    call.in = whole.in_place() ? nullptr : whole.send;
    call.in_blocks = {lengths_.data(), first_.data()};
    call.out = whole.receive;
    if (fold_.packer.facts.dense) return;
    in_ = run::AlignedBuffer(static_cast<std::size_t>(whole.count) * call.element);
    out_ = run::AlignedBuffer(static_cast<std::size_t>(own_) * call.element);
    call.in = in_.data();
    call.out = out_.data();
  }
  void begin() override {
    if (!fold_.packer.facts.dense) fold_.packer.pack(whole_.input(), whole_.count, in_.data());
  }
  void end() override {
    if (!fold_.packer.facts.dense) fold_.packer.unpack(whole_.receive, own_, out_.data());
  }

 private:
  Reduction whole_;
  TypeFold fold_;
  std::vector<std::int64_t> lengths_, first_;
  int own_;  ///< elements
  run::AlignedBuffer in_, out_;
};

std::unique_ptr<OwnedCall> scattered_call(const Reduction& whole, const std::vector<int>& shares,
                                          const CommState& state) {
  const bool even = std::all_of(shares.begin(), shares.end(), [&](int each) { return each == shares[0]; });
  if (!even) return std::make_unique<UnevenFoldCall>(whole, shares, state);
  Reduction blocks = whole;
  blocks.count = shares[0];
  return std::make_unique<FoldCall>(blocks, state);
}

CallFacts look_at_scattered(const Reduction& whole, Counts counts, const CommState& state) {
  const std::vector<int> shares =
      whole.count < 0 ? std::vector<int>(static_cast<std::size_t>(state.size)) : counts(state);
  const auto mine = shares.begin() + state.rank;
  const int own = *mine;
  Reduction judged = whole;
  static char somewhere;  // the receive buffer of a rank that gets nothing may be missing
  if (judged.receive == nullptr && own == 0) judged.receive = &somewhere;
  CallFacts facts = look_at(judged, state);
  if (facts.reason == Reason::argument) return facts;
  facts.results = own;
  facts.first = static_cast<std::size_t>(std::accumulate(shares.begin(), mine, 0));
  if (!facts.in_place) facts.output.count = own;
  return facts;
}

int serve_scattered(Collective what, const Reduction& whole, Counts counts, MPI_Comm comm, FunctionRef<int()> native,
                    FunctionRef<std::optional<run::Call>(const CommState&)> made_again = never_again) {
  const auto look = [&](const CommState& state) { return look_at_scattered(whole, counts, state); };
  const auto reproducible = [&](ServedCall& served) {
    fold_reproducibly(served, {whole.input(), whole.receive, whole.count, whole.type, whole.op, Keep::share, -1,
                               counts(served.state())});
  };
  const auto ours = [&](ServedCall& served) {
    served.run(*scattered_call(whole, counts(served.state()), served.state()));
  };
  return serve(what, comm, {native, look, ours, reproducible, made_again});
}

/// All blocks of a reduce-scatter with blocks of one length.
Reduction blocks_of(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 1;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &ranks);
  const long long total = static_cast<long long>(count) * ranks;
  return {send, receive, total > 0x7fffffff ? -1 : static_cast<int>(total), type, op, Kind::reduce_scatter, -1, false};
}

/// And with counts[r] elements for rank r.
Reduction shares_of(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 0;
  int inter = 0;
  if (active.load(std::memory_order_relaxed) && comm != MPI_COMM_NULL && counts != nullptr &&
      PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0) {
    PMPI_Comm_size(comm, &ranks);
  }
  const bool good = counts != nullptr && std::all_of(counts, counts + ranks, [](int each) { return each >= 0; });
  const long long total = std::accumulate(counts, counts + ranks, 0ll);
  return {send, receive, good && total < 0x7fffffff ? static_cast<int>(total) : -1, type, op, Kind::reduce_scatter,
          -1,   false};
}

int serve_blocks(const Reduction& block, MPI_Comm comm, FunctionRef<int()> native) {
  const RepeatedCall like{Collective::Reduce_scatter_block, comm, block.count, block.type, block.op};
  const int code = serve_scattered(
      like.what, blocks_of(block.send, block.receive, block.count, block.type, block.op, comm),
      [&](const CommState& state) { return std::vector<int>(static_cast<std::size_t>(state.size), block.count); }, comm,
      native, [&](const CommState& state) { return again(block, state); });
  if (code == MPI_SUCCESS && may_remember(comm)) remember_fold(like, block);
  return code;
}

int serve_shares(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 FunctionRef<int()> native) {
  int code = MPI_SUCCESS;
  const RepeatedCall like = of_lengths(Collective::Reduce_scatter, comm, counts == nullptr ? 0 : counts[0], type, op);
  const auto alike = [&](const Known& known) {
    if (counts == nullptr || send == nullptr || receive == nullptr || receive == MPI_IN_PLACE || send == receive)
      return false;
    std::int64_t total = 0;
    for (int r = 0; r < known.state->size; ++r) {
      if (counts[r] < 0) return false;
      total += counts[r];
    }
    return total == known.call.count;
  };
  const auto empty = [&](int ranks) {
    return counts != nullptr && std::all_of(counts, counts + ranks, [](int each) { return each == 0; });
  };
  if (repeats_left(like, alike, empty, native, code)) return code;
  const Reduction whole = shares_of(send, receive, counts, type, op, comm);
  code = serve_scattered(
      like.what, whole, [&](const CommState& state) { return std::vector<int>(counts, counts + state.size); }, comm,
      native);
  if (code != MPI_SUCCESS || !may_repeat(comm)) return code;
  if (whole.count == 0) return remember_passed(without_data(like), Reason::empty), code;
  const TypeFacts facts = facts_of(type);
  if (facts.size == 0 || whole.count < 0 || !defined(op, facts)) return code;
  Found found{.derived = facts.derived, .rounds = order_matters(op, facts, state_of(comm)->size)};
  found.shape.count = whole.count;
  found.shape.element = facts.size;
  remember_left(like, found);
  return code;
}

/// Can an int say it? All ranks of a reduction give the same count, so all of them find the same.
bool fits(MPI_Aint count) { return count <= 0x7fffffff; }
/// As a number that the int forms would judge alike: all that are below 0 are one mistake.
int narrowed(MPI_Aint count) { return static_cast<int>(std::max<MPI_Aint>(count, -1)); }

/// More elements than that: counted with the others, and passed on.
int pass_on_as_long(Collective what, MPI_Comm comm, FunctionRef<int()> native) {
  const auto look = [](const CommState&) {
    CallFacts facts;
    facts.reason = Reason::too_long;
    return facts;
  };
  return serve(what, comm, {native, look, nothing, nothing});
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

/// name: with or without _c.
#define CHASQUI_FOLD(name, what, Count, kind, exclusive)                                                             \
  extern "C" int CHASQUI_CALLED(name)(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,    \
                                      MPI_Comm comm) {                                                               \
    CHASQUI_CALLER                                                                                                   \
    const auto native = [=] { return CHASQUI_NATIVE(name)(send, receive, count, type, op, comm); };                  \
    if (int code = MPI_SUCCESS;                                                                                      \
        repeats({Collective::what, comm, count, type, op}, kind, {send, receive}, native, code))                     \
      return code;                                                                                                   \
    CHASQUI_UNLESS_UNSEEN(what, comm, native)                                                                        \
    return aside([=] {                                                                                               \
      return fits(count) ? serve_fold(Collective::what,                                                              \
                                      {send, receive, narrowed(count), type, op, kind, -1, exclusive}, comm, native) \
                         : pass_on_as_long(Collective::what, comm, native);                                          \
    });                                                                                                              \
  }                                                                                                                  \
  CHASQUI_NAMES(name)
#define CHASQUI_REDUCE(name, Count)                                                                                \
  extern "C" int CHASQUI_CALLED(name)(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,  \
                                      int root, MPI_Comm comm) {                                                   \
    CHASQUI_CALLER                                                                                                 \
    const auto native = [=] { return CHASQUI_NATIVE(name)(send, receive, count, type, op, root, comm); };          \
    if (int code = MPI_SUCCESS;                                                                                    \
        repeats({Collective::Reduce, comm, count, type, op}, Kind::reduce, {send, receive, root}, native, code))   \
      return code;                                                                                                 \
    CHASQUI_UNLESS_UNSEEN(Reduce, comm, native)                                                                    \
    return aside([=] {                                                                                             \
      return fits(count)                                                                                           \
                 ? serve_fold(Collective::Reduce,                                                                  \
                              {send, receive, narrowed(count), type, op, Kind::reduce, root, false}, comm, native) \
                 : pass_on_as_long(Collective::Reduce, comm, native);                                              \
    });                                                                                                            \
  }                                                                                                                \
  CHASQUI_NAMES(name)
#define CHASQUI_REDUCE_SCATTER_BLOCK(name, Count)                                                                    \
  extern "C" int CHASQUI_CALLED(name)(const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,    \
                                      MPI_Comm comm) {                                                               \
    CHASQUI_CALLER                                                                                                   \
    const auto native = [=] { return CHASQUI_NATIVE(name)(send, receive, count, type, op, comm); };                  \
    if (int code = MPI_SUCCESS; repeats({Collective::Reduce_scatter_block, comm, count, type, op},                   \
                                        Kind::reduce_scatter, {send, receive}, native, code))                        \
      return code;                                                                                                   \
    CHASQUI_UNLESS_UNSEEN(Reduce_scatter_block, comm, native)                                                        \
    return aside([=] {                                                                                               \
      return fits(count) ? serve_blocks({send, receive, narrowed(count), type, op, Kind::reduce_scatter, -1, false}, \
                                        comm, native)                                                                \
                         : pass_on_as_long(Collective::Reduce_scatter_block, comm, native);                          \
    });                                                                                                              \
  }                                                                                                                  \
  CHASQUI_NAMES(name)

CHASQUI_REDUCE(Reduce, int)
CHASQUI_FOLD(Allreduce, Allreduce, int, Kind::allreduce, false)
CHASQUI_FOLD(Scan, Scan, int, Kind::scan, false)
CHASQUI_FOLD(Exscan, Exscan, int, Kind::scan, true)
CHASQUI_REDUCE_SCATTER_BLOCK(Reduce_scatter_block, int)
extern "C" int CHASQUI_CALLED(Reduce_scatter)(const void* send, void* receive, const int counts[], MPI_Datatype type,
                                              MPI_Op op, MPI_Comm comm) {
  CHASQUI_CALLER
  const auto native = [&] { return CHASQUI_NATIVE(Reduce_scatter)(send, receive, counts, type, op, comm); };
  CHASQUI_UNLESS_UNSEEN(Reduce_scatter, comm, native)
  return serve_shares(send, receive, counts, type, op, comm, native);
}
CHASQUI_NAMES(Reduce_scatter)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_REDUCE(Reduce_c, MPI_Count)
CHASQUI_FOLD(Allreduce_c, Allreduce, MPI_Count, Kind::allreduce, false)
CHASQUI_FOLD(Scan_c, Scan, MPI_Count, Kind::scan, false)
CHASQUI_FOLD(Exscan_c, Exscan, MPI_Count, Kind::scan, true)
CHASQUI_REDUCE_SCATTER_BLOCK(Reduce_scatter_block_c, MPI_Count)
extern "C" int MPI_Reduce_scatter_c(const void* send, void* receive, const MPI_Count counts[], MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm) {
  CHASQUI_CALLER
  const auto native = [&] { return CHASQUI_NATIVE(Reduce_scatter_c)(send, receive, counts, type, op, comm); };
  CHASQUI_UNLESS_UNSEEN(Reduce_scatter, comm, native)
  int ranks = 0;
  if (counts == nullptr || comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS) return native();
  if (!std::all_of(counts, counts + ranks, fits)) return pass_on_as_long(Collective::Reduce_scatter, comm, native);
  std::vector<int> narrow(static_cast<std::size_t>(ranks));
  std::transform(counts, counts + ranks, narrow.begin(), narrowed);
  return serve_shares(send, receive, narrow.data(), type, op, comm, native);
}
CHASQUI_NAMES(Reduce_scatter_c)
#endif

#ifdef CHASQUI_GOES_ON
namespace {

/// As an int; the largest one stands for all that are larger, and is as much too long.
int most(MPI_Aint count) { return narrowed(std::min<MPI_Aint>(count, 0x7fffffff)); }

void* plan_fold(Collective what, int form, const Reduction& reduction, MPI_Comm comm) {
  return plan(
      {what, comm, reduction.count, reduction.type, reduction.op}, static_cast<Form>(form), comm,
      [&](const CommState& state) { return look_at(reduction, state); },
      [&](const CommState& state) { return std::make_unique<FoldCall>(reduction, state); });
}

void* plan_scattered(Collective what, int form, const Reduction& whole, Counts counts, MPI_Comm comm) {
  return plan(
      {what, MPI_COMM_NULL, 0, whole.type}, static_cast<Form>(form), comm,
      [&](const CommState& state) { return look_at_scattered(whole, counts, state); },
      [&](const CommState& state) { return scattered_call(whole, counts(state), state); });
}

}  // namespace

#define CHASQUI_PLAN_FOLD(name, what, Count, kind, exclusive)                                                     \
  extern "C" void* chasqui_plan_##name(int form, const void* send, void* receive, Count count, MPI_Datatype type, \
                                       MPI_Op op, MPI_Comm comm) {                                                \
    return plan_fold(Collective::what, form, {send, receive, most(count), type, op, kind, -1, exclusive}, comm);  \
  }
#define CHASQUI_PLAN_REDUCE(name, Count)                                                                          \
  extern "C" void* chasqui_plan_##name(int form, const void* send, void* receive, Count count, MPI_Datatype type, \
                                       MPI_Op op, int root, MPI_Comm comm) {                                      \
    return plan_fold(Collective::Reduce, form, {send, receive, most(count), type, op, Kind::reduce, root, false}, \
                     comm);                                                                                       \
  }
#define CHASQUI_PLAN_REDUCE_SCATTER_BLOCK(name, Count)                                                                \
  extern "C" void* chasqui_plan_##name(int form, const void* send, void* receive, Count count, MPI_Datatype type,     \
                                       MPI_Op op, MPI_Comm comm) {                                                    \
    const int block = most(count);                                                                                    \
    return plan_scattered(                                                                                            \
        Collective::Reduce_scatter_block, form, blocks_of(send, receive, block, type, op, comm),                      \
        [&](const CommState& state) { return std::vector<int>(static_cast<std::size_t>(state.size), block); }, comm); \
  }
CHASQUI_PLAN_REDUCE(Reduce, int)
CHASQUI_PLAN_FOLD(Allreduce, Allreduce, int, Kind::allreduce, false)
CHASQUI_PLAN_FOLD(Scan, Scan, int, Kind::scan, false)
CHASQUI_PLAN_FOLD(Exscan, Exscan, int, Kind::scan, true)
CHASQUI_PLAN_REDUCE_SCATTER_BLOCK(Reduce_scatter_block, int)
extern "C" void* chasqui_plan_Reduce_scatter(int form, const void* send, void* receive, const int* counts,
                                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return plan_scattered(
      Collective::Reduce_scatter, form, shares_of(send, receive, counts, type, op, comm),
      [&](const CommState& state) { return std::vector<int>(counts, counts + state.size); }, comm);
}
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_PLAN_REDUCE(Reduce_c, MPI_Count)
CHASQUI_PLAN_FOLD(Allreduce_c, Allreduce, MPI_Count, Kind::allreduce, false)
CHASQUI_PLAN_FOLD(Scan_c, Scan, MPI_Count, Kind::scan, false)
CHASQUI_PLAN_FOLD(Exscan_c, Exscan, MPI_Count, Kind::scan, true)
CHASQUI_PLAN_REDUCE_SCATTER_BLOCK(Reduce_scatter_block_c, MPI_Count)
extern "C" void* chasqui_plan_Reduce_scatter_c(int form, const void* send, void* receive, const MPI_Count* counts,
                                               MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 0;
  if (counts != nullptr) PMPI_Comm_size(comm, &ranks);
  std::vector<int> narrow(static_cast<std::size_t>(ranks));
  std::transform(counts, counts + ranks, narrow.begin(), most);
  return chasqui_plan_Reduce_scatter(form, send, receive, counts == nullptr ? nullptr : narrow.data(), type, op, comm);
}
#endif
#endif
