// SPDX-License-Identifier: MIT
#include "preload/hooked/handles.hpp"

#include <map>
#include <utility>

#include "preload/native.hpp"

namespace chasqui::preload {

namespace next {
inline constinit const Next<decltype(&MPI_Type_free)> Type_free("PMPI_Type_free");
inline constinit const Next<decltype(&MPI_Op_free)> Op_free("PMPI_Op_free");
}  // namespace next

namespace {

struct Use {
  int calls = 0;
  bool to_free = false;
};
/// One thread at a time is here: MPI_THREAD_MULTIPLE is left to the MPI library.
template <typename Handle>
std::map<Handle, Use>& used() {
  static auto* const all = new std::map<Handle, Use>;
  return *all;
}

template <typename Handle, typename Free>
void end_of_use(Handle handle, const Free& free) {
  const auto at = used<Handle>().find(handle);
  if (--at->second.calls > 0) return;
  const bool to_free = at->second.to_free;
  used<Handle>().erase(at);
  if (to_free) free(&handle);
}

/// True: it is done.
template <typename Handle>
bool frees_later(Handle* handle, Handle none) {
  if (handle == nullptr || used<Handle>().empty()) return false;
  const auto at = used<Handle>().find(*handle);
  if (at == used<Handle>().end() || at->second.to_free) return false;
  at->second.to_free = true;
  *handle = none;
  return true;
}

/// Both handles are the same C type under MPICH.
struct Operation {
  MPI_Op op;
  friend bool operator<(Operation a, Operation b) { return a.op < b.op; }
};

}  // namespace

Handles::Handles(std::vector<MPI_Datatype> types, MPI_Op op)
    : types_(std::move(types)), op_(of_program(op) ? op : MPI_OP_NULL) {
  for (const MPI_Datatype type : types_) ++used<MPI_Datatype>()[type].calls;
  if (op_ != MPI_OP_NULL) ++used<Operation>()[{op_}].calls;
}

Handles::Handles(Handles&& other) noexcept
    : types_(std::exchange(other.types_, {})), op_(std::exchange(other.op_, MPI_OP_NULL)) {}

Handles::~Handles() {
  for (const MPI_Datatype type : types_) end_of_use(type, [](MPI_Datatype* each) { next::Type_free(each); });
  if (op_ != MPI_OP_NULL) end_of_use(Operation{op_}, [](Operation* each) { next::Op_free(&each->op); });
}

}  // namespace chasqui::preload

using namespace chasqui::preload;

extern "C" int MPI_Type_free(MPI_Datatype* type) {
  return frees_later(type, MPI_DATATYPE_NULL) ? MPI_SUCCESS : next::Type_free(type);
}
CHASQUI_NAMES(Type_free)

extern "C" int MPI_Op_free(MPI_Op* op) {
  Operation own{op != nullptr ? *op : MPI_OP_NULL};
  if (!frees_later(&own, Operation{MPI_OP_NULL})) return next::Op_free(op);
  *op = own.op;
  return MPI_SUCCESS;
}
CHASQUI_NAMES(Op_free)
