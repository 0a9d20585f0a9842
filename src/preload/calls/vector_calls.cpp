// SPDX-License-Identifier: MIT
// MPI_Allgatherv, Gatherv, Scatterv: blocks padded to the largest one, unless they differ too much. Only the root of a
// gatherv or scatterv knows all sizes: a served one begins with a broadcast of 16 bytes by which the ranks decide alike,
// and its cost is part of what is compared with the MPI library's own.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "preload/calls/buffer.hpp"
#include "preload/calls/exchange.hpp"
#include "preload/component/ongoing.hpp"
#include "preload/native.hpp"
#include "preload/repeated.hpp"

namespace chasqui::preload {
namespace {

constexpr MPI_Aint kNowhereElse = 0;  ///< the displacement of a block alone

/// Would padding to the largest block cost too much?
bool very_uneven(std::size_t largest, std::size_t total, int ranks) {
  return largest * static_cast<std::size_t>(ranks) > 2 * total + 4096;
}

/// The blocks of all ranks in one buffer, or this rank's alone; each as long as the largest while it travels.
struct UnevenBuffer {
  void* where;
  Numbers counts, displacements;
  TypePacker packer;
  std::size_t largest = 0, total = 0;  ///< bytes

  UnevenBuffer(const void* where_, Numbers counts_, Numbers displacements_, int blocks, TypePacker packer_)
      : where(const_cast<void*>(where_)), counts(counts_), displacements(displacements_), packer(packer_) {
    for (int r = 0; r < blocks; ++r) {
      const std::size_t bytes = static_cast<std::size_t>(std::max<MPI_Aint>(0, counts[r])) * packer.facts.size;
      largest = std::max(largest, bytes);
      total += bytes;
    }
  }
  /// One block, among others of which the largest is given.
  UnevenBuffer(const void* where_, const MPI_Aint& count, TypePacker packer_, std::size_t largest_)
      : UnevenBuffer(where_, &count, &kNowhereElse, 1, packer_) {
    largest = largest_;
  }

  bool very_uneven(int ranks) const { return preload::very_uneven(largest, total, ranks); }
  void* block(std::size_t r) const { return moved(where, displacements[r] * packer.facts.extent); }
  /// Elements of block r; a wrong program may have more than fit.
  MPI_Aint fitting(std::size_t r) const {
    const std::size_t most = largest / std::max<std::size_t>(1, packer.facts.size);
    return std::min(counts[r], static_cast<MPI_Aint>(most));
  }
  /// For a call of `largest` elements of one byte.
  run::Layout layout() {
    return {.pack =
                [](void* self, const void*, std::size_t first, std::size_t n, void* packed) {
                  const auto& it = *static_cast<const UnevenBuffer*>(self);
                  for (std::size_t done = 0; done < n; done += it.largest) {
                    const std::size_t r = (first + done) / it.largest;
                    it.packer.pack(it.block(r), it.fitting(r), static_cast<std::byte*>(packed) + done);
                  }
                },
            .unpack =
                [](void* self, void*, std::size_t first, std::size_t n, const void* packed) {
                  const auto& it = *static_cast<const UnevenBuffer*>(self);
                  for (std::size_t done = 0; done < n; done += it.largest) {
                    const std::size_t r = (first + done) / it.largest;
                    it.packer.unpack(it.block(r), it.fitting(r), static_cast<const std::byte*>(packed) + done);
                  }
                },
            .context = this};
  }
};

void returns_blocks(CallFacts& facts, const UnevenBuffer& out, int ranks) {
  facts.output = {.where = out.where,
                  .type = out.packer.type,
                  .blocks = ranks,
                  .counts = out.counts,
                  .displacements = out.displacements};
}

/// Either side may be missing: it does not count here, or is in place.
void run_uneven(ServedCall& served, Kind kind, int root, std::size_t largest, UnevenBuffer* in, UnevenBuffer* out) {
  run::Call call = call_of(kind, largest, root);
  call.in = in;
  if (in != nullptr) call.in_layout = in->layout();
  call.out = out;
  if (out != nullptr) call.out_layout = out->layout();
  served.run(call);
}

/// What the root says before a gatherv or scatterv: the largest block, or that the MPI library does it, and why.
std::size_t largest_of(ServedCall& served, int root, const UnevenBuffer* blocks, bool good) {
  std::uint64_t news[2] = {0, static_cast<std::uint64_t>(Reason::none)};
  if (served.rank() == root) {
    Reason reason = Reason::argument;
    if (good) {
      news[0] = blocks->largest;
      const auto ranks = static_cast<std::size_t>(served.size());
      reason = blocks->largest == 0                   ? Reason::empty
               : blocks->largest > kMostMoved / ranks ? Reason::too_long
               : blocks->very_uneven(served.size())   ? Reason::uneven
                                                      : Reason::none;
    }
    news[1] = static_cast<std::uint64_t>(reason);
  }
  run::Call call = call_of(Kind::broadcast, sizeof news, root);
  call.out = news;
  served.run(call);
  if (news[1] != static_cast<std::uint64_t>(Reason::none)) throw Declined{static_cast<Reason>(news[1])};
  return news[0];
}

/// One race for all sizes, because ranks other than the root cannot know them.
CallFacts of_any_size(Kind kind) {
  CallFacts facts;
  facts.shape.kind = kind;
  return facts;
}

/// Can the buffer of all blocks be served? `own` is this rank's other argument.
bool good_blocks(const UnevenBuffer& blocks, const BufferArgument* own, int rank) {
  if (own != nullptr) {
    if (!own->good() || own->bytes() != static_cast<std::size_t>(blocks.counts[rank]) * blocks.packer.facts.size)
      return false;
    if (overlap_is_an_error(own->where, blocks.block(static_cast<std::size_t>(rank)), own->bytes())) return false;
  }
  return !(blocks.where == nullptr && blocks.packer.facts.dense && blocks.total != 0);
}

/// The arguments of all blocks by themselves.
bool good_arguments(const void* where, const Numbers& counts, const Numbers& displacements, MPI_Datatype type,
                    int ranks) {
  return BufferArgument(where, 0, type).good() && !counts.missing() && !displacements.missing() &&
         !negative(counts, ranks);
}

/// The arguments of an all-gather of blocks.
struct BlocksForAll {
  const void* send;
  MPI_Aint sendcount;
  MPI_Datatype sendtype;
  void* receive;
  Numbers counts, displacements;
  MPI_Datatype receivetype;

