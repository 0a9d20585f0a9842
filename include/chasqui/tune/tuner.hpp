// SPDX-License-Identifier: MIT
// From few measurements to rules: predicted times say which algorithms to race at a few sizes, and how the raced ones go on between
// those sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chasqui/tune/rules.hpp"

namespace chasqui::tune {

/// How an algorithm did in a race.
struct Result {
  Algorithm algorithm;   ///< number 0: the library's own choice
  double time = 0;       ///< nanoseconds; 0: it refused
  double predicted = 0;  ///< nanoseconds; 0: nobody knows what the default does
};
/// One race: a collective with so many bytes of one rank's contribution.
struct Cell {
  std::string collective;
  std::int64_t bytes = 0;
  std::vector<Result> results;

  const Result* best() const;                          ///< the fastest; nullptr: all refused
  const Result* of(const Algorithm& algorithm) const;  ///< nullptr: it was not raced, or refused
};

/// The cell of this collective and size; nullptr: it had no race.
const Cell* cell_of(const std::vector<Cell>& cells, std::string_view collective, std::int64_t bytes);

/// What a tuner looks at.
struct TunerOptions {
  Library library = Library::openmpi;
  int ranks = 2;
  std::int64_t largest = 1 << 20;  ///< bytes of one rank's contribution, or of all ranks' blocks together
  std::size_t most = 4;            ///< algorithms in a race, the default aside, unless all are cheap
  bool commutative = false;        ///< all operations commute: those that do not keep the order may be taken, too
};

/// All powers of two from 8 bytes on; a barrier has one size, 0.
std::vector<std::int64_t> tuned_sizes(Kind kind, const TunerOptions& options);
/// Every second of them, and the last: those that may be raced where calls are not cheap.
std::vector<std::int64_t> raced_sizes(Kind kind, const TunerOptions& options);
/// Some in between, a factor of 16 apart: never raced. A barrier's only size is in all.
std::vector<std::int64_t> unseen_sizes(Kind kind, const TunerOptions& options);

/// All algorithms that can be forced for this size, by predicted time.
std::vector<Result> predicted(const TunerOptions& options, std::string_view collective, std::int64_t bytes,
                              const Profile& profile);

/// What the algorithms of a collective are predicted to take, at all tuned sizes.
class Forecast {
 public:
  /// `hopeful`: also as if overheads and gaps were a quarter of what the profile says. A busy machine measures them too long.
  /// Time: that of predicting all algorithms at all sizes.
  Forecast(const TunerOptions& options, const CollectiveName& name, const Profile& profile, bool hopeful = false);

  /// One algorithm at one size.
  struct Entry {
    Algorithm algorithm;
    double predicted = 0;  ///< nanoseconds
    double behind = 1;     ///< times the best prediction here, on the profile or as hopeful, whichever is less
  };
  const std::string& collective() const { return collective_; }      ///< the library's word
  Kind kind() const { return kind_; }                                ///< what it does
  const std::vector<std::int64_t>& sizes() const { return sizes_; }  ///< the tuned ones
  /// REQUIRES a tuned size. The best prediction first.
  const std::vector<Entry>& at(std::int64_t bytes) const;
  /// Nothing where the algorithm is not among those of this size.
  const Entry* of(const Algorithm& algorithm, std::int64_t bytes) const;

 private:
  std::string collective_;
  Kind kind_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<Entry>> entries_;  ///< by size
};

/// What races say of a machine.
struct Fit {
  Profile profile;
  bool settled = false;  ///< there were enough: more cells change nothing
};
/// The profile with overheads and gaps, and gaps per byte, times the factors that explain all these races best; as it is where
/// there are too few. What one collective's races say of a machine helps the next one. Time: that of 20 · 64 predictions at most.
Fit fitted(const TunerOptions& options, const Profile& profile, const std::vector<Cell>& cells);

/// Who is to run at which size.
struct Race {
  std::int64_t bytes = 0;
  std::vector<Algorithm> algorithms;
};
/// The races that come first, before anything is known: at the least and at the largest size, by those predicted best, with the default.
std::vector<Race> first_races(const TunerOptions& options, const Forecast& forecast);

/// The next race of this collective; nothing where those so far are enough. Where calls are so short that all algorithms can run, they do, at
/// every tuned size. Elsewhere every algorithm has an estimate and an error of it at
/// every size: its prediction, corrected by its own races or by those of others. A race is worth its time where the one that would be
/// taken may, by these errors, be far from the best. It is run where it tells most, by those that may be the best. At a size that has
/// no race yet the default runs, too; at one that has, the best of it runs again, as a yardstick.
std::optional<Race> next_race(const TunerOptions& options, const Forecast& forecast, const std::vector<Cell>& cells);

/// Adds what a race found to the cell of its size, a new one if need be. What ran before is measured by what runs again; where all of it
/// runs again, the new times hold.
void add_results(std::vector<Cell>& cells, const Forecast& forecast, const Race& race,
                 const std::vector<double>& times);

/// What to take from which size on, from the races of a collective: the least estimate of those that were raced. The default stays where it
/// beats them on both sides of a size: what it does in between nobody knows.
Choice choose(const TunerOptions& options, const Forecast& forecast, const std::vector<Cell>& cells);

/// The step that holds for this size.
const Step& step_for(const Choice& choice, std::int64_t bytes);

/// Lines "collective,bytes,number,inner,fan,segment,name,time_ns,predicted_ns,library,ranks" with a head line.
std::string to_csv(const std::vector<Cell>& cells, const TunerOptions& options);
/// The inverse. Throws an Error that names the place; for races of another library or number of ranks, too.
std::vector<Cell> cells_from_csv(const std::string& text, const std::string& place, const TunerOptions& options);

}  // namespace chasqui::tune
