// SPDX-License-Identifier: MIT
#include "preload/repeated.hpp"

#include "chasqui/base/clock.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMostOfAll = 1u << 26;  ///< bytes of all ranks: below any length that is too long to be served

void keep(const RepeatedCall& call, const Found& found, CommState* state, Race* race, Reason reason, std::size_t bytes,
          bool ours) {
  place_of(call) = Known{call,
                         generation_of_handles(),
                         found.derived ? generation_of_types() : 0,
                         state,
                         race,
                         reason,
                         bytes,
                         ours,
                         found.other,
                         found.stride,
                         found.shape};
}

}  // namespace

bool may_remember(MPI_Comm comm) {
  if (!from_program() || comm == MPI_COMM_NULL) return false;
  const Settings& s = settings();
  if (s.verify || s.reproducible) return false;
  const CommState* state = state_of(comm);
  return state != nullptr && state->never == Reason::none;
}
bool may_repeat(MPI_Comm comm) { return may_remember(comm) && state_of(comm)->comm != nullptr; }

int compare_again(Known& known, const Places& places, FunctionRef<int()> native) {
  const Collective what = known.like.what;
  Race& race = *known.race;
  const double begin = clock_now();
  race.comparison->arrive(begin - this_thread().compared_time);
  if (race.comparison->due()) return kLongWay;
  const Side side = race.comparison->turn();
  const int code = side == Side::ours
                       ? serve_compared(what, known.like.comm, *known.state, race, at(known, places), known.bytes)
                       : pass_on_settled(what, *known.state, race, native, Reason::comparing);
  if (code == kDeclined) {
    const Inside inside;
    return run_declined(what, known.like.comm, *known.state, known.bytes, native);
  }
  compared(race, side, clock_now() - begin);
  return code;
}

void remember(const RepeatedCall& call, const Found& found) {
  const Settings& s = settings();
  CommState* state = state_of(call.comm);
  const std::size_t bytes = bytes_of(found.shape, *state);
  if (bytes > kMostOfAll / static_cast<std::size_t>(state->size)) return;
  if (bytes == 0 && found.shape.kind != Kind::barrier) return remember_passed(call, Reason::empty, found);
  Race& race = state->race(call.what, bytes, found.rounds && s.same_bits);
  const bool ours = found.may_be_ours && bytes <= kMostAgain;
  if (race.verdict == Verdict::native || (ours && (race.verdict == Verdict::ours || race.comparison != nullptr)))
    keep(call, found, state, &race, Reason::none, bytes, ours);
}

void remember_left(const RepeatedCall& call, const Found& found) {
  CommState* const state = state_of(call.comm);
  const std::size_t bytes = found.shape.bytes();
  if (bytes > kMostOfAll / static_cast<std::size_t>(state->size)) return;
  Race& race = state->race(call.what, bytes, found.rounds && settings().same_bits);
  if (race.verdict == Verdict::native) keep(call, found, state, &race, Reason::none, bytes, false);
}

void remember_passed(const RepeatedCall& call, Reason reason, const Found& found) {
  keep(call, found, state_of(call.comm), nullptr, reason, 0, false);
}

}  // namespace chasqui::preload
