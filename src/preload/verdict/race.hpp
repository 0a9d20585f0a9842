// SPDX-License-Identifier: MIT
// One collective of one size class on one communicator: who serves it, and what was seen. Verdicts come from comparisons
// (comparison.hpp), which depend on the number of calls and on agreed numbers only: all ranks take the same turns. They are
// repeated ever more rarely, unless a verdict is for good.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "chasqui/model/kind.hpp"
#include "preload/sample.hpp"
#include "run/compare/comparison.hpp"

namespace chasqui::preload {

using run::BlockPlan, run::Compared, run::Comparison, run::Gain, run::Side, run::Trust;

inline constexpr int kClasses = 16;  ///< a factor of four each

inline int class_of_size(std::size_t bytes) {
  return std::min(kClasses - 1, bytes == 0 ? 0 : static_cast<int>(std::bit_width(bytes) / 2));
}

enum class Verdict : std::uint8_t { open, ours, native };

struct Race {
  Verdict verdict = Verdict::open;         ///< open: never compared
  bool asked = false;                      ///< the profile was asked
  bool crowded = false;                    ///< more ranks than cores, as all ranks know alike
  bool rehearsed = false;                  ///< the verdict is that of MPI_Init, where nothing was the program's …
  bool doubtful = false;                   ///< … and one that the first calls of a side must not confirm
  bool for_good = false;                   ///< the verdict stays: the bits of a result depend on it
  bool against = false;                    ///< and before the first call something was for the MPI library
  std::unique_ptr<Comparison> comparison;  ///< under way
  std::uint64_t settled = 0;               ///< calls since the verdict
  std::uint64_t again = 0;                 ///< calls after which it is looked at again; 0: not yet known
  std::uint32_t comparisons = 0;           ///< concluded
  double spent = 0;                        ///< nanoseconds that comparisons cost beyond the faster side

  std::uint64_t ours_calls = 0, native_calls = 0;
  double ours_time = 0, native_time = 0;  ///< nanoseconds of calls of which each was timed
  std::uint64_t ours_timed = 0, native_timed = 0;
  TimesSampled sample;                          ///< of all others of ours, if there is a report
  double ours_typical = 0, native_typical = 0;  ///< nanoseconds inside a call, agreed by all ranks; 0: not compared
  Gain gain;                                    ///< what the program saves by a call of ours, as the comparisons found
  Gain saved;                                   ///< the same of all calls before the last comparison ended …
  std::uint64_t credited = 0;                   ///< … among which so many were ours
  double predicted = 0;
  std::string plan;
  std::uint64_t bytes = 0;  ///< of all calls
};

inline constexpr double kAgreements = 2;  ///< calls that those of a comparison take, about
inline constexpr double kBeside =
    1e4;  ///< nanoseconds that it takes beside: caches that the other side left long ago, memory
inline constexpr double kShare = 0.01;   ///< of the time since the verdict that looking again may cost
inline constexpr double kRunAhead = 10;  ///< calls by which ranks that need not wait for each other are apart, about

/// After how many calls another comparison is a hundredth of them. calls: what it takes more than as many of the better side
/// would; period: nanoseconds from call to call. Odd: programs have rhythms.
inline std::uint64_t pause_after(double calls, double period) {
  return static_cast<std::uint64_t>(std::min(1e18, (calls + kAgreements + kBeside / std::max(1.0, period)) / kShare)) |
         1;
}

/// What MPI_Init found of a race.
struct Expected {
  double factor = 0;  ///< the logarithm of the MPI library's time to ours
  double period = 0;  ///< nanoseconds from call to call by the faster one; 0: nothing was found
  bool soon = false;  ///< programs may well see something else, whichever side it is
};

/// The logarithm of 1.25: by so much long calls of ours must be faster where the MPI library's were timed under worse conditions than alone.
inline const double kQuarter = std::log(1.25);
/// Bytes of a block from which the kernel moves all-to-alls of both sides, from the same pages to the same.
inline constexpr std::size_t kCopiedByTheKernel = 16 * 1024;
/// And from which ours have nothing to win by it.
inline constexpr std::size_t kNothingToWin = 128 * 1024;
/// The logarithm by which ours must be faster. The MPI library's long all-to-alls were seen to take a quarter longer beside ours than alone.
inline double margin(Kind kind, std::size_t block) {
  return kind == Kind::alltoall && block >= kNothingToWin ? kQuarter : BlockPlan{}.margin;
}
inline constexpr double kLongCall = 4e4;      ///< nanoseconds of a call of which few are made
inline constexpr std::uint64_t kEarlier = 4;  ///< times: so much earlier is a doubtful verdict looked at

/// Before the first call. The program's own calls are compared when a pair of each side is a hundredth of those before. Sooner where MPI_Init saw
/// little between the two and chose the MPI library, since trying ours costs next to nothing then, and a program may well see more; and where it saw little
/// and what a program finds depends on what it does with its buffers.
inline void expect(Race& race, const Expected& found) {
  if (found.period == 0) return;
  race.verdict = found.factor > 0 ? Verdict::ours : Verdict::native;
  race.rehearsed = true;
  race.doubtful = std::abs(found.factor) < Comparison::kConfirms;
  race.again = pause_after(2 * std::expm1(std::abs(found.factor)), found.period);
  const bool cheap = race.verdict == Verdict::native && found.period < kLongCall;
  if (race.doubtful && (cheap || found.soon)) race.again = race.again / kEarlier | 1;
}

/// The looks at a race whose verdict stays. A rank that is interrupted in one makes all calls in it slow, of whichever side, and mostly ours are the
/// faster ones: the MPI library gets such a race when two looks out of three say so, and ours when the first one does, or two.
struct Looks {
  int ours = 0, native = 0;

