// SPDX-License-Identifier: MIT
#include "preload/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "preload/native.hpp"
#include "preload/private_comm.hpp"
#include "preload/start/settings.hpp"
#include "preload/state.hpp"

namespace chasqui::preload {

std::atomic<std::uint64_t> passed_calls[kCollectives][kReasons];

namespace {

std::atomic<std::uint64_t> verified{0}, different{0};
std::atomic<std::uint64_t> prepared{0}, spared{0};
std::atomic<double> prepared_time{0}, rehearsed_time{0};
std::atomic<bool> logged[kCollectives][kReasons];

/// By many races, whose errors have nothing to do with each other.
struct Saved {
  double value = 0, variance = 0;

  void add(double more, double variance_of_it) { value += more, variance += variance_of_it; }
  double low() const { return value - 2 * std::sqrt(variance); }
  double high() const { return value + 2 * std::sqrt(variance); }
  bool says_nothing() const { return low() <= 0 && high() >= 0; }
};

/// From nanoseconds to milliseconds, with as many digits as two that differ need.
std::string milliseconds(double nanoseconds) {
  const double ms = nanoseconds / 1e6;
  return fmt::format("{:.{}f}", ms, std::abs(ms) < 1 ? 3 : std::abs(ms) < 100 ? 1 : 0);
}

struct Line {
  std::uint64_t ours = 0, native = 0, bytes = 0, native_timed = 0;
  std::uint64_t ours_known = 0, ours_timed = 0;  ///< calls that `ours_time` is about; those of them that were timed
  double ours_time = 0, native_time = 0, predicted = 0, spent = 0;
  Saved saved;
  std::uint64_t comparisons = 0;
  double ours_typical = 0, native_typical = 0;
  std::string plan;
};
std::string saved_text(const Line& line) {
  if (line.comparisons == 0) return "-";
  if (line.saved.value == 0 && line.saved.variance == 0) return "0";
  if (line.saved.says_nothing()) return "unclear";
  return fmt::format("{} .. {}", milliseconds(line.saved.low()), milliseconds(line.saved.high()));
}

std::mutex lines_mutex;
std::map<std::pair<int, int>, Line>& lines() {
  static auto* const all = new std::map<std::pair<int, int>, Line>;
  return *all;
}

/// Of which no rank knows the lengths of all: there is one verdict for them.
bool of_any_size(Collective what) {
  for (const Collective each :
       {Collective::Gatherv, Collective::Scatterv, Collective::Alltoallv, Collective::Alltoallw}) {
    if (static_cast<int>(what) % kServed == static_cast<int>(each)) return true;
  }
  return false;
}

std::string sizes(int what, int size_class) {
  if (of_any_size(static_cast<Collective>(what))) return "any";
  const auto low = size_class == 0 ? 0ull : 1ull << (2 * size_class - 1);
  const auto high = (1ull << (2 * size_class + 1)) - 1;
  return size_class == kClasses - 1 ? fmt::format("{}+", low) : fmt::format("{}-{}", low, high);
}

/// Nanoseconds from one reading of the clock to the next.
double reading_the_clock() {
  double least = 1e9;
  for (int i = 0; i < 100; ++i) {
    const double begin = clock_now();
    least = std::min(least, clock_now() - begin);
  }
  return least;
}

double mean_us(double nanoseconds, std::uint64_t calls) {
  return calls == 0 ? 0 : nanoseconds / static_cast<double>(calls) / 1000;
}

/// What folding in order took, and what the MPI library's own would have, in microseconds.
struct Cost {
  std::uint64_t calls = 0;
  double ours = 0, native = 0;
};
/// REQUIRES lines_mutex.
Cost reproducible_cost() {
  Cost cost;
  for (const auto& [key, line] : lines()) {
    if (line.native_timed == 0 || line.plan != "in order") continue;
    cost.calls += line.ours;
    cost.ours += mean_us(line.ours_time, line.ours_known) * static_cast<double>(line.ours);
    cost.native += mean_us(line.native_time, line.native_timed) * static_cast<double>(line.ours);
  }
  return cost;
}
std::string to_string(const Cost& cost) {
  return fmt::format(
      "{} reproducible reductions took {:.1f} us; the MPI library's own would have taken about {:.1f} us: factor {:.2f}",
      cost.calls, cost.ours, cost.native, cost.native > 0 ? cost.ours / cost.native : 0);
}

}  // namespace

void log_passed(Collective what, Reason reason) {
  const auto i = static_cast<std::size_t>(what);
  const auto j = static_cast<std::size_t>(reason);
  if (logged[i][j].load(std::memory_order_relaxed) || logged[i][j].exchange(true)) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) say(fmt::format("MPI_{} goes to the MPI library: {}", kNames[i], kReasonTexts[j]));
}

