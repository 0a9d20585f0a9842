// SPDX-License-Identifier: MIT
// Fortran bindings that go past the C functions: a rank that reaches a collective by them must be seen as well. They lead
// to the C functions here. Open MPI's all do, and have many names (mpif.h and `use mpi` call mpi_bcast_, `use mpi_f08` calls
// ompi_bcast_f). MPICH's call the C functions, but for those of `use mpi_f08` that have no buffer.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

namespace {

static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER is another type: numbers must be converted");

MPI_Comm comm(const MPI_Fint* handle) { return PMPI_Comm_f2c(*handle); }
using Int = const MPI_Fint*;

/// Frees or disconnects; the handle becomes the null one.
template <typename End>
int end_comm(MPI_Fint* handle, End&& end) {
  MPI_Comm ended = comm(handle);
  const int code = end(&ended);
  if (code == MPI_SUCCESS) *handle = PMPI_Comm_c2f(ended);
  return code;
}

}  // namespace

/// A subroutine; the last argument is the error code, which may be missing.
#define CHASQUI_SUBROUTINE(name, parameters, call) \
  extern "C" void name parameters {                \
    const int result = call;                       \
    if (code != nullptr) *code = result;           \
  }
#ifdef OPEN_MPI
#define CHASQUI_ALIAS(name, other) extern "C" decltype(other) name [[gnu::alias(#other)]];
#define CHASQUI_FORTRAN(small, Mixed, LARGE, parameters, call) \
  CHASQUI_SUBROUTINE(ompi_##small##_f, parameters, call)       \
  CHASQUI_ALIAS(mpi_##small, ompi_##small##_f)                 \
  CHASQUI_ALIAS(mpi_##small##_, ompi_##small##_f)              \
  CHASQUI_ALIAS(mpi_##small##__, ompi_##small##_f)             \
  CHASQUI_ALIAS(MPI_##LARGE, ompi_##small##_f)                 \
  CHASQUI_ALIAS(MPI_##Mixed##_f, ompi_##small##_f)             \
  CHASQUI_ALIAS(MPI_##Mixed##_f08, ompi_##small##_f)
#else
#define CHASQUI_FORTRAN(small, Mixed, LARGE, parameters, call) CHASQUI_SUBROUTINE(mpi_##small##_f08_, parameters, call)
#endif

CHASQUI_FORTRAN(init, Init, INIT, (MPI_Fint * code), MPI_Init(nullptr, nullptr))
CHASQUI_FORTRAN(init_thread, Init_thread, INIT_THREAD, (Int required, MPI_Fint* provided, MPI_Fint* code),
                MPI_Init_thread(nullptr, nullptr, *required, provided))
CHASQUI_FORTRAN(finalize, Finalize, FINALIZE, (MPI_Fint * code), MPI_Finalize())
CHASQUI_FORTRAN(comm_free, Comm_free, COMM_FREE, (MPI_Fint * handle, MPI_Fint* code), end_comm(handle, MPI_Comm_free))
CHASQUI_FORTRAN(comm_disconnect, Comm_disconnect, COMM_DISCONNECT, (MPI_Fint * handle, MPI_Fint* code),
                end_comm(handle, MPI_Comm_disconnect))

CHASQUI_FORTRAN(barrier, Barrier, BARRIER, (Int c, MPI_Fint* code), MPI_Barrier(comm(c)))

#ifdef OPEN_MPI
namespace {

/// A constant of the program, which is known by its address: the variable that the library itself compares with.
class FortranConstant {
 public:
  explicit FortranConstant(const std::array<const char*, 4>& spellings) {
    std::transform(spellings.begin(), spellings.end(), places_.begin(),
                   [](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  }
  bool is(const void* place) const {
    return place != nullptr && std::find(places_.begin(), places_.end(), place) != places_.end();
  }

 private:
  std::array<const void*, 4> places_{};
};

/// A buffer as C has it.
void* buffer(void* place) {
  static const FortranConstant in_place(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  static const FortranConstant bottom(
      {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  if (in_place.is(place)) return MPI_IN_PLACE;
  return bottom.is(place) ? MPI_BOTTOM : place;
}

MPI_Datatype type(const MPI_Fint* handle) { return PMPI_Type_f2c(*handle); }
MPI_Op op(const MPI_Fint* handle) { return PMPI_Op_f2c(*handle); }

}  // namespace

CHASQUI_FORTRAN(bcast, Bcast, BCAST, (void* b, Int n, Int t, Int root, Int c, MPI_Fint* code),
                MPI_Bcast(buffer(b), *n, type(t), *root, comm(c)))
CHASQUI_FORTRAN(reduce, Reduce, REDUCE, (void* s, void* r, Int n, Int t, Int o, Int root, Int c, MPI_Fint* code),
                MPI_Reduce(buffer(s), buffer(r), *n, type(t), op(o), *root, comm(c)))
CHASQUI_FORTRAN(allreduce, Allreduce, ALLREDUCE, (void* s, void* r, Int n, Int t, Int o, Int c, MPI_Fint* code),
                MPI_Allreduce(buffer(s), buffer(r), *n, type(t), op(o), comm(c)))
CHASQUI_FORTRAN(scan, Scan, SCAN, (void* s, void* r, Int n, Int t, Int o, Int c, MPI_Fint* code),
                MPI_Scan(buffer(s), buffer(r), *n, type(t), op(o), comm(c)))
CHASQUI_FORTRAN(exscan, Exscan, EXSCAN, (void* s, void* r, Int n, Int t, Int o, Int c, MPI_Fint* code),
                MPI_Exscan(buffer(s), buffer(r), *n, type(t), op(o), comm(c)))
CHASQUI_FORTRAN(reduce_scatter, Reduce_scatter, REDUCE_SCATTER,
                (void* s, void* r, Int counts, Int t, Int o, Int c, MPI_Fint* code),
                MPI_Reduce_scatter(buffer(s), buffer(r), counts, type(t), op(o), comm(c)))
CHASQUI_FORTRAN(reduce_scatter_block, Reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                (void* s, void* r, Int n, Int t, Int o, Int c, MPI_Fint* code),
                MPI_Reduce_scatter_block(buffer(s), buffer(r), *n, type(t), op(o), comm(c)))
CHASQUI_FORTRAN(gather, Gather, GATHER,
                (void* s, Int n, Int st, void* r, Int m, Int rt, Int root, Int c, MPI_Fint* code),
                MPI_Gather(buffer(s), *n, type(st), buffer(r), *m, type(rt), *root, comm(c)))
CHASQUI_FORTRAN(scatter, Scatter, SCATTER,
                (void* s, Int n, Int st, void* r, Int m, Int rt, Int root, Int c, MPI_Fint* code),
                MPI_Scatter(buffer(s), *n, type(st), buffer(r), *m, type(rt), *root, comm(c)))
CHASQUI_FORTRAN(allgather, Allgather, ALLGATHER,
                (void* s, Int n, Int st, void* r, Int m, Int rt, Int c, MPI_Fint* code),
                MPI_Allgather(buffer(s), *n, type(st), buffer(r), *m, type(rt), comm(c)))
CHASQUI_FORTRAN(allgatherv, Allgatherv, ALLGATHERV,
                (void* s, Int n, Int st, void* r, Int counts, Int firsts, Int rt, Int c, MPI_Fint* code),
                MPI_Allgatherv(buffer(s), *n, type(st), buffer(r), counts, firsts, type(rt), comm(c)))
CHASQUI_FORTRAN(gatherv, Gatherv, GATHERV,
                (void* s, Int n, Int st, void* r, Int counts, Int firsts, Int rt, Int root, Int c, MPI_Fint* code),
                MPI_Gatherv(buffer(s), *n, type(st), buffer(r), counts, firsts, type(rt), *root, comm(c)))
CHASQUI_FORTRAN(scatterv, Scatterv, SCATTERV,
                (void* s, Int counts, Int firsts, Int st, void* r, Int n, Int rt, Int root, Int c, MPI_Fint* code),
                MPI_Scatterv(buffer(s), counts, firsts, type(st), buffer(r), *n, type(rt), *root, comm(c)))
CHASQUI_FORTRAN(alltoall, Alltoall, ALLTOALL, (void* s, Int n, Int st, void* r, Int m, Int rt, Int c, MPI_Fint* code),
                MPI_Alltoall(buffer(s), *n, type(st), buffer(r), *m, type(rt), comm(c)))
CHASQUI_FORTRAN(alltoallv, Alltoallv, ALLTOALLV,
                (void* s, Int ns, Int sd, Int st, void* r, Int nr, Int rd, Int rt, Int c, MPI_Fint* code),
                MPI_Alltoallv(buffer(s), ns, sd, type(st), buffer(r), nr, rd, type(rt), comm(c)))

namespace {

/// The types of all ranks as C has them; in place those of the send side are not looked at.
std::vector<MPI_Datatype> types(const MPI_Fint* handles, MPI_Comm where, bool looked_at) {
  int ranks = 0;
  if (where == MPI_COMM_NULL || !looked_at || PMPI_Comm_size(where, &ranks) != MPI_SUCCESS) return {};
  int inter = 0;
  if (PMPI_Comm_test_inter(where, &inter) == MPI_SUCCESS && inter != 0) PMPI_Comm_remote_size(where, &ranks);
  std::vector<MPI_Datatype> list;
  for (int r = 0; r < ranks; ++r) list.push_back(type(handles + r));
  return list;
}

int all_to_all_w(void* s, Int ns, Int sd, Int st, void* r, Int nr, Int rd, Int rt, MPI_Comm where) {
  const auto given = types(st, where, buffer(s) != MPI_IN_PLACE), gotten = types(rt, where, true);
  return MPI_Alltoallw(buffer(s), ns, sd, given.data(), buffer(r), nr, rd, gotten.data(), where);
}

}  // namespace

CHASQUI_FORTRAN(alltoallw, Alltoallw, ALLTOALLW,
                (void* s, Int ns, Int sd, Int st, void* r, Int nr, Int rd, Int rt, Int c, MPI_Fint* code),
                all_to_all_w(s, ns, sd, st, r, nr, rd, rt, comm(c)))

#endif
