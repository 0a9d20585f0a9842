// SPDX-License-Identifier: MIT
// One suite for every engine: a Case is one rank's part of one collective, with its buffers, its call and its check.
// Blocking engines run the calls; an engine without threads starts them on all ranks and polls.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chasqui/run/choose.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::engines {

class Case {
 public:
  virtual ~Case() = default;
  run::Call call;
  /// Empty when the result is right, else what is wrong.
  virtual std::string check() const = 0;
};

struct Recipe {
  std::string name;
  std::function<std::unique_ptr<Case>(int rank, int size)> make;
};

/// Affine maps x -> a x + b modulo 2^32 under composition: associative, not commutative.
struct Affine {
  std::uint32_t a, b;
  friend bool operator==(const Affine&, const Affine&) = default;
};
struct Compose {
  Affine operator()(const Affine& f, const Affine& g) const { return {f.a * g.a, f.a * g.b + f.b}; }
};

/// Every collective for every root in `roots`, counts, operators, in place and not, strided and not.
std::vector<Recipe> recipes(int size, const std::vector<int>& roots, const std::vector<int>& counts);
std::vector<int> all_roots(int size);

/// Runs all recipes blocking, then several at a time without blocking. Throws std::runtime_error at the first wrong
/// result, naming it.
void run_blocking(run::Comm& comm, const std::vector<Recipe>& recipes);
void run_in_flight(run::Comm& comm, const std::vector<Recipe>& recipes, int at_once);

/// Summations of operands that the plan places: commutative and not, blocking and not, beside other collectives.
void sums(run::Comm& comm);

/// Scans by their own functions, of values whose fold does not commute: exclusive or not, blocking and several at a time.
void prefixes(run::Comm& comm);

/// The binomial rival does what it is compared in: every collective, root and operator, contiguous data.
void rivals(run::Comm& comm);

/// May a mistake go unnoticed, because nobody waits in vain?
enum class Passes { never, by_messages, anywhere };

/// A mistake of one rank, or of all. The body ends or throws; barriers behind it must not hang.
struct Misuse {
  std::string name;
  std::function<void(run::Comm&)> body;
  std::vector<std::string> words;  ///< every rank's error has one of them
  Passes passes = Passes::never;   ///< no rank gets an error, then
  bool may_pass(const run::Comm& comm) const {
    return passes == Passes::anywhere ||
           (passes == Passes::by_messages && (comm.topology().nodes > 1 || !comm.topology().board));
  }
  bool explained_by(const std::string& error) const;
};
std::vector<Misuse> misuses(int culprit);

/// Ranks that are so late that the others lose their patience: nothing happens. REQUIRES patience of less than `seconds`.
void late(run::Comm& comm, double seconds);

/// The last rank calls something that the others do not, on a part of the communicator, while they wait in the whole. What
/// this rank heard of it; "none" if nothing. REQUIRES patience.
std::string beside(run::Comm& comm);

/// The whole programme of an engine on one communicator: the above, splits, failures that must not hang.
void run_everything(run::Comm& comm, bool thorough);

/// `count` random collectives with checked results, most of them short, on the communicator and on parts of it that come
/// and go, with ranks that sleep now and then; the seed decides everything.
void soak(run::Comm& comm, std::int64_t count, std::uint64_t seed);

/// One call of each collective, short and long, each between two marks (stepping.hpp). Throws for a wrong result.
void run_marked(run::Comm& comm);

/// `count` requests on these communicators at once, of short and long calls, started and waited for, or asked for, in orders of each
/// rank's own (on one communicator all start them in the same). Throws for a wrong result, and names the seed.
void stress(const std::vector<std::unique_ptr<run::Comm>>& comms, std::size_t count, int rank, std::uint64_t seed);

}  // namespace chasqui::engines
