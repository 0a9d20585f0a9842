// SPDX-License-Identifier: MIT
// The algorithms of an MPI library that can be forced, through MPI's tools interface: control variables such as Open
// MPI's coll_tuned_bcast_algorithm (read when a communicator is made) or MPICH's MPIR_CVAR_BCAST_INTRA_ALGORITHM.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "chasqui/model/problem.hpp"

namespace forced {

struct Algorithm {
  std::string name;  ///< "default" for the library's own choice
  int number = 0;
  int segment = 0;  ///< bytes; 0: none
  int inner = 0;    ///< MPICH: which non-blocking algorithm, where `number` says to use those
  int fan = 2;      ///< and the fan of its tree or exchange
};

class Variables {
 public:
  Variables() {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  }
  ~Variables() { MPI_T_finalize(); }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

  /// Sets a control variable; false where the library has none of this name or refuses.
  static bool set(const std::string& name, int value) {
    int index = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return false;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return false;
    const bool written = MPI_T_cvar_write(handle, &value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return written;
  }
};

inline std::string word(chasqui::Kind kind) {
  return kind == chasqui::Kind::broadcast ? "bcast" : std::string(to_string(kind));
}

inline void force(chasqui::Kind kind, const Algorithm& algorithm) {
  const std::string name = word(kind);
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
#ifdef OPEN_MPI
  Variables::set("coll_tuned_" + name + "_algorithm", algorithm.number);
  Variables::set("coll_tuned_" + name + "_algorithm_segmentsize", algorithm.segment);
#else
  Variables::set("MPIR_CVAR_" + upper + "_INTRA_ALGORITHM", algorithm.number);
  Variables::set("MPIR_CVAR_I" + upper + "_INTRA_ALGORITHM", algorithm.inner);
  Variables::set("MPIR_CVAR_I" + upper + "_TREE_KVAL", algorithm.fan);
  Variables::set("MPIR_CVAR_I" + upper + "_RECEXCH_KVAL", algorithm.fan);
#endif
}

/// Those of the library this is compiled with, the default first; without the ones for two processes only.
inline std::vector<Algorithm> algorithms(chasqui::Kind kind, std::size_t bytes, [[maybe_unused]] int ranks) {
  std::vector<std::string> names;
  bool segments = false;
#ifdef OPEN_MPI
  switch (kind) {
    case chasqui::Kind::broadcast:
      names = {"linear",   "chain",    "pipeline",           "split binary", "binary",
               "binomial", "k-nomial", "scatter all-gather", "scatter ring"};
      segments = true;
      break;
    case chasqui::Kind::reduce:
      names = {"linear", "chain", "pipeline", "binary", "binomial", "in-order binary", "rabenseifner"};
      segments = true;
      break;
    case chasqui::Kind::allreduce:
      names = {"linear", "reduce + bcast", "recursive doubling", "ring", "segmented ring", "rabenseifner"};
      break;
    default: names = {"linear", "double ring", "recursive doubling", "bruck", "", "tree"}; break;
  }
#else  // MPICH 4.0: the numbers of its enumerations; "" stands for its non-blocking ones, which follow below
  std::vector<Algorithm> inner;
  const int wide = std::max(2, ranks - 1);
  switch (kind) {
    case chasqui::Kind::broadcast:
      names = {"binomial", "", "smp", "scatter recursive doubling", "scatter ring"};
      inner = {{"tree of 4", 2, 0, 6, 4}, {"tree of P", 2, 0, 6, wide}};
      break;
    case chasqui::Kind::reduce:
      names = {"binomial", "", "smp", "reduce-scatter gather"};
      inner = {{"tree of 4", 2, 0, 5, 4}, {"tree of P", 2, 0, 5, wide}};
      break;
    case chasqui::Kind::allreduce:
      names = {"", "smp", "recursive doubling", "reduce-scatter all-gather"};
      inner = {{"exchange by 4", 1, 0, 7, 4}, {"exchange by P", 1, 0, 7, ranks}};
      break;
    default: names = {"", "smp", "dissemination"}; break;
  }
#endif
  std::vector<Algorithm> list(1, Algorithm{"default"});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (!names[i].empty()) list.push_back({names[i], number});
    if (segments && bytes > 16384 && number >= 2 && number <= 7)
      list.push_back({names[i] + " by 16 KiB", number, 16384});
  }
#ifndef OPEN_MPI
  list.insert(list.end(), inner.begin(), inner.end());
#endif
  return list;
}

}  // namespace forced
