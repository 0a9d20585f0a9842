// SPDX-License-Identifier: MIT
// Calls like one before, but for addresses and root: that the arguments are good, and who serves them, was found then. What
// is left is to see that nothing has changed since. Whatever is unusual goes the long way, through serve(), which decides the same.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>

#include "preload/serve.hpp"
#include "preload/start/settings.hpp"

namespace chasqui::preload {

struct RepeatedCall {
  Collective what;
  MPI_Comm comm;
  MPI_Aint count;  ///< of elements that this rank gives or gets; of a block, where there are several
  MPI_Datatype type;
  MPI_Op op{};
  bool operator==(const RepeatedCall&) const = default;
};

/// Elements of a datatype.
struct Elements {
  MPI_Aint count = 0;
  MPI_Datatype type{};
  [[gnu::always_inline]] bool operator==(const Elements& there) const {
    return count == there.count && type == there.type;
  }
};

/// The addresses and the root of this one. What a rank does not use may be anything.
struct Places {
  const void* in = nullptr;
  void* out = nullptr;
  int root = 0;
  Elements other{};  ///< what it has on the other side; looked at where that side counts
};

/// What follows from a call's arguments but for addresses and root. Of the program's operations nothing depends on which it is, so one that has the
/// handle of another is no other call.
struct Found {
  run::Call shape{};         ///< without addresses; its operator must outlive it
  Elements other{};          ///< on the other side
  MPI_Aint stride = 0;       ///< bytes from one of those blocks to the next
  bool derived = false;      ///< on one of the sides
  bool rounds = false;       ///< may the order of folding change the bits?
  bool may_be_ours = false;  ///< do the shape and new addresses make a call of ours?
};

struct Known {
  RepeatedCall like;
  std::uint64_t generation;
  std::uint64_t types;  ///< generation of the derived types; 0: there is none
  CommState* state;
  Race* race;         ///< nullptr: there is none, and it goes to the MPI library
  Reason reason;      ///< why, where there is no race
  std::size_t bytes;  ///< as the race counts them
  bool ours;          ///< is one of ours repeated, too?
  Elements other{};   ///< as found good
  MPI_Aint stride = 0;
  run::Call call{};  ///< with the addresses of the last one
};

/// The last one for each of a few places; another communicator, collective or size takes the place. Calls without data have places of
/// their own: programs make them in turn with others.
inline constexpr unsigned kPlaces = 32;
using KnownCalls = std::array<std::optional<Known>, kPlaces + kServed>;

inline std::optional<Known>& place_of(const RepeatedCall& call) {
  KnownCalls& known_calls = OfThread<KnownCalls>::here();
  const auto what = static_cast<unsigned>(call.what), count = static_cast<unsigned>(call.count);
  return known_calls[count == 0 ? kPlaces + what % kServed : (what * 5 + count + (count >> 5)) % kPlaces];
}

/// The one before; nullptr: there is none.
inline Known* find_known(const RepeatedCall& call) {
  std::optional<Known>& place = place_of(call);
  return place && place->like == call && place->generation == generation_of_handles() &&
                 (place->types == 0 || place->types == generation_of_types())
             ? &*place
             : nullptr;
}

[[gnu::always_inline]] inline bool usable(const void* address) { return address != nullptr && address != MPI_IN_PLACE; }

/// Are the addresses that count on this rank plain ones, which do not overlap? alike: is the other side good? stride: of its blocks
[[gnu::always_inline]] inline bool plain(Kind kind, const Places& places, const CommState& state, bool alike,
                                         MPI_Aint stride) {
  if (static_cast<unsigned>(places.root) >= static_cast<unsigned>(state.size)) return false;
  const bool at_root = places.root == state.rank;
  const auto apart = [&](const void* all, const void* one) { return moved(all, stride * state.rank) != one; };
  switch (kind) {
    case Kind::barrier: return true;
    case Kind::broadcast: return usable(places.out);
    case Kind::reduce: return usable(places.in) && (!at_root || (usable(places.out) && places.in != places.out));
    case Kind::gather:
      return usable(places.in) && (!at_root || (alike && usable(places.out) && apart(places.out, places.in)));
    case Kind::scatter:
      return usable(places.out) && (!at_root || (alike && usable(places.in) && apart(places.in, places.out)));
    case Kind::allgather: return alike && usable(places.in) && usable(places.out) && apart(places.out, places.in);
    case Kind::allreduce:
      return usable(places.out) && (places.in == MPI_IN_PLACE || (places.in != nullptr && places.in != places.out));
    default: return alike && usable(places.in) && usable(places.out) && places.in != places.out;
  }
}
[[gnu::always_inline]] inline bool plain(Kind kind, const Known& known, const Places& places) {
  return plain(kind, places, *known.state, places.other == known.other, known.stride);
}

/// Will the MPI library find its addresses good? It may be in place.
[[gnu::always_inline]] inline bool good(Kind kind, const Known& known, const Places& places) {
  const bool at_root = places.root == known.state->rank;
  switch (kind) {
    case Kind::reduce:
    case Kind::gather:
      if (at_root && places.in == MPI_IN_PLACE) return usable(places.out);
      break;
    case Kind::scatter:
      if (at_root && places.out == MPI_IN_PLACE) return usable(places.in);
      break;
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::scan:
    case Kind::reduce_scatter:
      if (places.in == MPI_IN_PLACE) return usable(places.out);
      break;
    default: break;
  }
  return plain(kind, known, places);
}

/// The call as it is run now.
inline const run::Call& at(Known& known, const Places& places) {
  known.call.in = places.in == MPI_IN_PLACE ? nullptr : places.in;
  known.call.out = places.out;
  known.call.root = places.root;
  return known.call;
}

inline constexpr int kLongWay = -2;
/// The same where both sides take turns: by the ways that such calls go when there is a verdict, or no comparison would find what comes of
/// it. kLongWay: not made, since all ranks have to agree first. REQUIRES known.ours, and a comparison
int compare_again(Known& known, const Places& places, FunctionRef<int()> native);

/// Does the verdict hold for this call too, without being looked at again?
inline bool settled(Race& race) {
  if (race.verdict == Verdict::open || race.comparison != nullptr) return false;
  if (settings().trials == 0 || race.for_good) return true;
  if (race.settled >= race.again) return false;
  ++race.settled;
  return true;
}

/// Passes on a call of this race, whose verdict is the MPI library; false: that must be looked at again.
template <typename Native>
inline bool passes_settled(const Known& known, const Native& native, int& code) {
  Race& race = *known.race;
  if (!settled(race)) return false;
  code = pass_on_settled(known.like.what, *known.state, race, native);
  return true;
}

/// Are the root and, where they matter on this rank, the arguments of the other side as they should be?
inline bool sides_agree(Kind kind, const Known& known, const Places& places) {
  const bool rooted = kind == Kind::gather || kind == Kind::scatter;
  return static_cast<unsigned>(places.root) < static_cast<unsigned>(known.state->size) &&
         (places.other == known.other || (rooted && places.root != known.state->rank));
}

/// Is anything served on this communicator, or left to the MPI library by a verdict?
inline bool in_order(const CommState& state) { return state.never == Reason::none && state.failed_in == 0; }

/// Makes the call as the one before; false: there is none, or it must be decided anew, or it passes unseen. In the function that was called, with its arguments in
/// registers: an 8-byte call pays for every step.
template <typename Native>
[[gnu::always_inline]] inline bool repeats(const RepeatedCall& call, Kind kind, const Places& places,
                                           const Native& native, int& code) {
  if (!from_program()) return false;
  Known* const known = find_known(call);
  if (known == nullptr) return false;
  CommState& state = *known->state;
  if (!in_order(state)) return false;
  Race* const race = known->race;
  if (race == nullptr) {
    if (!(known->reason == Reason::empty ? sides_agree(kind, *known, places) : good(kind, *known, places)))
      return false;
    code = aside([what = call.what, &state, reason = known->reason, native] {
      return pass_on_again(what, state, reason, native);
    });
    return true;
  }
  if (race->verdict == Verdict::native && race->comparison == nullptr)
    return good(kind, *known, places) && passes_settled(*known, native, code);
  if (!plain(kind, *known, places)) return false;
  if (race->comparison != nullptr) [[unlikely]] {
    if (known->ours) code = aside([known, places, native] { return compare_again(*known, places, native); });
    return known->ours && code != kLongWay;
  }
  if (!known->ours || !settled(*race)) return false;
  code = serve_settled(call.what, call.comm, state, *race, at(*known, places), known->bytes);
  if (code == kDeclined) [[unlikely]] {
    code = aside([what = call.what, comm = call.comm, &state, bytes = known->bytes, native] {
      const Inside inside;
      return run_declined(what, comm, state, bytes, native);
    });
  }
  return true;
}

/// A collective whose lengths are a list, of which this is the first.
inline RepeatedCall of_lengths(Collective what, MPI_Comm comm, MPI_Aint first, MPI_Datatype type, MPI_Op op = {}) {
  return {what, comm, first == 0 ? MPI_Aint{-1} : first, type, op};  // 0 is for calls in which all are
}
inline RepeatedCall without_data(RepeatedCall call) {
  call.count = 0;
  return call;
}

/// Of lengths that not all ranks know.
inline constexpr auto never_empty = [](int) { return false; };

/// The same for a collective whose lengths are a list, if it is left to the MPI library. alike: is the call good, and of as many elements?
/// empty: have all ranks of so many nothing?
template <typename Native, typename Alike, typename Empty>
inline bool repeats_left(const RepeatedCall& call, const Alike& alike, const Empty& empty, const Native& native,
                         int& code) {
  if (call.count < 0) {
    const Known* const known = find_known(without_data(call));
    if (known != nullptr && in_order(*known->state) && empty(known->state->size)) {
      code = pass_on_again(call.what, *known->state, Reason::empty, native);
      return true;
    }
  }
  const Known* const known = find_known(call);
  return known != nullptr && in_order(*known->state) && known->race->verdict == Verdict::native && alike(*known) &&
         passes_settled(*known, native, code);
}

/// After serve(): may a call on this communicator be remembered at all? Before the arguments are looked at.
bool may_remember(MPI_Comm comm);
/// And is anything served there?
bool may_repeat(MPI_Comm comm);

/// If there is a verdict, the next one like it is repeated. REQUIRES may_repeat(call.comm)
void remember(const RepeatedCall& call, const Found& found);

/// Of a collective whose lengths are a list: found.shape says how many elements its verdict is about; none where there is one for all
/// lengths. REQUIRES may_repeat(call.comm)
void remember_left(const RepeatedCall& call, const Found& found);

/// The next one like it goes to the MPI library at once: it brings nothing, say. REQUIRES may_remember(call.comm)
void remember_passed(const RepeatedCall& call, Reason reason, const Found& found = {});

}  // namespace chasqui::preload
