// SPDX-License-Identifier: MIT
#include "run/wait/launcher.hpp"

#include <cstdlib>

namespace chasqui::run {
namespace {

struct Names {
  const char* launcher;
  bool mpi;
  const char *rank, *size, *local_rank, *local_size;
  const char* job[2];  ///< added to each other
};
constexpr Names kLaunchers[] = {
    {"chasqui launch", false, "CHASQUI_RANK", "CHASQUI_SIZE", "CHASQUI_RANK", "CHASQUI_SIZE", {}},
    {"torchrun",
     false,
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
    {"Open MPI",
     true,
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE"}},
    {"Open MPI",  // by srun --mpi=pmix: PMIx says no size in the environment
     true,
     "PMIX_RANK",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     "SLURM_STEP_TASKS_PER_NODE",
     {"PMIX_NAMESPACE"}},
    {"MPICH", true, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", {}},
    {"MPICH", true, "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", {}},
    {"Slurm",
     false,
     "SLURM_PROCID",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     "SLURM_STEP_TASKS_PER_NODE",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

std::optional<int> number(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return {};
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value <= 1 << 30 ? std::optional(static_cast<int>(value)) : std::nullopt;
}

std::optional<Launched> found(const Names& names, bool here) {
  const auto rank = number(names.rank), size = number(names.size);
  const auto local_rank = number(names.local_rank), local_size = number(names.local_size);
  if (!rank || !size || *rank >= *size || (here && (!local_rank || !local_size || *local_rank >= *local_size)))
    return {};
  Launched launched{names.launcher, *rank, *size, local_rank.value_or(*rank), local_size.value_or(*size),
                    names.rank,     {}};
  for (const char* const part : names.job) {
    if (const char* text = part != nullptr ? std::getenv(part) : nullptr) (launched.job += '-') += text;
  }
  return launched;
}

std::optional<Launched> first_of(bool mpi_only) {
  for (const bool here : {true, false}) {
    for (const Names& names : kLaunchers) {
      if (mpi_only && !names.mpi) continue;
      if (const auto launched = found(names, here)) return launched;
    }
  }
  return {};
}

}  // namespace

std::optional<Launched> launched() { return first_of(false); }
std::optional<Launched> launched_by_mpi() { return first_of(true); }

std::optional<std::pair<int, int>> place_on_node() {
  for (const Names& names : kLaunchers) {
    const auto rank = number(names.local_rank), size = number(names.local_size);
    if (rank && size && *rank < *size) return std::pair(*rank, *size);
  }
  return {};
}

}  // namespace chasqui::run
