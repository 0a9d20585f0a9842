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

/// What a tuner looks at.
struct TunerOptions {
  Library library = Library::openmpi;
  int ranks = 2;
  std::int64_t largest = 1 << 20;  ///< bytes of one rank's contribution, or of all ranks' blocks together
  std::size_t most = 4;            ///< algorithms raced in a cell, the default aside
  bool commutative = false;        ///< all operations commute: those that do not keep the order may be taken, too
};

/// The sizes that may be raced, a factor of 16 apart.
std::vector<std::int64_t> raced_sizes(Kind kind, const TunerOptions& options);
/// Those between them, which never are.
std::vector<std::int64_t> unseen_sizes(Kind kind, const TunerOptions& options);

/// All algorithms that can be forced for this size, by predicted time.
std::vector<Result> predicted(const TunerOptions& options, std::string_view collective, std::int64_t bytes,
                              const Profile& profile);

/// Those worth a race: the fastest where all parameters lie at the low ends of their intervals, then the fastest by prediction, of
/// each name the best variant first.
std::vector<Result> shortlist(const TunerOptions& options, std::string_view collective, std::int64_t bytes,
                              const Profile& profile);

/// The size to race next; nothing where the races so far are enough. First the least and the largest; between two sizes one in the
/// middle, unless one and the same algorithm has won at both and is predicted to be near the best there. One size is enough where
/// the library cannot tell sizes apart.
std::optional<std::int64_t> next_size(const TunerOptions& options, const CollectiveName& name,
                                      const std::vector<Cell>& cells, const Profile& profile);

/// Who won at the next smaller and the next larger raced size and has not run here: between two sizes one of the two winners is
/// taken, and both must be known on either side.
std::vector<Algorithm> guests(const TunerOptions& options, const std::vector<Cell>& cells, const Cell& here);

/// What to take from which size on, from the races of a collective. Between raced sizes an algorithm's time is its prediction times
/// how far off that was at the raced sizes around. The default stays where nothing raced is faster.
Choice choose(const TunerOptions& options, const std::string& collective, const std::vector<Cell>& cells,
              const Profile& profile);

/// The step that holds for this size.
const Step& step_for(const Choice& choice, std::int64_t bytes);

/// Lines "collective,bytes,number,inner,fan,segment,name,time_ns,predicted_ns,library,ranks" with a head line.
std::string to_csv(const std::vector<Cell>& cells, const TunerOptions& options);
/// The inverse. Throws an Error that names the place; for races of another library or number of ranks, too.
std::vector<Cell> cells_from_csv(const std::string& text, const std::string& place, const TunerOptions& options);

}  // namespace chasqui::tune