  bool in_place() const { return send == MPI_IN_PLACE; }
  RepeatedCall like(MPI_Comm comm) const {
    return of_lengths(Collective::Allgatherv, comm, counts.missing() ? 0 : counts[0], receivetype);
  }
  bool empty(int ranks) const {
    for (int r = 0; r < ranks; ++r) {
      if (counts.missing() || counts[r] != 0) return false;
    }
    return in_place() || sendcount == 0;
  }
  /// Surely good, and the largest block as the one before had it?
  bool alike(const Known& known) const {
    const int ranks = known.state->size, rank = known.state->rank;
    if (counts.missing() || displacements.missing()) return false;
    MPI_Aint largest = 0, total = 0;
    for (int r = 0; r < ranks; ++r) {
      if (counts[r] < 0) return false;
      largest = std::max(largest, counts[r]);
      total += counts[r];
    }
    const std::size_t element = known.call.element;
    if (largest != known.call.count || very_uneven(known.bytes, static_cast<std::size_t>(total) * element, ranks))
      return false;
    if (receive == nullptr || receive == MPI_IN_PLACE) return false;
    return in_place() || (send != nullptr && sendtype == receivetype && sendcount == counts[rank] &&
                          moved(receive, displacements[rank] * known.stride) != send);
  }
  UnevenBuffer blocks(int ranks) const {
    return {receive, counts, displacements, ranks, {receivetype, facts_of(receivetype)}};
  }
  CallFacts look(const CommState& state) const {
    if (!good_arguments(receive, counts, displacements, receivetype, state.size)) return bad();
    const UnevenBuffer out = blocks(state.size);
    if (in_place()) {
      if (!good_blocks(out, nullptr, state.rank)) return bad();
    } else {
      const BufferArgument own(send, sendcount, sendtype);
      if (!good_blocks(out, &own, state.rank)) return bad();
    }
    CallFacts facts = movement_of(Kind::allgather, out.largest, state.size);
    if (out.very_uneven(state.size)) facts.reason = Reason::uneven;
    returns_blocks(facts, out, state.size);
    return facts;
  }
};

class BlocksForAllCall final : public OwnedCall {
 public:
  BlocksForAllCall(const BlocksForAll& arguments, const CommState& state)
      : count_(arguments.sendcount), counts_(arguments.counts, state.size),
        displacements_(arguments.displacements, state.size), out_(with_kept(arguments).blocks(state.size)) {
    call = call_of(Kind::allgather, out_.largest, 0);
    call.out = &out_;
    call.out_layout = out_.layout();
    if (arguments.in_place()) return;
    own_.emplace(arguments.send, count_, TypePacker{arguments.sendtype, facts_of(arguments.sendtype)}, out_.largest);
    call.in = &*own_;
    call.in_layout = own_->layout();
  }

