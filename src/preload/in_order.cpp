// SPDX-License-Identifier: MIT
#include "in_order.hpp"

#include <algorithm>
#include <vector>

#include "chasqui/base/error.hpp"

namespace chasqui::preload {
namespace {

constexpr MPI_Aint kPiece = MPI_Aint{4} << 20;  ///< bytes of all contributions together

template <typename T>
T* moved(T* where, MPI_Aint bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<MPI_Aint>(where) + bytes);
}

void check(int code, const char* what) {
  if (code != MPI_SUCCESS) throw Error("{} failed with MPI error {}", what, code);
}

}  // namespace

void fold_in_order(Work& work, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, int prefix) {
  const TypeFacts facts = facts_of(type);
  const int ranks = work.size();
  const MPI_Aint one = std::max<MPI_Aint>({1, facts.extent, -facts.extent, facts.true_extent});
  const int step = static_cast<int>(std::clamp<MPI_Aint>(kPiece / one / ranks, 1, std::max(1, count)));
  const Span span = span_of(facts, static_cast<MPI_Aint>(step) * ranks);
  std::vector<std::max_align_t> memory(static_cast<std::size_t>(span.high - span.low) / sizeof(std::max_align_t) + 2);
  std::vector<std::byte> packed(static_cast<std::size_t>(step) * facts.size);
  void* base = moved(static_cast<void*>(memory.data()), (-span.low + 15) / 16 * 16);
  if (span.low > 0) base = moved(static_cast<void*>(memory.data()), -span.low);
  const bool mine = root < 0 || work.rank() == root;
  for (int first = 0; first < count; first += step) {
    const int now = std::min(step, count - first);
    const MPI_Aint block = static_cast<MPI_Aint>(now) * facts.extent;
    const void* from = moved(in, static_cast<MPI_Aint>(first) * facts.extent);
    work.begin();
    check(root < 0 ? PMPI_Allgather(from, now, type, base, now, type, work.comm())
                        : PMPI_Gather(from, now, type, base, now, type, root, work.comm()), "gathering contributions");
    const int last = prefix < 0 ? ranks : prefix;
    if (!mine || last == 0) continue;
    for (int r = 1; r < last; ++r) {
      check(PMPI_Reduce_local(moved(base, (r - 1) * block), moved(base, r * block), now, type, op), "MPI_Reduce_local");
    }
    pack(moved(base, (last - 1) * block), now, type, facts, packed.data(), work.quiet(), work.rank());
    unpack(moved(out, static_cast<MPI_Aint>(first) * facts.extent), now, type, facts, packed.data(), work.quiet(), work.rank());
  }
}

}  // namespace chasqui::preload