  void add(Side better) { ++(better == Side::ours ? ours : native); }
  bool sure() const { return ours > native || native == 2; }
};

/// Whose turn it is in a race that is not being compared, and must not be now.
inline Side settled_side(const Race& race) { return race.verdict == Verdict::ours ? Side::ours : Side::native; }

inline Trust trust_in(const Race& race) {
  if (race.comparisons > 0) return Trust::firm;
  if (!race.rehearsed) return Trust::none;
  return race.doubtful ? Trust::doubtful : Trust::firm;
}

/// restless: a rank that has no core for a moment makes a call take many times as long, and nothing is known yet. Where that happens all the
/// time two calls are no verdict. Ranks that need not meet lose their lead where they agree, which costs as much as many calls: twice is enough.
inline BlockPlan plan_of(bool restless, std::uint32_t trials, bool meets, double margin) {
  BlockPlan plan{.first = static_cast<int>(std::clamp(trials, 2u, 1000u)), .margin = margin};
  if (restless) plan.pair = 0;
  if (meets) return plan;
  plan.first *= 2;
  plan.quadruples = 1;
  plan.obvious = std::log(2);
  return plan;
}

/// A call comes: is this race compared, beginning with this call perhaps? margin: as in BlockPlan.
inline bool compares(Race& race, std::uint32_t trials, bool meets, double margin = BlockPlan{}.margin) {
  if (race.comparison != nullptr) return true;
  if (trials == 0 || race.for_good) return false;
  const bool known = race.verdict != Verdict::open;
  if (known && race.again == 0) race.again = static_cast<std::uint64_t>(trials / kShare);  // the profile's word
  if (known && ++race.settled <= race.again) return false;
  const Trust trust = trust_in(race);
  const BlockPlan plan = plan_of(race.crowded && trust == Trust::none, trials, meets, margin);
  race.comparison = std::make_unique<Comparison>(plan, settled_side(race), trust, meets);
  return true;
}

/// What calls of ours saved since the comparison before. Calls that were compared count as if the faster side had made them all: `spent` is what
/// the slower one cost.
inline void credit(Race& race, const Compared& found) {
  const auto add = [&race](double calls, const Gain& gain) {
    race.saved.value += calls * gain.value;
    race.saved.error += calls * gain.error;  // what is wrong with a gain is wrong with all calls
  };
  const bool first = race.comparisons == 0;
  if (race.for_good) {  // both sides were tried with calls of our own
    race.gain = found.gain;
    return;
  }
  if (race.verdict == Verdict::ours) {  // between two comparisons: half by each
    const auto calls = static_cast<double>(race.ours_calls - race.credited) - found.calls[1];
    if (!first) add(calls / 2, race.gain);
    add(first ? calls : calls / 2, found.gain);
  }
  if (found.better == Side::ours) add(found.calls[0] + found.calls[1], found.gain);
  race.credited = race.ours_calls;
  race.gain = first ? found.gain : together(race.gain, found.gain);
}

/// What the program saved by this race, until now. Nothing where no comparison has ended.
inline Gain saved_by(const Race& race) {
  if (race.comparisons == 0 || race.verdict != Verdict::ours) return race.saved;
  const auto calls = static_cast<double>(race.ours_calls - race.credited);
  return {race.saved.value + calls * race.gain.value, race.saved.error + calls * race.gain.error};
}

/// The verdict of the comparison under way. The next one is put off until it is a hundredth of the calls in between, and at
/// least four times as long as before: the number of comparisons grows with the logarithm of the calls.
inline void conclude(Race& race) {
  const Compared& found = race.comparison->result();
  credit(race, found);
  race.verdict = found.better == Side::ours ? Verdict::ours : Verdict::native;
  race.native_typical = found.duration[0];
  race.ours_typical = found.duration[1];
  // An interruption of a rank falls into calls that are compared as into any others, and is no cost of comparing.
  race.spent += std::min(found.cost, found.calls[static_cast<int>(other(found.better))] * std::abs(found.gain.value));
  const double drained = race.comparison->meets() ? 0 : kRunAhead;
  const std::uint64_t pause = pause_after(std::max(found.cost, found.unseen) / found.period + drained, found.period);
  race.again = std::max(pause, race.comparisons == 0 ? 0 : std::min<std::uint64_t>(race.again, 1ull << 60) * 4 + 1);
  race.settled = 0;
  ++race.comparisons;
  race.comparison.reset();
}

}  // namespace chasqui::preload
