// SPDX-License-Identifier: MIT
// An MPI_Op as an operator: MPI_Reduce_local folds from the left, in place on the right.
#include <algorithm>
#include <cstring>
#include <vector>

#include "chasqui/mpi/comm.hpp"
#include "mpi/check.hpp"

namespace chasqui::mpi {
namespace {

void apply(void* context, const void* left, const void* right, void* out, std::size_t count) {
  const auto& fold = *static_cast<const FoldContext*>(context);
  const auto extent = static_cast<std::size_t>(fold.extent);
  auto* l = static_cast<const std::byte*>(left);
  auto* r = static_cast<const std::byte*>(right);
  auto* o = static_cast<std::byte*>(out);
  thread_local std::vector<std::max_align_t> scratch;
  constexpr std::size_t kPiece = 4096;
  const std::size_t step = std::max<std::size_t>(1, kPiece / std::max<std::size_t>(1, extent));
  for (std::size_t at = 0; at < count; at += step) {
    const std::size_t now = std::min(step, count - at);
    const std::size_t bytes = now * extent;
    std::byte* target = o + at * extent;
    if (out == left && out != right) {  // aside: the left operand must stay until it is folded
      scratch.resize(bytes / sizeof(std::max_align_t) + 1);
      std::memcpy(scratch.data(), r + at * extent, bytes);
      check(MPI_Reduce_local(l + at * extent, scratch.data(), static_cast<int>(now), fold.type, fold.op),
            "MPI_Reduce_local");
      std::memcpy(target, scratch.data(), bytes);
    } else {
      if (out != right) std::memcpy(target, r + at * extent, bytes);
      check(MPI_Reduce_local(l + at * extent, target, static_cast<int>(now), fold.type, fold.op), "MPI_Reduce_local");
    }
  }
}

}  // namespace

run::Operator operator_of(FoldContext& context) {
  int commutes = 0;
  check(MPI_Op_commutative(context.op, &commutes), "MPI_Op_commutative");
  return {apply, &context, commutes != 0};
}

}  // namespace chasqui::mpi
