! Calls every collective in its three forms from Fortran, through the interface that the macro names: WITH_MPIF_H,
! WITH_MPI or WITH_MPI_F08. It knows nothing of fab. What has to arrive is computed by hand. The argument "heap" says
! that large arrays of the program lie in fab's memory.
#include "interface.inc"
program calls_collectives
#if defined(WITH_MPI_F08)
  use mpi_f08
  use mpi_f08_ext
#elif defined(WITH_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#if defined(WITH_MPIF_H)
  include 'mpif.h'
#endif

  integer, parameter :: most = 16  ! ranks
  integer, target, asynchronous :: a(2 * most), b(2 * most)
  integer :: expected(2 * most), ones(most), twos(most), places(most), gaps(most), bytes(most)
  integer(MPI_ADDRESS_KIND) :: long_bytes(2)
  DATATYPE_TYPE :: types(most)
  REQUEST_TYPE :: request
  COMM_TYPE :: world, grid
  integer :: ierror, rank, ranks, root, i, form, failures, all_failures, left, right, way
#if defined(WITH_MPI_F08)
  procedure(MPI_User_function) :: last_and_count
#else
  external :: last_and_count
#endif
  integer, parameter :: blocking = 1, non_blocking = 2, persistent = 3

  failures = 0
  way = 0
  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, world, ierror)
  call MPI_Comm_rank(world, rank, ierror)
  call MPI_Comm_size(world, ranks, ierror)
  call expect(ranks <= most, 'the number of ranks')
  call MPI_Cart_create(world, 1, [ranks], [.true.], .false., grid, ierror)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  root = ranks - 1
  ones = 1
  twos = 2
  types = MPI_INTEGER
  do i = 1, most
    places(i) = i - 1
    gaps(i) = 2 * (i - 1)
    bytes(i) = 4 * (i - 1)
  end do
  long_bytes = [0, 4]
  do form = blocking, persistent
    call on_vectors()
    call gathers()
    call alltoalls()
    call reductions()
    call scans()
    call gathers_of_neighbors()
    call alltoalls_of_neighbors()
  end do
  call in_place()
  call at_bottom()
  call with_operation_of_the_program()
  call many_at_once()
  call memory()
  call allocated_memory()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Comm_free(grid, ierror)
  call MPI_Comm_free(world, ierror)
  call MPI_Finalize(ierror)
  if (all_failures > 0) stop 1

contains

  subroutine expect(is_right, what)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    if (is_right) return
    print '(a,i0,3a,i0)', 'rank ', rank, ': wrong: ', what, ' in form ', form
    failures = failures + 1
  end subroutine

  ! The buffers of a call: rank r sends 100 r + 1, 100 r + 2, ...
  subroutine prepare()
    a = [(100 * rank + i, i = 1, 2 * most)]
    b = -1
    expected = -1
  end subroutine

  ! Element i of what rank `from` sends.
  integer function sent(from, i)
    integer, intent(in) :: from, i
    sent = 100 * from + i
  end function

  subroutine finish()
    logical :: flag
    STATUS_TYPE :: status(STATUS_SIZE 1)
    REQUEST_TYPE :: both(2)
    way = mod(way + 1, 4)
    flag = .false.
    select case (way)
    case (0)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    case (1)
      do while (.not. flag)
        call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierror)
      end do
    case (2)
      both(1) = MPI_REQUEST_NULL
      both(2) = request
      call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierror)
      request = both(2)
    case (3)
#if defined(WITH_MPI_F08)
      call MPI_Wait(request, status(1), ierror)
#else
      call MPI_Wait(request, status(:, 1), ierror)
