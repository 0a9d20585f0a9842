// SPDX-License-Identifier: MIT
#include "packed_fold.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "elements.hpp"

namespace chasqui::preload {
namespace {

constexpr std::size_t kPiece = 16 * 1024;  ///< bytes that are laid out at a time

void apply(void* context, const void* left, const void* right, void* out, std::size_t count) {
  const PackedFold& fold = *static_cast<const PackedFold*>(context);
  const std::size_t size = fold.facts.size;
  const std::size_t step = std::max<std::size_t>(1, kPiece / size);
  const Elements first(fold.facts, static_cast<MPI_Aint>(std::min(step, count)));
  const Elements second(fold.facts, static_cast<MPI_Aint>(std::min(step, count)));
  for (std::size_t at = 0; at < count; at += step) {
    const int now = static_cast<int>(std::min(step, count - at));
    const std::size_t place = at * size;
    unpack(first.at(0), now, fold.type, fold.facts, static_cast<const std::byte*>(left) + place, fold.comm, fold.rank);
    unpack(second.at(0), now, fold.type, fold.facts, static_cast<const std::byte*>(right) + place, fold.comm,
           fold.rank);
    if (PMPI_Reduce_local(first.at(0), second.at(0), now, fold.type, fold.op) != MPI_SUCCESS) {
      throw Error("MPI_Reduce_local refuses the operation on a derived datatype");
    }
    pack(second.at(0), now, fold.type, fold.facts, static_cast<std::byte*>(out) + place, fold.comm, fold.rank);
  }
}

}  // namespace

run::Operator operator_of(PackedFold& fold) {
  int commutes = 0;
  if (PMPI_Op_commutative(fold.op, &commutes) != MPI_SUCCESS) throw Error("MPI_Op_commutative refuses the operation");
  return {apply, &fold, commutes != 0};
}

}  // namespace chasqui::preload
