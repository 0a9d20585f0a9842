// SPDX-License-Identifier: MIT
// Comparing collectives: one call against others in the same run, with a common start and the latest finish.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::measure {
/// Of the times of one call, in nanoseconds.
struct Quartiles {
  double low = 0, median = 0, high = 0;  ///< first quartile, median, third quartile
  std::vector<double> spans;             ///< all of them, in the order in which they were taken

  /// REQUIRES spans not empty.
  static Quartiles of(std::vector<double> spans);
};

/// Something else that does the same: the native collective, a binomial tree, a barrier of the standard library.
struct Rival {
  std::string name;                           ///< in tables
  std::function<bool(const run::Call&)> run;  ///< false: it does not do this kind
};
/// One collective of one size.
struct BenchRow {
  /// The collective; "items": a broadcast of several items; "stream": one item of many that follow each other, and
  /// "delay": from when the root begins with such an item until the last rank has it.
  std::string name;
  std::size_t bytes;   ///< of one rank's contribution; sum: of all operands; items: of all of them
  std::string method;  ///< what Chasqui ran
  double predicted;    ///< nanoseconds, by the profile
  double clocks;       ///< nanoseconds by which times may be off because clocks differ; 0 on one host
  Quartiles ours;      ///< Chasqui's times
  std::vector<std::pair<std::string, Quartiles>>
      rivals;  ///< by name; rivals that do not have this collective are missing
};
/// What to time, and for how long.
struct BenchOptions {
  std::size_t largest = std::size_t{4} << 20;  ///< largest size in bytes; sizes grow from 8 by factors of 8 up to it
  std::vector<std::string> kinds;              ///< collectives, "items" among them; empty: all
  double seconds_per_row = 0.3;                ///< time for each row and contestant
  std::function<void(const BenchRow&)> row;    ///< called on rank 0 as rows come
  std::function<bool(const std::string& name, std::size_t bytes)> skip;  ///< asked on rank 0: is it known already?
  std::function<void(double)> progress;  ///< called on rank 0 now and then with the share that is done
};

/// What can be timed: the collectives that are called, then "sum", "items" and "stream".
const std::vector<std::string>& bench_kinds();

/// What may be meant by a word that is none of the known ones, as the end of an Error.
using KindHint = std::function<std::string(const std::string& word, const std::vector<std::string>& known)>;

/// "broadcast,items": the names of a list; empty for none. `option` names the place in the Error for a word that is none.
std::vector<std::string> kinds_from(const std::string& list, const std::string& option, const KindHint& hint = {},
                                    const std::vector<std::string>& known = bench_kinds());

/// Is this more than one call: a sum, several items, a stream? Those run along their plan, by messages, and have two more
/// rivals: "chain", the items from rank to rank, and "plain", Chasqui's own calls: a reduce of what every rank has folded
/// before, or one broadcast after another.
bool is_many(const std::string& name);

/// What is timed: names and bytes, 0 bytes for a barrier. A stream gives two rows.
std::vector<std::pair<std::string, std::size_t>> bench_plan(const BenchOptions& options);

/// Collective. Rows count on rank 0. One rank alone has no items to send: such rows are left out.
std::vector<BenchRow> bench(run::Comm& comm, const std::vector<Rival>& rivals, const BenchOptions& options);

/// The table for people, of at most 80 columns for four rivals with short names. What is_many() comes in a table of its own.
class BenchTable {
 public:
  /// A column for each rival named; `marks`: do predictions come from a measurement, so that it is worth a mark if they are off?
  explicit BenchTable(std::vector<std::string> rivals, bool marks = true) : rivals_(std::move(rivals)), marks_(marks) {}
  /// A line: times in microseconds, "!" where the prediction is off by more than 20 %, rival / ours. Before the first row
  /// of a table its heading.
  std::string add(const BenchRow& row);
  /// What the names in the column "way" mean, a line each of those that were added.
  std::string ways() const;

 private:
  std::vector<std::string> rivals_, columns_;
  std::set<std::string> ways_;
  bool marks_;
};
/// A line that says where the column "expected" comes from, and the remedy where nobody measured; ended.
std::string source_of(const Profile& profile, bool threads = true);
/// Are these the built-in guesses?
bool is_guess(const Profile& profile);
/// Every time that was taken, with a header line.
std::string to_samples(const std::vector<BenchRow>& rows, int ranks);
/// Medians and quartiles: the header line …
std::string csv_heading();
/// … and a row's lines, Chasqui's first.
std::string to_csv(const BenchRow& row, int ranks);
/// What the columns of the table mean.
std::string legend(bool marks);
/// The same as JSON.
std::string to_json(const std::vector<BenchRow>& rows, int ranks);

}  // namespace chasqui::measure