void note_prepared(double nanoseconds, bool spare) {
  (spare ? spared : prepared).fetch_add(1, std::memory_order_relaxed);
  prepared_time.fetch_add(nanoseconds, std::memory_order_relaxed);
}

void note_rehearsed(double nanoseconds) { rehearsed_time = nanoseconds; }

void note_verified(Collective what, bool same, double worst) {
  verified.fetch_add(1, std::memory_order_relaxed);
  if (same) return;
  if (different.fetch_add(1, std::memory_order_relaxed) < 10) {
    say(fmt::format("CHASQUI_VERIFY: MPI_{} gave another result than the MPI library (largest relative difference {})",
                    to_string(what), worst));
  }
}

void add_up_differences() {
  std::uint64_t all = different.load();
  CHASQUI_LIBRARY(Allreduce)(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, private_world());
  different = all;
}

void add_to_report(const CommState& state) {
  static const double read = reading_the_clock();
  const std::lock_guard lock(lines_mutex);
  for (int what = 0; what < kCollectives; ++what) {
    const auto& row = state.races[static_cast<std::size_t>(what)];
    if (row == nullptr) continue;
    for (std::size_t c = 0; c < row->size(); ++c) {
      const Race& race = (*row)[c];
      if (race.ours_calls + race.native_calls == 0) continue;
      Line& line = lines()[{what, static_cast<int>(c) % kClasses}];
      line.ours += race.ours_calls;
      line.native += race.native_calls;
      line.bytes += race.bytes;
      const std::uint64_t others = race.sample.timed() > 0 ? race.ours_calls - race.ours_timed : 0;
      line.ours_time += race.ours_time + race.sample.estimate(others, read);
      line.ours_known += race.ours_timed + others;
      line.ours_timed += race.ours_timed + race.sample.timed();
      line.native_time += race.native_time;
      line.native_timed += race.native_timed;
      if (!race.plan.empty()) line.plan = race.plan;
      if (race.predicted > 0) line.predicted = race.predicted;
      line.comparisons += race.comparisons;
      line.spent += race.spent;
      const Gain saved = saved_by(race);
      line.saved.add(saved.value, saved.error * saved.error);
      if (race.native_typical > 0) {
        line.ours_typical = race.ours_typical;
        line.native_typical = race.native_typical;
      }
    }
  }
}

std::string report_text(int ranks) {
  const std::lock_guard lock(lines_mutex);
  std::string text = fmt::format(
      "Chasqui report, as rank 0 of {} saw it: how many calls Chasqui and the MPI library made, and microseconds a call.\n"
      "Predicted and mean: of Chasqui's calls; the mean is an estimate, from the first of them and one of each {}. Chasqui and MPI: the slowest rank's, when both were last compared. -: not timed.\n"
      "Saved: the calls by Chasqui, times what the comparisons found; as far as their few calls tell.\n",
      ranks, TimesSampled::kOneOf);
  text += fmt::format("{:<21}{:>22}{:>11}{:>10} {:<13}{:>10}{:>10}{:>10}{:>10}{:>18}\n", "collective", "bytes",
                      "by Chasqui", "by MPI", "method", "predicted", "Chasqui", "MPI", "mean", "saved ms");
  Saved saved;
  double spent = 0;
  std::uint64_t comparisons = 0;
  for (const auto& [key, line] : lines()) {
    saved.add(line.saved.value, line.saved.variance);
    spent += line.spent;
    comparisons += line.comparisons;
    const auto us = [](double time) { return time > 0 ? fmt::format("{:.2f}", time / 1000) : "-"; };
    text += fmt::format("{:<21}{:>22}{:>11}{:>10} {:<13}{:>10}{:>10}{:>10}{:>10}{:>18}\n", kNames[key.first],
                        sizes(key.first, key.second), line.ours, line.native, line.plan, us(line.predicted),
                        us(line.ours_typical), us(line.native_typical),
                        us(1000 * mean_us(line.ours_time, line.ours_known)), saved_text(line));
  }
  text += comparisons == 0
              ? "time saved: not known, no comparison was made\n"
              : fmt::format("time saved, by what the comparisons found: {} to {} ms{}\n", milliseconds(saved.low()),
                            milliseconds(saved.high()),
                            saved.says_nothing() ? "; a longer run, or a core for each rank, would say more" : "");
  text += fmt::format(
      "comparisons made: {}; they cost {:.3f} ms beyond the faster way; trying both in MPI_Init took {:.3f} ms\n",
      comparisons, spent / 1e6, rehearsed_time.load() / 1e6);
  text += fmt::format("communicators prepared: {}, and {} by what freed ones left, in {:.3f} ms\n", prepared.load(),
                      spared.load(), prepared_time.load() / 1e6);
  for (int what = 0; what < kCollectives; ++what) {
    for (int reason = 1; reason < kReasons; ++reason) {
      if (const auto calls = passed_calls[what][reason].load(); calls != 0) {
        text += fmt::format("passed on: {} MPI_{}: {}\n", calls, kNames[what], kReasonTexts[reason]);
      }
    }
  }
  if (const Cost cost = reproducible_cost(); cost.calls > 0) text += to_string(cost) + "\n";
  if (settings().verify)
    text += fmt::format("verified {} calls; results of all ranks that differ: {}\n", verified.load(), different.load());
  return text;
}