#endif
    end select
  end subroutine

  ! Ends the call of this form and compares b.
  subroutine compare(name)
    character(len=*), intent(in) :: name
    call expect(ierror == MPI_SUCCESS, name//': ierror')
    if (form == non_blocking) then
      call finish()
      call expect(request == MPI_REQUEST_NULL, name//': its request')
    else if (form == persistent) then
      call MPI_Start(request, ierror)
      call finish()
      call expect(all(b == expected), name//', first start')
      call MPI_Start(request, ierror)
      call finish()
      call expect(request /= MPI_REQUEST_NULL, name//': its request')
      call MPI_Request_free(request, ierror)
    end if
    call expect(ierror == MPI_SUCCESS, name//': ierror at the end')
    call expect(all(b == expected), name)
    call prepare()
  end subroutine

  subroutine on_vectors()
    call prepare()
    select case (form)
    case (blocking)
      call MPI_Barrier(world, ierror)
    case (non_blocking)
      call MPI_Ibarrier(world, request, ierror)
    case (persistent)
      call MPIX_Barrier_init(world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('barrier')
    expected(1:3) = [(sent(root, i), i = 1, 3)]
    if (rank == root) b(1:3) = a(1:3)
    select case (form)
    case (blocking)
      call MPI_Bcast(b, 3, MPI_INTEGER, root, world, ierror)
    case (non_blocking)
      call MPI_Ibcast(b, 3, MPI_INTEGER, root, world, request, ierror)
    case (persistent)
      call MPIX_Bcast_init(b, 3, MPI_INTEGER, root, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('bcast')
  end subroutine

  subroutine gathers()
    if (rank == root) expected(1:ranks) = [(sent(i, 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Gather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, ierror)
    case (non_blocking)
      call MPI_Igather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, request, ierror)
    case (persistent)
      call MPIX_Gather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('gather')
    if (rank == root) expected(1:2 * ranks:2) = [(sent(i, 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Gatherv(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, root, world, ierror)
    case (non_blocking)
      call MPI_Igatherv(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, root, world, request, ierror)
    case (persistent)
      call MPIX_Gatherv_init(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, root, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('gatherv')
    expected(1) = sent(root, rank + 1)
    select case (form)
    case (blocking)
      call MPI_Scatter(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, ierror)
    case (non_blocking)
      call MPI_Iscatter(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, request, ierror)
    case (persistent)
      call MPIX_Scatter_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('scatter')
    expected(1) = sent(root, 2 * rank + 1)
    select case (form)
    case (blocking)
      call MPI_Scatterv(a, ones, gaps, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, ierror)
    case (non_blocking)
      call MPI_Iscatterv(a, ones, gaps, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, request, ierror)
    case (persistent)
      call MPIX_Scatterv_init(a, ones, gaps, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('scatterv')
    expected(1:ranks) = [(sent(i, 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, ierror)
    case (non_blocking)
      call MPI_Iallgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, request, ierror)
    case (persistent)
      call MPIX_Allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('allgather')
    expected(1:2 * ranks:2) = [(sent(i, 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Allgatherv(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, world, ierror)
    case (non_blocking)
      call MPI_Iallgatherv(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, world, request, ierror)
    case (persistent)
      call MPIX_Allgatherv_init(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('allgatherv')
  end subroutine

  subroutine alltoalls()
    expected(1:ranks) = [(sent(i, rank + 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, ierror)
    case (non_blocking)
      call MPI_Ialltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, request, ierror)
    case (persistent)
      call MPIX_Alltoall_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('alltoall')
    expected(1:2 * ranks:2) = [(sent(i, rank + 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Alltoallv(a, ones, places, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, world, ierror)
    case (non_blocking)
      call MPI_Ialltoallv(a, ones, places, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, world, request, ierror)
    case (persistent)
      call MPIX_Alltoallv_init(a, ones, places, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, world, MPI_INFO_NULL, request, &
                               ierror)
    end select
    call compare('alltoallv')
    expected(1:ranks) = [(sent(i, rank + 1), i = 0, ranks - 1)]
    select case (form)
    case (blocking)
      call MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, world, ierror)
    case (non_blocking)
      call MPI_Ialltoallw(a, ones, bytes, types, b, ones, bytes, types, world, request, ierror)
    case (persistent)
      call MPIX_Alltoallw_init(a, ones, bytes, types, b, ones, bytes, types, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('alltoallw')
  end subroutine

  ! The sum of all ranks' elements i.
  integer function total(i)
    integer, intent(in) :: i
    integer :: from
    total = sum([(sent(from, i), from = 0, ranks - 1)])
  end function

  subroutine reductions()
    if (rank == root) expected(1:2) = [total(1), total(2)]
    select case (form)
    case (blocking)
      call MPI_Reduce(a, b, 2, MPI_INTEGER, MPI_SUM, root, world, ierror)
    case (non_blocking)
      call MPI_Ireduce(a, b, 2, MPI_INTEGER, MPI_SUM, root, world, request, ierror)
    case (persistent)
      call MPIX_Reduce_init(a, b, 2, MPI_INTEGER, MPI_SUM, root, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('reduce')
    expected(1:2) = [total(1), total(2)]
    select case (form)
    case (blocking)
      call MPI_Allreduce(a, b, 2, MPI_INTEGER, MPI_SUM, world, ierror)
    case (non_blocking)
      call MPI_Iallreduce(a, b, 2, MPI_INTEGER, MPI_SUM, world, request, ierror)
    case (persistent)
      call MPIX_Allreduce_init(a, b, 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('allreduce')
    expected(1:2) = [total(2 * rank + 1), total(2 * rank + 2)]
    select case (form)
    case (blocking)
      call MPI_Reduce_scatter(a, b, twos, MPI_INTEGER, MPI_SUM, world, ierror)
    case (non_blocking)
      call MPI_Ireduce_scatter(a, b, twos, MPI_INTEGER, MPI_SUM, world, request, ierror)
    case (persistent)
      call MPIX_Reduce_scatter_init(a, b, twos, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('reduce_scatter')
    expected(1:2) = [total(2 * rank + 1), total(2 * rank + 2)]
    select case (form)
    case (blocking)
      call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, world, ierror)
    case (non_blocking)
      call MPI_Ireduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, world, request, ierror)
    case (persistent)
      call MPIX_Reduce_scatter_block_init(a, b, 2, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('reduce_scatter_block')
  end subroutine

  subroutine scans()
    expected(1) = sum([(sent(i, 1), i = 0, rank)])
    select case (form)
    case (blocking)
      call MPI_Scan(a, b, 1, MPI_INTEGER, MPI_SUM, world, ierror)
    case (non_blocking)
      call MPI_Iscan(a, b, 1, MPI_INTEGER, MPI_SUM, world, request, ierror)
    case (persistent)
      call MPIX_Scan_init(a, b, 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('scan')
    if (rank > 0) expected(1) = sum([(sent(i, 1), i = 0, rank - 1)])
    select case (form)
    case (blocking)
      call MPI_Exscan(a, b, 1, MPI_INTEGER, MPI_SUM, world, ierror)
    case (non_blocking)
      call MPI_Iexscan(a, b, 1, MPI_INTEGER, MPI_SUM, world, request, ierror)
    case (persistent)
      call MPIX_Exscan_init(a, b, 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, ierror)
    end select
    call compare('exscan')
  end subroutine

  subroutine gathers_of_neighbors()
    expected(1:2) = [sent(left, 1), sent(right, 1)]
    select case (form)
    case (blocking)
      call MPI_Neighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, grid, ierror)
    case (non_blocking)
      call MPI_Ineighbor_allgather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, grid, request, ierror)
    case (persistent)
      call MPIX_Neighbor_allgather_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, grid, MPI_INFO_NULL, request, ierror)
    end select
    call compare('neighbor_allgather')
    expected(1:3:2) = [sent(left, 1), sent(right, 1)]
    select case (form)
    case (blocking)
      call MPI_Neighbor_allgatherv(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, grid, ierror)
    case (non_blocking)
      call MPI_Ineighbor_allgatherv(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, grid, request, ierror)
    case (persistent)
      call MPIX_Neighbor_allgatherv_init(a, 1, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, grid, MPI_INFO_NULL, request, &
                                         ierror)
    end select
    call compare('neighbor_allgatherv')
  end subroutine

  ! What a neighbour sends towards this rank: the second block of the left one, the first of the right one.
  subroutine alltoalls_of_neighbors()
    expected(1:2) = [sent(left, 2), sent(right, 1)]
    select case (form)
    case (blocking)
      call MPI_Neighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, grid, ierror)
    case (non_blocking)
      call MPI_Ineighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, grid, request, ierror)
    case (persistent)
      call MPIX_Neighbor_alltoall_init(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, grid, MPI_INFO_NULL, request, ierror)
    end select
    call compare('neighbor_alltoall')
    expected(1:3:2) = [sent(left, 2), sent(right, 1)]
    select case (form)
    case (blocking)
      call MPI_Neighbor_alltoallv(a, ones, places, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, grid, ierror)
    case (non_blocking)
      call MPI_Ineighbor_alltoallv(a, ones, places, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, grid, request, ierror)
    case (persistent)
      call MPIX_Neighbor_alltoallv_init(a, ones, places, MPI_INTEGER, b, ones, gaps, MPI_INTEGER, grid, MPI_INFO_NULL, &
                                        request, ierror)
    end select
    call compare('neighbor_alltoallv')
    expected(1:2) = [sent(left, 2), sent(right, 1)]
    select case (form)
    case (blocking)
      call MPI_Neighbor_alltoallw(a, ones, long_bytes, types, b, ones, long_bytes, types, grid, ierror)
    case (non_blocking)
      call MPI_Ineighbor_alltoallw(a, ones, long_bytes, types, b, ones, long_bytes, types, grid, request, ierror)
    case (persistent)
      call MPIX_Neighbor_alltoallw_init(a, ones, long_bytes, types, b, ones, long_bytes, types, grid, MPI_INFO_NULL, &
                                        request, ierror)
    end select
    call compare('neighbor_alltoallw')
  end subroutine

  ! MPI_IN_PLACE is the address of a variable in Fortran.
  subroutine in_place()
    form = blocking
    b(1:2) = a(1:2)
    expected(1:2) = [total(1), total(2)]
    call MPI_Allreduce(MPI_IN_PLACE, b, 2, MPI_INTEGER, MPI_SUM, world, ierror)
    call compare('allreduce in place')
    b(1:ranks) = a(1:ranks)
    expected(1:ranks) = [(sent(i, rank + 1), i = 0, ranks - 1)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, 1, MPI_INTEGER, world, ierror)
    call compare('alltoall in place')
    form = non_blocking
    b(rank + 1) = a(1)
    expected(1:ranks) = [(sent(i, 1), i = 0, ranks - 1)]
    call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 1, MPI_INTEGER, world, request, ierror)
    call compare('iallgather in place')
    expected(1:1) = sent(root, rank + 1)
    if (rank == root) then
      expected = -1
      call MPI_Iscatter(a, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, world, request, ierror)
    else
      call MPI_Iscatter(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, root, world, request, ierror)
    end if
    call compare('iscatter in place')
  end subroutine

  ! With MPI_BOTTOM the datatype has the address.
  subroutine at_bottom()
    DATATYPE_TYPE :: from(most), into(most)
    integer(MPI_ADDRESS_KIND) :: address(1)
    integer :: zeros(most)
    zeros = 0
    do i = 1, ranks
      call MPI_Get_address(a(i), address(1), ierror)
      call MPI_Type_create_hindexed(1, [1], address, MPI_INTEGER, from(i), ierror)
      call MPI_Type_commit(from(i), ierror)
      call MPI_Get_address(b(i), address(1), ierror)
      call MPI_Type_create_hindexed(1, [1], address, MPI_INTEGER, into(i), ierror)
      call MPI_Type_commit(into(i), ierror)
    end do
    form = non_blocking
    expected(1:ranks) = [(sent(i, rank + 1), i = 0, ranks - 1)]
    call MPI_Ialltoallw(MPI_BOTTOM, ones, zeros, from, MPI_BOTTOM, ones, zeros, into, world, request, ierror)
    call compare('ialltoallw from the bottom')
    form = blocking
    expected(1) = sent(root, 1)
    if (rank == root) b(1) = a(1)
    call MPI_Bcast(MPI_BOTTOM, 1, into(1), root, world, ierror)
    call compare('bcast from the bottom')
    do i = 1, ranks
      call MPI_Type_free(from(i), ierror)
      call MPI_Type_free(into(i), ierror)
    end do
  end subroutine

  ! Not commutative: keeps what the higher rank has, and counts. The blocking call asks all ranks whether fab hears of
  ! operations that they free.
  subroutine with_operation_of_the_program()
    OP_TYPE :: op
    call MPI_Op_create(last_and_count, .false., op, ierror)
    a(1:2) = [rank, 1]
    expected(1:2) = [ranks - 1, ranks]
    form = blocking
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, world, ierror)
    call compare('allreduce with the program''s operation')
    form = non_blocking
    a(1:2) = [rank, 1]
    expected(1:2) = [ranks - 1, ranks]
    call MPI_Iallreduce(a, b, 2, MPI_INTEGER, op, world, request, ierror)
    call MPI_Op_free(op, ierror)
    call compare('iallreduce with the program''s operation')
  end subroutine

  subroutine many_at_once()
    integer, parameter :: several = 8
    REQUEST_TYPE :: requests(several)
    STATUS_TYPE :: statuses(STATUS_SIZE several)
    integer, target, asynchronous :: sums(several)
    integer :: k
    do k = 1, several
      sums(k) = rank + k
      call MPI_Iallreduce(MPI_IN_PLACE, sums(k), 1, MPI_INTEGER, MPI_SUM, world, requests(k), ierror)
    end do
    call MPI_Waitall(several, requests, statuses, ierror)
    do k = 1, several
      call expect(sums(k) == k * ranks + ranks * (ranks - 1) / 2, 'one of many reductions')
    end do
  end subroutine

  ! fab's memory is that of a file which neighbours map. The name tells: an address can have the digits `fab`.
  logical function is_fabs(address)
    integer(c_intptr_t), intent(in) :: address
    integer(c_intptr_t) :: first, last
    character(len=300) :: line
    integer :: unit, status, dash, blank
    is_fabs = .false.
    open (newunit=unit, file='/proc/self/maps', action='read')
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) exit
      dash = index(line, '-')
      blank = index(line, ' ')
      read (line(:dash - 1), '(z16)') first
      read (line(dash + 1:blank - 1), '(z16)') last
      if (first <= address .and. address < last) is_fabs = index(line, 'fab-memory') > 0
    end do
    close (unit)
  end function

  subroutine memory()
    integer, parameter :: elements = 100000
    integer(MPI_ADDRESS_KIND) :: size_in_bytes
    integer, pointer :: values(:)
    type(c_ptr) :: base
#if defined(WITH_MPIF_H)
    integer(MPI_ADDRESS_KIND) :: address
#endif
    size_in_bytes = 4 * elements
#if defined(WITH_MPIF_H)
    call MPI_Alloc_mem(size_in_bytes, MPI_INFO_NULL, address, ierror)
    base = transfer(address, c_null_ptr)
#else
    call MPI_Alloc_mem(size_in_bytes, MPI_INFO_NULL, base, ierror)
#endif
    call c_f_pointer(base, values, [elements])
    call use_memory(values, base)
#if !defined(WITH_MPI_F08)
#if defined(WITH_MPIF_H)
    call MPI_Alloc_mem_cptr(size_in_bytes, MPI_INFO_NULL, address, ierror)
    base = transfer(address, c_null_ptr)
#else
    call MPI_Alloc_mem_cptr(size_in_bytes, MPI_INFO_NULL, base, ierror)
#endif
    call c_f_pointer(base, values, [elements])
    call use_memory(values, base)
#endif
  end subroutine

  subroutine allocated_memory()
    integer, parameter :: elements = 300000
    integer, allocatable, target :: values(:)
    allocate (values(elements))
    call expect(is_fabs(transfer(c_loc(values), 0_c_intptr_t)) .eqv. command_argument_count() > 0, &
                'where large arrays lie')
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, elements, MPI_INTEGER, MPI_SUM, world, ierror)
    call expect(all(values == ranks * (ranks - 1) / 2), 'a reduction of a large array')
    deallocate (values)
  end subroutine

  subroutine use_memory(values, base)
    integer, pointer :: values(:)
    type(c_ptr) :: base
    call expect(ierror == MPI_SUCCESS, 'MPI_Alloc_mem')
    call expect(is_fabs(transfer(base, 0_c_intptr_t)), 'the memory of MPI_Alloc_mem')
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, size(values), MPI_INTEGER, MPI_SUM, world, ierror)
    call expect(all(values == ranks * (ranks - 1) / 2), 'a reduction of that memory')
    call MPI_Free_mem(values, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Free_mem')
  end subroutine

end program

! Outside, as the address of an inner procedure takes a stack that can be executed.
#if defined(WITH_MPI_F08)
subroutine last_and_count(invec, inoutvec, length, datatype)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  type(c_ptr), value :: invec, inoutvec
  integer :: length
  type(MPI_Datatype) :: datatype
  integer, pointer :: in(:), inout(:)
  call c_f_pointer(invec, in, [length])
  call c_f_pointer(inoutvec, inout, [length])
  if (datatype /= MPI_INTEGER) in(2) = -1
  inout(2) = in(2) + inout(2)
end subroutine
#else
subroutine last_and_count(in, inout, length, datatype)
  include 'mpif.h'
  integer :: length, datatype
  integer :: in(length), inout(length)
  if (datatype /= MPI_INTEGER) in(2) = -1
  inout(2) = in(2) + inout(2)
end subroutine
#endif
