// SPDX-License-Identifier: MIT
#include "mpi/forced.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "mpi/check.hpp"
#include "mpi/native.hpp"

namespace chasqui::mpi {
namespace {

/// Sets a control variable; false where the library has none of this name or refuses.
bool set(const std::string& name, int value) {
  static const bool ready = [] {
    int provided = 0;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
  }();
  int index = 0, count = 0;
  if (!ready || MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return false;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return false;
  const bool written = MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  return written;
}

/// False where the library does not know the algorithm's variable.
bool force(const ForcedAlgorithm& algorithm) {
#ifdef OPEN_MPI
  constexpr int kUsualFan = 4;
  const std::string prefix = "coll_tuned_" + algorithm.collective + "_algorithm";
  set(prefix + "_segmentsize", algorithm.segment);
  set(prefix + "_chain_fanout", algorithm.fan > 0 ? algorithm.fan : kUsualFan);
  set(prefix + "_tree_fanout", algorithm.fan > 0 ? algorithm.fan : kUsualFan);
  return set(prefix, algorithm.number);
#else
  constexpr int kUsualFan = 2;
  std::string upper = algorithm.collective;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  set("MPIR_CVAR_I" + upper + "_INTRA_ALGORITHM", algorithm.inner);
  for (const char* fan : {"_TREE_KVAL", "_RECEXCH_KVAL"})
    set("MPIR_CVAR_I" + upper + fan, algorithm.fan > 0 ? algorithm.fan : kUsualFan);
  set("MPIR_CVAR_I" + upper + "_TREE_PIPELINE_CHUNK_SIZE", algorithm.segment);
  return set("MPIR_CVAR_" + upper + "_INTRA_ALGORITHM", algorithm.number);
#endif
}

bool refused = false;  ///< by the library, in the call that runs
void note_refusal(MPI_Comm*, int*, ...) { refused = true; }

/// A duplicate that says when the library refuses.
struct Own {
  Own(MPI_Comm of, int ranks) {
    int rank = 0;
    MPI_Comm_rank(of, &rank);
    if (ranks == 0) check(MPI_Comm_dup(of, &comm), "MPI_Comm_dup");
    else check(MPI_Comm_split(of, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm), "MPI_Comm_split");
    if (comm == MPI_COMM_NULL) return;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(note_refusal, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
  }
  ~Own() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
};

}  // namespace

Forced forced(MPI_Comm comm, const ForcedAlgorithm& algorithm, int ranks) {
  return forced_together(comm, {algorithm}, ranks).front();
}

std::vector<Forced> forced_together(MPI_Comm comm, const std::vector<ForcedAlgorithm>& algorithms, int ranks) {
  std::vector<char> known;
  for (const ForcedAlgorithm& algorithm : algorithms) known.push_back(force(algorithm));
  const auto own = std::make_shared<Own>(comm, ranks);
  std::vector<Forced> list;
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    force({algorithms[i].collective});
    const auto run = [own, known = known[i] != 0](const run::Call& call) {
      refused = false;
      return known && run_native_doubles(own->comm, call) && !refused;
    };
#ifdef OPEN_MPI
    list.push_back({[] {}, run});
#else
    list.push_back({[algorithm = algorithms[i]] { force(algorithm); }, run});
#endif
  }
  return list;
}

void allow_forcing() {
  setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
  unsetenv("OMPI_MCA_coll_tuned_dynamic_rules_filename");
  unsetenv("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE");
}

}  // namespace chasqui::mpi