 private:
  BlocksForAll with_kept(BlocksForAll arguments) const {
    arguments.counts = counts_;
    arguments.displacements = displacements_;
    return arguments;
  }

  MPI_Aint count_;
  KeptNumbers counts_, displacements_;
  UnevenBuffer out_;
  std::optional<UnevenBuffer> own_;
};

/// What gatherv and scatterv share: `all` is the buffer of all blocks, at the root; `own` a rank's own, missing in place.
struct RootedBlocks {
  Kind kind;
  int root;
  const void* all;
  Numbers counts, displacements;
  MPI_Datatype all_type;
  const void* own;
  MPI_Aint own_count;
  MPI_Datatype own_type;

  bool in_place(int rank) const { return rank == root && own == MPI_IN_PLACE; }
  BufferArgument mine() const { return {own, own_count, own_type}; }
  UnevenBuffer blocks(const TypePacker& packer, int ranks) const { return {all, counts, displacements, ranks, packer}; }
  bool root_is_good(int ranks) const {
    if (!good_arguments(all, counts, displacements, all_type, ranks)) return false;
    const UnevenBuffer whole = blocks({all_type, facts_of(all_type)}, ranks);
    if (in_place(root)) return good_blocks(whole, nullptr, root);
    const BufferArgument argument = mine();
    return good_blocks(whole, &argument, root);
  }

  /// At the root: what the MPI library refuses before it sends anything.
  bool surely_wrong(int ranks) const {
    if (!good_arguments(all, counts, displacements, all_type, ranks) || (!in_place(root) && !mine().good()))
      return true;
    const auto at_root = blocks({all_type, facts_of(all_type)}, ranks).block(static_cast<std::size_t>(root));
    return !in_place(root) && overlap_is_an_error(own, at_root, mine().bytes());
  }

  /// Without a look at each block.
  bool surely_good(const CommState& state) const {
    if (root < 0 || root >= state.size) return false;
    if (!in_place(state.rank) && !mine().good()) return false;
    if (state.rank != root) return true;
    return good_arguments(all, counts, displacements, all_type, state.size) &&
           moved(all, displacements[root] * facts_of(all_type).extent) != own;
  }
  CallFacts look(const CommState& state) const {
    if (root < 0 || root >= state.size) return bad();
    if (state.rank != root ? !mine().good() : surely_wrong(state.size)) return bad();
    CallFacts facts = of_any_size(kind);
    if (kind == Kind::gather) {
      if (state.rank != root || !root_is_good(state.size)) return facts;
      returns_blocks(facts, blocks({all_type, facts_of(all_type)}, state.size), state.size);
    } else if (!in_place(state.rank) && mine().good()) {
      returns(facts, mine(), 1);
    }
    return facts;
  }

  void run(ServedCall& served) const {
    std::optional<UnevenBuffer> whole, single;
    std::size_t largest = 0;
    if (served.rank() == root) {
      if (!root_is_good(served.size())) static_cast<void>(largest_of(served, root, nullptr, false));
      whole = blocks(served.packer(all_type), served.size());
      largest = largest_of(served, root, &*whole, true);
    } else {
      largest = largest_of(served, root, nullptr, true);
    }
    if (!in_place(served.rank())) single.emplace(own, own_count, served.packer(own_type), largest);
    UnevenBuffer* const all_blocks = whole ? &*whole : nullptr;
    UnevenBuffer* const one_block = single ? &*single : nullptr;
    kind == Kind::gather ? run_uneven(served, kind, root, largest, one_block, all_blocks)
                         : run_uneven(served, kind, root, largest, all_blocks, one_block);
  }
};

int serve_for_all(const BlocksForAll& blocks, MPI_Comm comm, FunctionRef<int()> native) {
  int code = MPI_SUCCESS;
  const RepeatedCall like = blocks.like(comm);
  const auto alike = [&](const Known& known) { return blocks.alike(known); };
  if (repeats_left(
          like, alike, [&](int ranks) { return blocks.empty(ranks); }, native, code))
    return code;
  code = serve(Collective::Allgatherv, comm,
               {native, [&](const CommState& state) { return blocks.look(state); },
                [&](ServedCall& served) {
                  BlocksForAllCall call(blocks, served.state());
                  served.run(call);
                },
                nothing});
  if (code != MPI_SUCCESS || !may_repeat(comm)) return code;
  const int ranks = state_of(comm)->size;
  if (blocks.empty(ranks)) return remember_passed(without_data(like), Reason::empty), code;
  const UnevenBuffer out = blocks.blocks(ranks);
  const TypeFacts& type = out.packer.facts;
  if (out.largest == 0) return code;
  Found found{.stride = type.extent, .derived = type.derived};
  found.shape.count = static_cast<std::int64_t>(out.largest / type.size);
  found.shape.element = type.size;
  remember_left(like, found);
  return code;
}

int serve_rooted(Collective what, const RootedBlocks& rooted, MPI_Comm comm, FunctionRef<int()> native) {
  int code = MPI_SUCCESS;
  const RepeatedCall like{what, comm, 0, {}};
  const auto alike = [&](const Known& known) { return rooted.surely_good(*known.state); };
  if (repeats_left(like, alike, never_empty, native, code)) return code;
  code = serve(what, comm,
               {native, [&](const CommState& state) { return rooted.look(state); },
                [&](ServedCall& served) { rooted.run(served); }, nothing});
  if (code == MPI_SUCCESS && may_repeat(comm)) remember_left(like, {});
  return code;
}

}  // namespace
}  // namespace chasqui::preload

