// SPDX-License-Identifier: MIT
// What a call writes on this rank, element by element: whatever else lies between elements and blocks belongs to the program, whose
// messages may arrive there at any time.
#pragma once

#include <cstddef>
#include <vector>

#include "preload/types.hpp"

namespace chasqui::preload {

/// Counts or displacements of all ranks, as the program has them: the forms with large counts have wider ones.
class Numbers {
 public:
  Numbers() = default;
  Numbers(const int* narrow) : narrow_(narrow) {}  // NOLINT: implicit on purpose
  Numbers(const MPI_Aint* wide) : wide_(wide) {}   // NOLINT
  bool missing() const { return narrow_ == nullptr && wide_ == nullptr; }
  template <typename Rank>
  MPI_Aint operator[](Rank r) const {
    return narrow_ != nullptr ? narrow_[r] : wide_[r];
  }

 private:
  const int* narrow_ = nullptr;
  const MPI_Aint* wide_ = nullptr;
};

/// A copy of such a list, for calls that go on: programs should keep their lists until then, and mpi4py 3.1.4 does not.
class KeptNumbers {
 public:
  KeptNumbers(const Numbers& list, int ranks) {
    kept_.reserve(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) kept_.push_back(list[r]);
  }
  operator Numbers() const { return kept_.data(); }  // NOLINT: implicit on purpose

 private:
  std::vector<MPI_Aint> kept_;
};

/// Blocks in the program's memory, by the program's own lists, which must outlive it. Nothing is looked at before each().
struct Output {
  void* where = nullptr;
  MPI_Aint count = 0;  ///< elements side by side, where there are no lists
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int blocks = 0;  ///< more than 0: counts[r] elements at displacements[r], for each r below
  Numbers counts{}, displacements{};
  const MPI_Datatype* types = nullptr;  ///< one for each block, with displacements in bytes; nullptr: `type` for all

  /// visit(packer, address, elements) for each block that is not empty.
  template <typename Visit>
  void each(Visit&& visit) const {
    if (blocks == 0 && count > 0) visit(TypePacker{type, facts_of(type)}, where, count);
    for (int r = 0; r < blocks; ++r) {
      if (counts[r] <= 0) continue;
      const MPI_Datatype own = types != nullptr ? types[r] : type;
      const TypePacker packer{own, facts_of(own)};
      const MPI_Aint unit = types != nullptr ? 1 : packer.facts.extent;
      visit(packer, moved(where, displacements[r] * unit), counts[r]);
    }
  }
};

/// A copy of its elements, packed. Throws Error when the MPI library refuses to pack them.
class OutputCopy {
 public:
  explicit OutputCopy(const Output& output);
  /// Copies what lies there now, into the same memory.
  void take();
  void restore() const;
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  Output output_;
  std::vector<std::byte> bytes_;
};

}  // namespace chasqui::preload
