// SPDX-License-Identifier: MIT
// Which algorithm from which size on, and the files in which libraries read that. docs/tune.md has the formats' traps.
#pragma once

#include <string>
#include <vector>

#include "chasqui/tune/algorithms.hpp"

namespace chasqui::tune {

/// From so many bytes of one rank's contribution on. `algorithm.number` 0: the library's own choice.
struct Step {
  std::int64_t bytes = 0;
  Algorithm algorithm;
};
/// One collective on communicators of so many ranks; steps ascend, the first from 0 bytes on.
struct Choice {
  std::string collective;  ///< the library's word
  int ranks = 0;
  std::vector<Step> steps;
};
/// What a file says; `choices` of a collective ascend in ranks.
struct Rules {
  Library library = Library::openmpi;
  std::vector<Choice> choices;
};

/// Can the library tell sizes of this collective apart, the same way on every rank? Where it cannot, a file may have one step only.
bool tells_sizes(Library library, std::string_view collective);

/// Open MPI 4.1 and 5: numbers. A choice holds from its number of ranks on to the next one, at most to twice as many.
std::string openmpi_classic(const Rules& rules);
/// Open MPI 5.0.7 and later: the same with a head line and a number of requests.
std::string openmpi_version_2(const Rules& rules);
/// Open MPI 6: JSON.
std::string openmpi_json(const Rules& rules);

/// MPICH 4.0: all collectives, because what the file leaves out aborts the program; those without a choice as MPICH has them.
/// A choice holds for its number of ranks alone.
std::string mpich_json(const Rules& rules);

/// UCC_TL_UCP_TUNE: its nearest algorithm for each step that has one; empty where none has.
std::string ucc_tune(const Rules& rules);
/// NCCL's and RCCL's tuner plugin: ring or tree for each step that is one of them, with the head line that names the columns.
std::string nccl_csv(const Rules& rules, int nodes);

}  // namespace chasqui::tune
