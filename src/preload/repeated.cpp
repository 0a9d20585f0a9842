// SPDX-License-Identifier: MIT
#include "preload/repeated.hpp"

#include <array>
#include <optional>

#include "preload/settings.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kShort = 4096;          ///< longer ones of ours gain nothing
constexpr std::size_t kMostOfAll = 1u << 26;  ///< bytes of all ranks: below any length that is too long to be served

struct Known {
  RepeatedCall like;
  std::uint64_t generation;
  CommState* state;
  Race* race;         ///< nullptr: it brings nothing
  std::size_t bytes;  ///< as the race counts them
  run::Call call;     ///< with the addresses of the last one
};

/// The last one for each of a few places; another communicator, collective or size takes the place.
using KnownCalls = std::array<std::optional<Known>, 32>;

std::optional<Known>& place_of(const RepeatedCall& call) {
  KnownCalls& known_calls = OfThread<KnownCalls>::here();
  const auto count = static_cast<unsigned>(call.count);
  return known_calls[(static_cast<unsigned>(call.what) * 5 + count + (count >> 5)) % known_calls.size()];
}

bool in_place(const Places& places) { return places.in == MPI_IN_PLACE; }
bool usable(const void* address) { return address != nullptr && address != MPI_IN_PLACE; }

/// Are the addresses that count on this rank plain ones, which do not overlap?
bool plain(const run::Call& call, const Places& places, const CommState& state) {
  if (static_cast<unsigned>(places.root) >= static_cast<unsigned>(state.size)) return false;
  const bool at_root = places.root == state.rank;
  const auto apart = [&](const void* all, const void* one) {
    return moved(all, static_cast<std::ptrdiff_t>(call.bytes()) * state.rank) != one;
  };
  switch (call.kind) {
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
      return usable(places.out) && (in_place(places) || (places.in != nullptr && places.in != places.out));
    default: return places.alike && usable(places.in) && usable(places.out) && places.in != places.out;
  }
}

/// Does the verdict say all about a call of so many bytes? Ours is timed for a report.
bool plainly_decided(const Race& race, std::size_t bytes) {
  return race.verdict == Verdict::native ||
         (race.verdict == Verdict::ours && bytes <= kShort && settings().report.empty());
}

/// Does the verdict hold for this call too, without being looked at again?
bool settled(Race& race) {
  if (race.verdict == Verdict::open || race.comparison != nullptr) return false;
  if (settings().trials == 0 || race.for_good) return true;
  if (race.settled >= race.again) return false;
  ++race.settled;
  return true;
}

}  // namespace

bool repeats(const RepeatedCall& call, const Places& places, FunctionRef<int()> native, int& code) {
  if (passes_unseen(call.what, call.comm, native, code)) return true;
  std::optional<Known>& found = place_of(call);
  if (!found || !(found->like == call) || found->generation != generation_of_handles()) return false;
  CommState& state = *found->state;
  if (state.never != Reason::none || state.failed_in != 0) return false;
  if (found->race == nullptr) {
    if (!places.alike || static_cast<unsigned>(places.root) >= static_cast<unsigned>(state.size)) return false;
    code = pass_on_empty(call.what, state, native);
    return true;
  }
  if (!plain(found->call, places, state)) return false;
  if (!plainly_decided(*found->race, found->bytes) || !settled(*found->race)) return false;
  if (found->race->verdict == Verdict::native) {
    code = pass_on_settled(call.what, state, *found->race, native);
    return true;
  }
  run::Call& now = found->call;
  now.in = in_place(places) ? nullptr : places.in;
  now.out = places.out;
  now.root = places.root;
  code = serve_settled(call.what, call.comm, state, *found->race, now, native);
  return true;
}

bool may_repeat(MPI_Comm comm) {
  if (!from_program() || comm == MPI_COMM_NULL) return false;
  const Settings& s = settings();
  if (s.verify || s.reproducible) return false;
  const CommState* state = state_of(comm);
  return state != nullptr && state->comm != nullptr && state->never == Reason::none;
}

void remember(const RepeatedCall& call, const run::Call& shape, bool rounds) {
  const Settings& s = settings();
  const std::uint64_t generation = generation_of_handles();
  CommState* state = state_of(call.comm);
  const std::size_t bytes = bytes_of(shape, *state);
  if (bytes > kMostOfAll / static_cast<std::size_t>(state->size)) return;
  Race& race = state->race(call.what, bytes, rounds && s.same_bits);
  if (plainly_decided(race, bytes)) place_of(call) = Known{call, generation, state, &race, bytes, shape};
}

void remember_empty(const RepeatedCall& call) {
  place_of(call) = Known{call, generation_of_handles(), state_of(call.comm), nullptr, 0, {}};
}

}  // namespace chasqui::preload
