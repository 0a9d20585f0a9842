// SPDX-License-Identifier: MIT
#include "preload/repeated.hpp"

#include <array>
#include <optional>

#include "preload/settings.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kShort = 4096;  ///< longer calls gain nothing, and may be too long for the private buffers

struct Known {
  RepeatedCall like;
  std::uint64_t generation;
  CommState* state;
  Race* race;  ///< nullptr: it brings nothing
  run::Call call;
};

/// The last one for each of a few places; another communicator, collective or size takes the place.
thread_local std::array<std::optional<Known>, 32> known_calls;

std::optional<Known>& place_of(const RepeatedCall& call) {
  const auto count = static_cast<unsigned>(call.count);
  return known_calls[(static_cast<unsigned>(call.what) * 5 + count + (count >> 5)) % known_calls.size()];
}

bool usable(const void* address) { return address != nullptr && address != MPI_IN_PLACE; }

/// Are the addresses that count on this rank plain ones, which do not overlap?
bool plain(const run::Call& call, const Places& places, const CommState& state) {
  if (static_cast<unsigned>(places.root) >= static_cast<unsigned>(state.size)) return false;
  const bool at_root = places.root == state.rank;
  const auto own = static_cast<std::ptrdiff_t>(call.bytes()) * state.rank;
  const auto apart = [&](const void* all, const void* one) { return moved(all, own) != one; };
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
    default: return places.alike && usable(places.in) && usable(places.out) && places.in != places.out;
  }
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
  if (!active.load(std::memory_order_relaxed) || inside_of_chasqui != 0) return false;
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
  if (!settled(*found->race)) return false;
  run::Call now = found->call;
  now.in = places.in;
  now.out = places.out;
  now.root = places.root;
  code = run_settled(call.what, call.comm, state, *found->race, now, native);
  return true;
}

bool may_repeat(MPI_Comm comm) {
  if (!active.load(std::memory_order_relaxed) || inside_of_chasqui != 0 || comm == MPI_COMM_NULL) return false;
  const Settings& s = settings();
  if (s.verify || s.reproducible || !s.report.empty()) return false;
  const CommState* state = state_of(comm);
  return state != nullptr && state->comm != nullptr && state->never == Reason::none;
}

void remember(const RepeatedCall& call, const run::Call& shape, bool rounds) {
  const Settings& s = settings();
  const std::uint64_t generation = generation_of_handles();
  CommState* state = state_of(call.comm);
  const std::size_t bytes = bytes_of(shape, *state);
  if (bytes > kShort || s.disabled[static_cast<int>(call.what)]) return;
  Race& race = state->race(call.what, bytes, rounds && s.same_bits);
  if (race.verdict != Verdict::open) place_of(call) = Known{call, generation, state, &race, shape};
}

void remember_empty(const RepeatedCall& call) {
  if (settings().disabled[static_cast<int>(call.what)]) return;
  place_of(call) = Known{call, generation_of_handles(), state_of(call.comm), nullptr, {}};
}

}  // namespace chasqui::preload
