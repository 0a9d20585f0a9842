// SPDX-License-Identifier: MIT
#include "run/messages/brought.hpp"

#include "run/messages/builders.hpp"

namespace chasqui::run {

Kind bringing(Kind fold) {
  switch (fold) {
    case Kind::reduce: return Kind::gather;
    case Kind::reduce_scatter: return Kind::alltoall;
    default: return Kind::allgather;
  }
}

int folded_ranks(Kind fold, bool exclusive, int rank, int size) {
  if (fold != Kind::scan) return size;
  return exclusive ? rank : rank + 1;
}

Program brought_program(const Shape& fold, int rank, const Program& bring) {
  Program program;
  const bool folds = fold.kind != Kind::reduce || fold.rank == fold.root;
  const Address all = folds ? program.more_scratch(static_cast<std::size_t>(fold.size) * fold.bytes()) : kOutput;
  append(program, bring, kInput, all, [](int peer) { return peer; });
  Shape folded = fold;
  folded.size = folded_ranks(fold.kind, fold.exclusive, rank, fold.size);
  if (folds && folded.size != 0) add_fold_in_order(program, folded, all, fold.count, kOutput);
  return program;
}

}  // namespace chasqui::run
