// SPDX-License-Identifier: MIT
// Datatypes and operations of the program's that a call of ours goes on with. A program may free them meanwhile. Open MPI holds them for
// its requests, and so for ours; MPICH does not for generalized requests, so there the freeing waits for the end of the call.
#pragma once

#include <mpi.h>

#include <vector>

#include "preload/types.hpp"

namespace chasqui::preload {

/// While this lives, they are not freed.
class Handles {
#ifndef CHASQUI_COMPONENT
 public:
  Handles() = default;
  Handles(std::vector<MPI_Datatype> types, MPI_Op op);
  ~Handles();
  Handles(Handles&&) noexcept;
  Handles& operator=(Handles&&) = delete;

 private:
  std::vector<MPI_Datatype> types_;
  MPI_Op op_ = MPI_OP_NULL;
#endif
};

/// While this lives, derived types at which this thread looks are collected.
class CollectedHandles {
 public:
#ifdef CHASQUI_COMPONENT
  CollectedHandles() {}
  Handles with(MPI_Op) const { return {}; }
#else
  CollectedHandles() { derived_types_seen = &types_; }
  ~CollectedHandles() { derived_types_seen = nullptr; }
  CollectedHandles(const CollectedHandles&) = delete;
  CollectedHandles& operator=(const CollectedHandles&) = delete;
  Handles with(MPI_Op op) const { return {types_, op}; }

 private:
  std::vector<MPI_Datatype> types_;
#endif
};

}  // namespace chasqui::preload
