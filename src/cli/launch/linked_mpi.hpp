// SPDX-License-Identifier: MIT
// Which MPI library a program is linked with, read from its ELF file: what the program itself needs, not what its libraries
// need in turn; and what must be loaded before a drop-in library. Nothing is run.
#pragma once

#include <string>
#include <vector>

namespace chasqui::cli {

/// Where the shell finds this program; `word` itself where it does not.
std::string found_in_path(const std::string& word);

/// "openmpi", "mpich", or empty: no ELF file, or neither is named (scripts, static programs).
std::string linked_mpi(const std::string& program);

/// The library that must come before all that is preloaded, or such a program ends at once: AddressSanitizer's, as GCC links it; empty: none.
std::string loaded_first(const std::string& program);

/// The first of `words` that is such a program; empty when there is none.
struct MpiProgram {
  std::string path, flavour;
};
MpiProgram first_mpi_program(const std::vector<std::string>& words);

}  // namespace chasqui::cli
