// SPDX-License-Identifier: MIT
#include "preload/repeated.hpp"

#include "chasqui/base/clock.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kMostOfAll = 1u << 26;  ///< bytes of all ranks: below any length that is too long to be served

}  // namespace

bool may_repeat(MPI_Comm comm) {
  if (!from_program() || comm == MPI_COMM_NULL) return false;
  const Settings& s = settings();
  if (s.verify || s.reproducible) return false;
  const CommState* state = state_of(comm);
  return state != nullptr && state->comm != nullptr && state->never == Reason::none;
}

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

void remember(const RepeatedCall& call, const run::Call& shape, bool rounds) {
  const Settings& s = settings();
  const std::uint64_t generation = generation_of_handles();
  CommState* state = state_of(call.comm);
  const std::size_t bytes = bytes_of(shape, *state);
  if (bytes > kMostOfAll / static_cast<std::size_t>(state->size)) return;
  Race& race = state->race(call.what, bytes, rounds && s.same_bits);
  const bool ours = bytes <= kMostAgain;
  if (race.verdict == Verdict::native || (ours && (race.verdict == Verdict::ours || race.comparison != nullptr)))
    place_of(call) = Known{call, generation, state, &race, bytes, ours, shape};
}

void remember_left(const RepeatedCall& call, std::int64_t elements, std::size_t element, bool rounds) {
  CommState* const state = state_of(call.comm);
  run::Call shape;
  shape.count = elements;
  shape.element = element;
  if (shape.bytes() > kMostOfAll / static_cast<std::size_t>(state->size)) return;
  Race& race = state->race(call.what, shape.bytes(), rounds && settings().same_bits);
  if (race.verdict == Verdict::native)
    place_of(call) = Known{call, generation_of_handles(), state, &race, shape.bytes(), false, shape};
}

void remember_empty(const RepeatedCall& call) {
  place_of(call) = Known{call, generation_of_handles(), state_of(call.comm), nullptr, 0, false, {}};
}

}  // namespace chasqui::preload
