! SPDX-License-Identifier: MIT
! A Fortran program that knows nothing of Chasqui, by mpif.h (BINDING=1), use mpi (2) or use mpi_f08 (3).
program collectives
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, ranks, code, i, r
  integer :: one(1), least
  integer, allocatable :: all(:), counts(:), firsts(:), back(:)
  double precision :: mine(3), sums(3)
  logical :: yes, every
  ! Types by their bytes, and by the digits that are asked for.
  integer, parameter :: long = selected_int_kind(15), digits = selected_real_kind(15)
  integer(long) :: far(2), farthest(2)
  real(digits) :: exact(2), sum_exact(2)
  complex(digits) :: turn, turned
#if BINDING == 3
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: asked
#else
  integer :: comm, asked
#endif

  call MPI_Init(code)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, code)
  call MPI_Comm_rank(comm, rank, code)
  call MPI_Comm_size(comm, ranks, code)
  call MPI_Type_create_f90_real(15, MPI_UNDEFINED, asked, code)
  allocate(all(ranks), counts(ranks), firsts(ranks), back(ranks))
  do i = 1, 30
    mine = (/ dble(rank), dble(i), 1d0 /)
    call MPI_Allreduce(mine, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, comm, code)
    call expect('allreduce', sums(1) == dble(ranks * (ranks - 1) / 2) .and. sums(3) == dble(ranks))
    sums = mine
    call MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE_PRECISION, MPI_MAX, comm, code)
    call expect('in place', sums(1) == dble(ranks - 1) .and. code == MPI_SUCCESS)
    yes = rank /= mod(i, ranks) .or. mod(i, 2) == 0
    call MPI_Allreduce(yes, every, 1, MPI_LOGICAL, MPI_LAND, comm, code)
    call expect('logical', every .eqv. (mod(i, 2) == 0))
    far = (/ 2_long**40 * rank, int(i, long) /)
    call MPI_Allreduce(far, farthest, 2, MPI_INTEGER8, MPI_SUM, comm, code)
    call expect('integer*8', farthest(1) == 2_long**40 * (ranks * (ranks - 1) / 2) .and. farthest(2) == i * ranks)
    call MPI_Allreduce(far, farthest, 2, MPI_INTEGER8, MPI_MAX, comm, code)
    call expect('integer*8', farthest(1) == 2_long**40 * (ranks - 1) .and. farthest(2) == i)
    exact = (/ dble(rank), 0.5d0 /)
    call MPI_Allreduce(exact, sum_exact, 2, MPI_REAL8, MPI_SUM, comm, code)
    call expect('real*8', sum_exact(1) == dble(ranks * (ranks - 1) / 2) .and. sum_exact(2) == 0.5d0 * ranks)
    call MPI_Allreduce(exact, sum_exact, 2, asked, MPI_MAX, comm, code)
    call expect('as asked for', sum_exact(1) == dble(ranks - 1) .and. sum_exact(2) == 0.5d0)
    turn = (0d0, 1d0)
    call MPI_Allreduce(turn, turned, 1, MPI_COMPLEX16, MPI_PROD, comm, code)
    call expect('complex*16', turned == turn**ranks)
    one = merge(i, -1, rank == ranks - 1)
    call MPI_Bcast(one, 1, MPI_INTEGER, ranks - 1, comm, code)
    call expect('bcast', one(1) == i)
    one = rank + i
    all = 0
    call MPI_Gather(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, comm, code)
    if (rank == 0) call expect('gather', all(ranks) == ranks - 1 + i)
    all = -1
    all(rank + 1) = rank * i
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, all, 1, MPI_INTEGER, comm, code)
    call expect('allgather', all(1) == 0 .and. all(ranks) == (ranks - 1) * i)
    all = (/ (r * i, r = 0, ranks - 1) /)
    call MPI_Scatter(all, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, comm, code)
    call expect('scatter', one(1) == rank * i)
    call MPI_Scan(rank, least, 1, MPI_INTEGER, MPI_SUM, comm, code)
    call expect('scan', least == rank * (rank + 1) / 2)
    counts = 1
    firsts = (/ (ranks - r, r = 1, ranks) /)
    call MPI_Allgatherv(rank, 1, MPI_INTEGER, all, counts, firsts, MPI_INTEGER, comm, code)
    call expect('allgatherv', all(1) == ranks - 1 .and. all(ranks) == 0)
    all = (/ (rank * 100 + r, r = 0, ranks - 1) /)
    call MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, code)
    call expect('alltoall', all(1) == rank .and. all(ranks) == (ranks - 1) * 100 + rank)
    firsts = (/ (r, r = 0, ranks - 1) /)
    call MPI_Alltoallv(all, counts, firsts, MPI_INTEGER, back, counts, firsts, MPI_INTEGER, comm, code)
    call expect('alltoallv', back(1) == rank * 100 .and. back(ranks) == rank * 100 + ranks - 1)
    call MPI_Reduce(rank, least, 1, MPI_INTEGER, MPI_MAX, 0, comm, code)
    if (rank == 0) call expect('reduce', least == ranks - 1)
    call MPI_Barrier(comm, code)
  end do
  call MPI_Comm_free(comm, code)
  call expect('freed', comm == MPI_COMM_NULL)
  if (rank == 0) print '(a,i0,a)', 'fortran on ', ranks, ' ranks: right'
  call MPI_Finalize(code)

contains
  subroutine expect(what, holds)
    character(*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) return
    print *, 'rank ', rank, ': wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine
end program