using namespace chasqui::preload;
using chasqui::Kind;

/// name: with or without _c.
#define CHASQUI_ALLGATHERV(name, Count, Place)                                                                     \
  extern "C" int CHASQUI_CALLED(name)(const void* send, Count sendcount, MPI_Datatype sendtype, void* receive,     \
                                      const Count counts[], const Place displacements[], MPI_Datatype receivetype, \
                                      MPI_Comm comm) {                                                             \
    CHASQUI_CALLER                                                                                                 \
    const auto native = [&] {                                                                                      \
      return CHASQUI_NATIVE(name)(send, sendcount, sendtype, receive, counts, displacements, receivetype, comm);   \
    };                                                                                                             \
    CHASQUI_UNLESS_UNSEEN(Allgatherv, comm, native)                                                                \
    return serve_for_all({send, sendcount, sendtype, receive, counts, displacements, receivetype}, comm, native);  \
  }                                                                                                                \
  CHASQUI_NAMES(name)
#define CHASQUI_GATHERV(name, Count, Place)                                                                            \
  extern "C" int CHASQUI_CALLED(name)(const void* send, Count sendcount, MPI_Datatype sendtype, void* receive,         \
                                      const Count counts[], const Place displacements[], MPI_Datatype receivetype,     \
                                      int root, MPI_Comm comm) {                                                       \
    CHASQUI_CALLER                                                                                                     \
    const auto native = [&] {                                                                                          \
      return CHASQUI_NATIVE(name)(send, sendcount, sendtype, receive, counts, displacements, receivetype, root, comm); \
    };                                                                                                                 \
    CHASQUI_UNLESS_UNSEEN(Gatherv, comm, native)                                                                       \
    const RootedBlocks rooted{Kind::gather, root, receive,   counts,  displacements,                                   \
                              receivetype,  send, sendcount, sendtype};                                                \
    return serve_rooted(Collective::Gatherv, rooted, comm, native);                                                    \
  }                                                                                                                    \
  CHASQUI_NAMES(name)
#define CHASQUI_SCATTERV(name, Count, Place)                                                                       \
  extern "C" int CHASQUI_CALLED(name)(const void* send, const Count counts[], const Place displacements[],         \
                                      MPI_Datatype sendtype, void* receive, Count receivecount,                    \
                                      MPI_Datatype receivetype, int root, MPI_Comm comm) {                         \
    CHASQUI_CALLER                                                                                                 \
    const auto native = [&] {                                                                                      \
      return CHASQUI_NATIVE(name)(send, counts, displacements, sendtype, receive, receivecount, receivetype, root, \
                                  comm);                                                                           \
    };                                                                                                             \
    CHASQUI_UNLESS_UNSEEN(Scatterv, comm, native)                                                                  \
    const RootedBlocks rooted{Kind::scatter, root,    send,         counts,     displacements,                     \
                              sendtype,      receive, receivecount, receivetype};                                  \
    return serve_rooted(Collective::Scatterv, rooted, comm, native);                                               \
  }                                                                                                                \
  CHASQUI_NAMES(name)

CHASQUI_ALLGATHERV(Allgatherv, int, int)
CHASQUI_GATHERV(Gatherv, int, int)
CHASQUI_SCATTERV(Scatterv, int, int)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_ALLGATHERV(Allgatherv_c, MPI_Count, MPI_Aint)
CHASQUI_GATHERV(Gatherv_c, MPI_Count, MPI_Aint)
CHASQUI_SCATTERV(Scatterv_c, MPI_Count, MPI_Aint)
#endif