std::string report_json(int ranks) {
  const std::lock_guard lock(lines_mutex);
  std::string text = fmt::format("{{\"chasqui_report\":1,\"ranks\":{},\"collectives\":[", ranks);
  const char* comma = "";
  for (const auto& [key, line] : lines()) {
    text += fmt::format(
        "{}\n{{\"collective\":\"{}\",\"bytes\":\"{}\",\"ours\":{},\"native\":{},\"plan\":\"{}\",\"predicted_ns\":{:.1f},"
        "\"ours_ns\":{:.1f},\"native_ns\":{:.1f},\"mean_ns\":{:.1f},\"timed\":{},\"saved_ns\":{:.1f},\"saved_low_ns\":{:.1f},\"saved_high_ns\":{:.1f},\"comparisons\":{},\"comparisons_ns\":{:.1f}}}",
        comma, kNames[key.first], sizes(key.first, key.second), line.ours, line.native, line.plan, line.predicted,
        line.ours_typical, line.native_typical, mean_us(line.ours_time, line.ours_known) * 1000, line.ours_timed,
        line.saved.value, line.saved.low(), line.saved.high(), line.comparisons, line.spent);
    comma = ",";
  }
  text += "],\n\"passed\":[";
  comma = "";
  for (int what = 0; what < kCollectives; ++what) {
    for (int reason = 1; reason < kReasons; ++reason) {
      const auto calls = passed_calls[what][reason].load();
      if (calls == 0) continue;
      text += fmt::format("{}\n{{\"collective\":\"{}\",\"calls\":{},\"reason\":\"{}\"}}", comma, kNames[what], calls,
                          kReasonTexts[reason]);
      comma = ",";
    }
  }
  const Cost cost = reproducible_cost();
  return text +
         fmt::format(
             "],\n\"prepared\":{},\"spared\":{},\"preparing_ns\":{:.1f},\"rehearsing_ns\":{:.1f},\n\"reproducible\":{{\"calls\":{},\"ours_us\":{:.1f},\"native_us\":{:.1f}}},\n\"verified\":{},\"different\":{}}}\n",
             prepared.load(), spared.load(), prepared_time.load(), rehearsed_time.load(), cost.calls, cost.ours,
             cost.native, verified.load(), different.load());
}

void note_verdict(Collective what, std::size_t bytes, const Race& race) {
  if (!settings().log) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  say(fmt::format(
      "MPI_{} of {} bytes: {} from now on{} ({:.2f} us against {:.2f} us; a call of ours saves {:.2f} to {:.2f} us)",
      to_string(what), sizes(static_cast<int>(what), class_of_size(bytes)),
      race.verdict == Verdict::ours ? "Chasqui" : "the MPI library", race.for_good ? ", for good: it rounds" : "",
      race.ours_typical / 1000, race.native_typical / 1000, (race.gain.value - 2 * race.gain.error) / 1000,
      (race.gain.value + 2 * race.gain.error) / 1000));
}

void say_what_it_cost() {
  const std::lock_guard lock(lines_mutex);
  if (const Cost cost = reproducible_cost(); cost.calls > 0) say("CHASQUI_REPRODUCIBLE: " + to_string(cost));
}

void write_report(int ranks) {
  const std::string& path = settings().report;
  if (path.empty()) return;
  const bool json = path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0;
  try {
    replace_file(path, json ? report_json(ranks) : report_text(ranks));
  } catch (const Error& error) {
    say(fmt::format("CHASQUI_REPORT={}", error.what()));
  }
}

}  // namespace chasqui::preload
