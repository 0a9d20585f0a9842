// SPDX-License-Identifier: MIT
#include "preload/repeated.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kShort = 4096;          ///< longer ones of ours gain nothing
constexpr std::size_t kMostOfAll = 1u << 26;  ///< bytes of all ranks: below any length that is too long to be served

}  // namespace

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
  const bool ours = bytes <= kShort;
  if (race.verdict == Verdict::native || (race.verdict == Verdict::ours && ours))
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
