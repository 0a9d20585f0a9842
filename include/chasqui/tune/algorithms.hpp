// SPDX-License-Identifier: MIT
// The algorithms of Open MPI 4.1 `tuned` and of MPICH 4.0 that a tuning file can choose: names, numbers and parameters, each
// with the rounds that it sends.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/tune/rounds.hpp"

namespace chasqui::tune {

/// Whose collectives.
enum class Library { openmpi, mpich };
std::string_view to_string(Library library);  ///< "openmpi", "mpich"

/// One algorithm with its parameters.
struct Algorithm {
  Library library = Library::openmpi;
  std::string collective{};  ///< as the library writes it: "bcast"
  int number = 0;        ///< Open MPI: in rules files; MPICH: of MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM; 0: its default
  std::string name{};    ///< the library's word
  std::int64_t fan = 0;  ///< fan-out, radix or number of chains; 0: has none
  std::int64_t segment = 0;     ///< bytes; 0: not cut
  int inner = 0;                ///< MPICH: the non-blocking algorithm, where `number` says that one is waited for
  bool forced_in_place = true;  ///< can be forced in a running program; otherwise by a file only

  friend bool operator==(const Algorithm&, const Algorithm&) = default;
};

/// Is it right where operations do not commute? Open MPI does with a rule what it says, whatever the operation: its chains,
/// pipelines, rings and trees other than the in-order one then fold in another order. MPICH's files can tell operations apart.
bool keeps_order(const Algorithm& algorithm);

/// "binomial", "chain of 4 by 16 KiB", "tsp_tree of 3".
std::string to_string(const Algorithm& algorithm);

/// A collective as the libraries call it, and as Chasqui does.
struct CollectiveName {
  std::string_view word;  ///< "bcast"
  Kind kind;
};
/// All that rules can be written for.
const std::vector<CollectiveName>& collectives();
/// The libraries' word for what is measured: "bcast", for reduce-scatter "reduce_scatter_block".
std::string_view word_of(Kind kind);
/// What a word stands for. Throws an Error for one that is not in the list.
Kind kind_of(std::string_view word);

/// All that do this collective on so many ranks for so many bytes of one rank's contribution, with the parameters that make
/// sense there. Not the default.
std::vector<Algorithm> algorithms(Library library, std::string_view collective, int ranks, std::int64_t bytes);

/// What it sends, root 0. Nothing for what is no algorithm of ours, such as the default.
std::optional<Rounds> rounds_of(const Algorithm& algorithm, int ranks, std::int64_t bytes);

}  // namespace chasqui::tune
