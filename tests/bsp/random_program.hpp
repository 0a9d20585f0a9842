// SPDX-License-Identifier: MIT
// Random bulk-synchronous programs, as values: they run on any engine, and settle() runs them without one. What every rank sees must
// be the same. A program can be shrunk, since settle() takes out what has lost its sense.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chasqui/bsp/run.hpp"

namespace chasqui::bsp::random_program {

enum class Kind {
  nothing,    ///< sends and puts that a later step delivers
  barrier,    ///< sync()
  expecting,  ///< sync(expected)
  subset,     ///< sync(ranks)
  array,      ///< a new one
  free,       ///< of an array
  blocks,     ///< set_block_bytes
  broadcast,
  reduce,
  allreduce,
  scan,
  exclusive_scan,
  gather,
  split,           ///< split(parts.size())
  split_in_sizes,  ///< split(numbers)
  split_by,        ///< split_by(numbers[rank]), a color for each part
};

struct Send {
  int from = 0, to = 0, stream = 0, values = 1;
};
struct Put {
  int from = 0, to = 0, array = 0, at = 0, values = 1;
};
struct Get {
  int by = 0, from = 0, array = 0, at = 0, values = 1;
};

/// What all ranks of a machine do next.
struct Step {
  Kind kind = Kind::barrier;
  std::int64_t mark = 0;  ///< of this step alone: from it come all values
  std::vector<Send> sends{};
  std::vector<Put> puts{};
  std::vector<Get> gets{};
  std::vector<int>
      numbers{};  ///< ranks of a subset, lengths of an array, sizes, colors; the root, the array, the block size
  std::vector<int> late{};  ///< ranks that sleep a little first
  std::vector<std::vector<Step>> parts{};
  std::vector<std::int64_t> expected{};  ///< by rank; settle() knows
};
using Steps = std::vector<Step>;

struct RandomProgram {
  int processors = 1;
  Steps steps{};
};
RandomProgram make(std::uint64_t seed, int processors);
std::string to_string(const Steps& steps, int indent = 0);

/// By rank: what it sees.
using Seen = std::vector<std::vector<std::int64_t>>;

/// What all ranks see when nothing goes wrong, by a few loops. Takes out steps that make no sense here, and adds a barrier where messages would be left.
Seen settle(RandomProgram& program);

/// What one rank does wrong.
struct Sabotage {
  enum class What { nothing, throws, skips, leaves };
  What what = What::nothing;
  int rank = 0;
  int step = 0;  ///< of those that this rank comes to, in submachines too
};
struct Sabotaged : std::runtime_error {
  Sabotaged() : std::runtime_error("sabotage") {}
};

/// Runs it on a processor of any engine, and notes what that one sees.
void execute(World& w, const RandomProgram& program, std::vector<std::int64_t>& seen, const Sabotage& sabotage = {});

/// What a ledger counts, without what a clock says.
std::vector<std::vector<std::int64_t>> counted(const Ledger& ledger);

/// A small program that still fails: without steps, parts and messages that do not matter.
RandomProgram shrink(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails);

}  // namespace chasqui::bsp::random_program
