// SPDX-License-Identifier: MIT
// A program of somebody else's: ScaLAPACK solves A x = b (pdgesv), computes singular values (pdgesvd) and norms on a grid of
// processes. Its BLACS call MPI from C. Prints the bits of what it found, which must not depend on who serves MPI.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void Cblacs_barrier(int context, const char* scope);
void Cdgsum2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda, int row, int column);
void Cdgebs2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda);
void Cdgebr2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda, int row, int column);
int numroc_(const int* n, const int* nb, const int* me, const int* source, const int* processes);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* rsrc, const int* csrc,
               const int* context, const int* lld, int* info);
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja, const int* desca, int* ipiv,
             double* b, const int* ib, const int* jb, const int* descb, int* info);
double pdlange_(const char* norm, const int* m, const int* n, const double* a, const int* ia, const int* ja,
                const int* desca, double* work);
void pdgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a, const int* ia, const int* ja,
              const int* desca, double* s, double* u, const int* iu, const int* ju, const int* descu, double* vt,
              const int* ivt, const int* jvt, const int* descvt, double* work, const int* lwork, int* info);
}

namespace {

double entry(int i, int j) { return 1.0 / (1 + (i * 37 + j * 17) % 23) + (i == j ? 8 : 0); }

/// The local part of an n x columns matrix in blocks of nb.
struct Matrix {
  int desc[9] = {};
  int rows = 0, columns = 0;
  std::vector<double> data;

  template <typename F>
  Matrix(int context, int n, int m, int nb, F of) {
    int prow, pcol, row, column, info = 0;
    const int zero = 0;
    Cblacs_gridinfo(context, &prow, &pcol, &row, &column);
    rows = numroc_(&n, &nb, &row, &zero, &prow);
    columns = numroc_(&m, &nb, &column, &zero, &pcol);
    const int lld = std::max(1, rows);
    descinit_(desc, &n, &m, &nb, &nb, &zero, &zero, &context, &lld, &info);
    data.resize(static_cast<std::size_t>(lld) * static_cast<std::size_t>(std::max(1, columns)));
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        data[static_cast<std::size_t>(j * lld + i)] =
            of((i / nb * prow + row) * nb + i % nb, (j / nb * pcol + column) * nb + j % nb);
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, me = 0, context = 0, prow = 0, pcol = 0, row = 0, column = 0, info = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", rows, ranks / rows);
  Cblacs_gridinfo(context, &prow, &pcol, &row, &column);
  const int n = 96, nb = 8, one = 1, columns = 1;
  Matrix a(context, n, n, nb, entry), kept = a;
  Matrix b(context, n, columns, nb, [](int i, int) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += entry(i, j) * (1 + j % 5);
    return sum;
  });
  std::vector<int> pivots(static_cast<std::size_t>(a.rows + nb));
  pdgesv_(&n, &columns, a.data.data(), &one, &one, a.desc, pivots.data(), b.data.data(), &one, &one, b.desc, &info);
  double worst = 0;
  for (int i = 0; i < b.rows && b.columns > 0; ++i) {
    const int global = (i / nb * prow + row) * nb + i % nb;
    worst = std::max(worst, std::abs(b.data[static_cast<std::size_t>(i)] - (1 + global % 5)));
  }
  double all = 0;
  MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  std::vector<double> work(4096);
  const double norm = pdlange_("F", &n, &n, kept.data.data(), &one, &one, kept.desc, work.data());
  const double largest = pdlange_("1", &n, &n, kept.data.data(), &one, &one, kept.desc, work.data());
  // The combines and broadcasts of the BLACS, with the topology that uses MPI's collectives.
  double sum[3] = {1.0 * me, 2.0, 0.5 * me};
  for (int i = 0; i < 30; ++i) {
    Cdgsum2d(context, "All", " ", 3, 1, sum, 3, -1, -1);
    if (me == 0) Cdgebs2d(context, "All", " ", 3, 1, sum, 3);
    if (me != 0) Cdgebr2d(context, "All", " ", 3, 1, sum, 3, 0, 0);
    for (double& each : sum) each /= ranks;
    Cblacs_barrier(context, "All");
  }
  const int length = -1;
  std::vector<double> singular(static_cast<std::size_t>(n));
  pdgesvd_("N", "N", &n, &n, kept.data.data(), &one, &one, kept.desc, singular.data(), nullptr, &one, &one, kept.desc,
           nullptr, &one, &one, kept.desc, work.data(), &length, &info);
  const int enough = static_cast<int>(work[0]) + 1;
  work.resize(static_cast<std::size_t>(enough));
  pdgesvd_("N", "N", &n, &n, kept.data.data(), &one, &one, kept.desc, singular.data(), nullptr, &one, &one, kept.desc,
           nullptr, &one, &one, kept.desc, work.data(), &enough, &info);
  Cblacs_gridexit(context);
  if (me == 0) {
    std::printf(
        "scalapack on %d x %d: error %s, norms %.10g %.10g, singular values %.10g .. %.10g, sums %.10g %.10g %.10g, info %d\n",
        rows, ranks / rows, all < 1e-10 ? "below 1e-10" : "LARGE", norm, largest, singular.front(), singular.back(),
        sum[0], sum[1], sum[2], info);
  }
  MPI_Finalize();
  return all < 1e-10 && info == 0 ? 0 : 1;
}
