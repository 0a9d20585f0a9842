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

/// The addresses and the root of this one. What a rank does not use may be anything.
struct Places {
  const void* in = nullptr;
  void* out = nullptr;
  int root = 0;
  bool alike = true;  ///< the other side's count and type are the same; looked at where that side counts
};

struct Known {
  RepeatedCall like;
  std::uint64_t generation;
  CommState* state;
  Race* race;         ///< nullptr: it brings nothing
  std::size_t bytes;  ///< as the race counts them
  bool ours;          ///< is one of ours repeated, too?
  run::Call call;     ///< with the addresses of the last one
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
  return place && place->like == call && place->generation == generation_of_handles() ? &*place : nullptr;
}

/// Are the addresses that count on this rank plain ones, which do not overlap?
inline bool plain(Kind kind, const run::Call& call, const Places& places, const CommState& state) {
  const auto usable = [](const void* address) { return address != nullptr && address != MPI_IN_PLACE; };
  if (static_cast<unsigned>(places.root) >= static_cast<unsigned>(state.size)) return false;
  const bool at_root = places.root == state.rank;
  const auto apart = [&](const void* all, const void* one) {
    return moved(all, static_cast<std::ptrdiff_t>(call.bytes()) * state.rank) != one;
  };
  switch (kind) {
    case Kind::barrier: return true;
    case Kind::broadcast: return usable(places.out);
    case Kind::reduce: return usable(places.in) && (!at_root || (usable(places.out) && places.in != places.out));
    case Kind::gather:
      return usable(places.in) && (!at_root || (places.alike && usable(places.out) && apart(places.out, places.in)));
    case Kind::scatter:
      return usable(places.out) && (!at_root || (places.alike && usable(places.in) && apart(places.in, places.out)));
    case Kind::allgather:
      return places.alike && usable(places.in) && usable(places.out) && apart(places.out, places.in);
    case Kind::allreduce:
      return usable(places.out) && (places.in == MPI_IN_PLACE || (places.in != nullptr && places.in != places.out));
    default: return places.alike && usable(places.in) && usable(places.out) && places.in != places.out;
  }
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

/// Do the arguments of the other side matter on this rank, and are they as they should be?
inline bool sides_agree(Kind kind, const Places& places, const CommState& state) {
  const bool rooted = kind == Kind::gather || kind == Kind::scatter;
  return places.alike || (rooted && places.root != state.rank);
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
    if (static_cast<unsigned>(places.root) >= static_cast<unsigned>(state.size) || !sides_agree(kind, places, state))
      return false;
    code = aside([what = call.what, &state, native] { return pass_on_empty(what, state, native); });
    return true;
  }
  if (!plain(kind, known->call, places, state)) return false;
  if (race->comparison != nullptr) [[unlikely]] {
    if (known->ours) code = aside([known, places, native] { return compare_again(*known, places, native); });
    return known->ours && code != kLongWay;
  }
  if (race->verdict == Verdict::native) return passes_settled(*known, native, code);
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
      code = pass_on_empty(call.what, *known->state, native);
      return true;
    }
  }
  const Known* const known = find_known(call);
  return known != nullptr && in_order(*known->state) && known->race->verdict == Verdict::native && alike(*known) &&
         passes_settled(*known, native, code);
}

/// After serve(): is anything on this communicator served? Before the arguments are looked at.
bool may_repeat(MPI_Comm comm);

/// If there is a verdict, the next one like it is repeated. `shape` without addresses, of a predefined type; its
/// operator must outlive it. rounds: may the order of folding change the bits? REQUIRES may_repeat(call.comm)
void remember(const RepeatedCall& call, const run::Call& shape, bool rounds);

/// Of a collective whose lengths are a list: `elements` of `element` bytes are what its verdict is about, 0 where there is one for all lengths.
/// REQUIRES may_repeat(call.comm)
void remember_left(const RepeatedCall& call, std::int64_t elements, std::size_t element, bool rounds);

/// Of a call that brings nothing: the next one like it goes to the MPI library at once. REQUIRES may_repeat(call.comm)
void remember_empty(const RepeatedCall& call);

}  // namespace chasqui::preload