#ifdef CHASQUI_GOES_ON
namespace {

/// What goes on by itself cannot wait for the root to say the sizes. As an all-to-all in which nobody but the root gets, or gives, anything
/// each rank needs no more than its own arguments.
class RootedCall final : public OwnedCall {
 public:
  RootedCall(const RootedBlocks& rooted, const CommState& state)
      : nowhere_(static_cast<std::size_t>(state.size)), own_counts_(nowhere_), all_counts_(nowhere_),
        all_places_(nowhere_) {
    const auto root = static_cast<std::size_t>(rooted.root);
    const bool at_root = state.rank == rooted.root, in_place = rooted.in_place(state.rank);
    for (std::size_t r = 0; at_root && r < nowhere_.size(); ++r) {
      all_counts_[r] = rooted.counts[r];
      all_places_[r] = rooted.displacements[r];
    }
    if (in_place) all_counts_[root] = 0;
    else own_counts_[root] = rooted.own_count;
    const ExchangeArgument all{at_root ? rooted.all : nullptr, all_counts_.data(), all_places_.data(), &rooted.all_type,
                               false};
    const ExchangeArgument own{in_place ? nullptr : rooted.own, own_counts_.data(), nowhere_.data(), &rooted.own_type,
                               false};
    exchange_ = rooted.kind == Kind::gather ? make_exchange({own, all}, state) : make_exchange({all, own}, state);
    call = exchange_->call;
  }
  void begin() override { exchange_->begin(); }
  void end() override { exchange_->end(); }

 private:
  std::vector<MPI_Aint> nowhere_, own_counts_, all_counts_, all_places_;
  std::unique_ptr<OwnedCall> exchange_;
};

void* plan_rooted(Collective what, int form, const RootedBlocks& rooted, MPI_Comm comm) {
  return plan(
      {what, MPI_COMM_NULL, 0, MPI_BYTE}, static_cast<Form>(form), comm,
      [&](const CommState& state) { return rooted.look(state); },
      [&](const CommState& state) { return std::make_unique<RootedCall>(rooted, state); });
}

}  // namespace

#define CHASQUI_PLAN_ALLGATHERV(name, Count, Place)                                                        \
  extern "C" void* chasqui_plan_##name(int form, const void* send, Count sendcount, MPI_Datatype sendtype, \
                                       void* receive, const Count* counts, const Place* displacements,     \
                                       MPI_Datatype receivetype, MPI_Comm comm) {                          \
    const BlocksForAll blocks{send, sendcount, sendtype, receive, counts, displacements, receivetype};     \
    return plan(                                                                                           \
        {Collective::Allgatherv, MPI_COMM_NULL, 0, MPI_BYTE}, static_cast<Form>(form), comm,               \
        [&](const CommState& state) { return blocks.look(state); },                                        \
        [&](const CommState& state) { return std::make_unique<BlocksForAllCall>(blocks, state); });        \
  }
#define CHASQUI_PLAN_GATHERV(name, Count, Place)                                                                     \
  extern "C" void* chasqui_plan_##name(int form, const void* send, Count sendcount, MPI_Datatype sendtype,           \
                                       void* receive, const Count* counts, const Place* displacements,               \
                                       MPI_Datatype receivetype, int root, MPI_Comm comm) {                          \
    return plan_rooted(Collective::Gatherv, form,                                                                    \
                       {Kind::gather, root, receive, counts, displacements, receivetype, send, sendcount, sendtype}, \
                       comm);                                                                                        \
  }
#define CHASQUI_PLAN_SCATTERV(name, Count, Place)                                                                   \
  extern "C" void* chasqui_plan_##name(int form, const void* send, const Count* counts, const Place* displacements, \
                                       MPI_Datatype sendtype, void* receive, Count receivecount,                    \
                                       MPI_Datatype receivetype, int root, MPI_Comm comm) {                         \
    return plan_rooted(                                                                                             \
        Collective::Scatterv, form,                                                                                 \
        {Kind::scatter, root, send, counts, displacements, sendtype, receive, receivecount, receivetype}, comm);    \
  }
CHASQUI_PLAN_ALLGATHERV(Allgatherv, int, int)
CHASQUI_PLAN_GATHERV(Gatherv, int, int)
CHASQUI_PLAN_SCATTERV(Scatterv, int, int)
#ifdef CHASQUI_LARGE_COUNTS
CHASQUI_PLAN_ALLGATHERV(Allgatherv_c, MPI_Count, MPI_Aint)
CHASQUI_PLAN_GATHERV(Gatherv_c, MPI_Count, MPI_Aint)
CHASQUI_PLAN_SCATTERV(Scatterv_c, MPI_Count, MPI_Aint)
#endif
#endif
