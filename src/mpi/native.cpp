// SPDX-License-Identifier: MIT
#include "mpi/native.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "mpi/check.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::mpi {
namespace {

/// What the library's calls of fold() work on, and what the operator threw: no exception may pass the library's frames.
struct Folding {
  const run::Call* call = nullptr;
  std::exception_ptr error;
};
thread_local Folding folding;

/// The library aligns its own buffers to 16 bytes at most.
void fold_aligned(const run::Call& call, const void* in, void* inout, std::size_t count) {
  const std::size_t element = call.element;
  const auto place = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(inout);
  if (element % 32 != 0 || place % run::kLargestAlignment == 0) return call.op(in, inout, inout, count);
  const std::size_t step = std::max<std::size_t>(1, 8192 / element);
  const run::AlignedBuffer left(step * element), right(step * element);
  for (std::size_t at = 0; at < count; at += step) {
    const std::size_t now = std::min(step, count - at);
    auto* to = static_cast<std::byte*>(inout) + at * element;
    std::memcpy(left.data(), static_cast<const std::byte*>(in) + at * element, now * element);
    std::memcpy(right.data(), to, now * element);
    call.op(left.data(), right.data(), right.data(), now);
    std::memcpy(to, right.data(), now * element);
  }
}

void fold(void* in, void* inout, int* count, MPI_Datatype*) {
  if (folding.error) return;
  try {
    fold_aligned(*folding.call, in, inout, static_cast<std::size_t>(*count));
  } catch (...) {
    folding.error = std::current_exception();
  }
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& what) {
    return what.what();
  } catch (...) {
    return "an operator threw";
  }
}

/// Did the operator throw on some rank? The library has gone on with whatever was there, so that no result is right.
/// Collective; the rank where it did gets what it threw, the others an Error.
void check_operator(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  struct {
    int threw, rank;
  } mine{folding.error ? 1 : 0, rank}, first{};
  check(MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MAXLOC, comm), "MPI_Allreduce");
  if (first.threw == 0) return;
  char why[400] = {};
  if (first.rank == rank) text_of(folding.error).copy(why, sizeof why - 1);
  check(MPI_Bcast(why, sizeof why, MPI_CHAR, first.rank, comm), "MPI_Bcast");
  if (folding.error) std::rethrow_exception(std::exchange(folding.error, nullptr));
  throw Error("rank {}: {}", first.rank, why);
}

/// An element of the call as an MPI type, and its operator as an MPI operation.
class Borrowed {
 public:
  explicit Borrowed(const run::Call& call) {
    MPI_Type_contiguous(static_cast<int>(call.element), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    if (call.op.combine != nullptr) MPI_Op_create(fold, call.op.commutative ? 1 : 0, &op);
    folding = {&call, nullptr};
  }
  ~Borrowed() {
    MPI_Type_free(&type);
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};

void check_countable(const run::Call& call) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (call.bytes() <= most && call.element <= most) return;
  throw Error("{}: {} elements of {} bytes are more than the MPI library can count", to_string(call.kind), call.count,
              call.element);
}

/// The library's collective for the call, with one of its types and operations. Returns its error code.
int ask(MPI_Comm comm, const run::Call& call, MPI_Datatype type, MPI_Op op) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int count = static_cast<int>(call.count);
  const int root = static_cast<int>(call.root);
  const bool at_root = rank == root;
  const void* in = call.in == nullptr || call.in == call.out ? MPI_IN_PLACE : call.in;
  const void* block = call.in == nullptr ? MPI_IN_PLACE : call.in;
  switch (call.kind) {
    case Kind::barrier: return MPI_Barrier(comm);
    case Kind::broadcast: return MPI_Bcast(call.out, count, type, root, comm);
    case Kind::reduce:
      if (!at_root) in = call.in != nullptr ? call.in : call.out;
      return MPI_Reduce(in, call.out, count, type, op, root, comm);
    case Kind::allreduce: return MPI_Allreduce(in, call.out, count, type, op, comm);
    case Kind::scan:
      if (call.exclusive) return MPI_Exscan(in, call.out, count, type, op, comm);
      return MPI_Scan(in, call.out, count, type, op, comm);
    case Kind::gather: return MPI_Gather(at_root ? block : call.in, count, type, call.out, count, type, root, comm);
    case Kind::allgather: return MPI_Allgather(block, count, type, call.out, count, type, comm);
    case Kind::scatter:
      return MPI_Scatter(call.in, count, type, at_root && call.out == nullptr ? MPI_IN_PLACE : call.out, count, type,
                         root, comm);
    case Kind::alltoall: return MPI_Alltoall(in, count, type, call.out, count, type, comm);
    case Kind::reduce_scatter: return MPI_Reduce_scatter_block(in, call.out, count, type, op, comm);
    default: throw Error("{} has no native form", to_string(call.kind));
  }
}

}  // namespace

void run_native(MPI_Comm comm, const run::Call& call) {
  if (call.kind == Kind::barrier) return check(MPI_Barrier(comm), "MPI_Barrier");
  check_countable(call);
  const Borrowed borrowed(call);
  check(ask(comm, call, borrowed.type, borrowed.op), "the library's own collective");
  if (borrowed.op != MPI_OP_NULL && call.op.throws) check_operator(comm);
}

bool run_native_doubles(MPI_Comm comm, const run::Call& call) {
  check_countable(call);
  if (call.kind > Kind::barrier) return false;
  static_cast<void>(ask(comm, call, MPI_DOUBLE, MPI_SUM));  // the communicator's error handler hears of failures
  return true;
}

}  // namespace chasqui::mpi
