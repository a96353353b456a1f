! Every call of the proposal from one of Fortran's three interfaces: -DWITH_MPIF_H, -DWITH_MPI or -DWITH_MPI_F08.
! --expect-ranks=N: so many ranks there are. Ends with status 1 if any rank finds something wrong.
#if defined(WITH_MPI_F08)
#define COMM_TYPE type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#define DATATYPE_TYPE type(MPI_Datatype)
#else
#define COMM_TYPE integer
#define REQUEST_TYPE integer
#define DATATYPE_TYPE integer
#endif
program calls
#if defined(WITH_MPI_F08)
  use mpi_f08
  use fab_mpi_f08
#elif defined(WITH_MPI)
  use mpi
  use fab_mpi
#endif
  implicit none
#if defined(WITH_MPIF_H)
  include 'mpif.h'
  include 'fabf.h'
#endif

  integer, parameter :: blocking = 1, non_blocking = 2, persistent = 3
  integer, parameter :: most = 8
  integer :: rank, ranks, expected_ranks, ierror, wrong, all_wrong, form
  character(len=32) :: argument
  COMM_TYPE :: grid, cube

  wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, argument)
  read (argument(len('--expect-ranks=') + 1:), *) expected_ranks
  call expect(ranks == expected_ranks, 'number of ranks')
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  do form = blocking, persistent
    ! Periodic of all sizes, also 1 and 2; with borders; both.
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., grid, ierror)
    call on(grid, .true.)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.false.], .false., grid, ierror)
    call on(grid, .true.)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, [1, ranks], [.true., .false.], .false., cube, ierror)
    call on(cube, .true.)
    grid = a_graph()
    call on(grid, .false.)
    grid = a_distributed_graph()
    call on(grid, .false.)
  end do
  call wrong_arguments()
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (all_wrong /= 0) stop 1

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print '(a,i0,2a,a,i0)', 'rank ', rank, ': wrong: ', what, ', form ', form
  end subroutine

  ! A ring, as the graph that all ranks give alike.
  function a_graph() result(comm)
    COMM_TYPE :: comm
    integer :: indices(most), edges(2 * most), i
    do i = 1, ranks
      indices(i) = 2 * i
      edges(2 * i - 1) = modulo(i, ranks)
      edges(2 * i) = modulo(i - 2, ranks)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, indices, edges, .false., comm, ierror)
  end function

  ! Every rank sends to the next one only.
  function a_distributed_graph() result(comm)
    COMM_TYPE :: comm
    integer :: sources(1), destinations(1), weights(1)
    sources = modulo(rank - 1, ranks)
    destinations = modulo(rank + 1, ranks)
    weights = 1
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, destinations, weights, &
      MPI_INFO_NULL, .false., comm, ierror)
  end function

  ! All calls on comm, which is freed. What a rank sends in a block names it and the block.
  subroutine on(comm, is_cartesian)
    COMM_TYPE, intent(inout) :: comm
    logical, intent(in) :: is_cartesian
    integer :: count, sources, destinations, neighbors(most), from(most), slot(most)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
    call MPI_Comm_neighbors_count(comm, rank, count, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Comm_neighbors_count')
    neighbors = -1
    call MPI_Comm_neighbors(comm, rank, count, neighbors, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Comm_neighbors')
    call expect(all(neighbors(count + 1:) == -1), 'nothing behind the neighbors')
    call predict(comm, is_cartesian, count, from, slot)
    if (is_cartesian) call expect(all(neighbors(:count) == from(:count)), 'neighbors of a grid')
    sources = count
    destinations = count
    call equal_blocks(comm, sources, destinations, from, slot, .false.)
    call equal_blocks(comm, sources, destinations, from, slot, .true.)
    call varied_blocks(comm, count, from, slot)
    call typed_blocks(comm, count, from, slot)
    if (form == persistent) then
      call partitioned_blocks(comm, count, from, slot, 2)
      call partitioned_blocks(comm, count, from, slot, 20000)
    end if
    if (is_cartesian) then
      call shifted(comm, .false.)
      call shifted(comm, .true.)
    end if
    call MPI_Comm_free(comm, ierror)
  end subroutine

  ! The rank that block i comes from, and which of that rank's blocks it is.
  subroutine predict(comm, is_cartesian, count, from, slot)
    COMM_TYPE, intent(in) :: comm
    logical, intent(in) :: is_cartesian
    integer, intent(in) :: count
    integer, intent(out) :: from(most), slot(most)
    integer :: dimensions, d, sign, below, above, blocks, theirs, dims(3), coords(3)
    logical :: periods(3)
    if (.not. is_cartesian) then
      if (count == 1) then
        from(1) = modulo(rank - 1, ranks)
        slot(1) = 1
      else  ! the k-th edge of a pair meets its k-th edge back
        from(:2) = [modulo(rank + 1, ranks), modulo(rank - 1, ranks)]
        slot(:2) = merge([2, 1], [1, 2], ranks > 2)
      end if
      return
    end if
    call MPI_Cartdim_get(comm, dimensions, ierror)
    call MPI_Cart_get(comm, dimensions, dims, periods, coords, ierror)
    blocks = 0
    do d = 1, dimensions
      do sign = 1, -1, -2
        call MPI_Cart_shift(comm, d - 1, sign, below, above, ierror)
        if (above == MPI_PROC_NULL) cycle
        blocks = blocks + 1
        from(blocks) = above
        ! What that neighbor sends in the opposite direction: its blocks in earlier dimensions are as many as here.
        theirs = count_before(dims, periods, coords, d)
        if (sign == 1 .and. (periods(d) .or. coords(d) + 2 < dims(d))) theirs = theirs + 1
        slot(blocks) = theirs + 1
      end do
    end do
    call expect(blocks == count, 'number of neighbors')
  end subroutine

  integer function count_before(dims, periods, coords, d)
    integer, intent(in) :: dims(3), coords(3), d
    logical, intent(in) :: periods(3)
    integer :: e
    count_before = 0
    do e = 1, d - 1
      if (periods(e) .or. coords(e) + 1 < dims(e)) count_before = count_before + 1
      if (periods(e) .or. coords(e) > 0) count_before = count_before + 1
    end do
  end function

  integer function value(of, block, element)
    integer, intent(in) :: of, block, element
    value = 10000 * of + 100 * block + element
  end function

  ! Waits for what a non-blocking call began; starts what a persistent one described, twice.
  subroutine finish(request, twice)
    REQUEST_TYPE, intent(inout) :: request
    logical, intent(in) :: twice
    integer :: round
    if (form == non_blocking) then
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    else if (form == persistent) then
      do round = 1, merge(2, 1, twice)
        call MPI_Start(request, ierror)
        call expect(ierror == MPI_SUCCESS, 'MPI_Start')
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      end do
      call MPI_Request_free(request, ierror)
    end if
    call expect(request == MPI_REQUEST_NULL, 'a request that has ended')
  end subroutine

  subroutine equal_blocks(comm, sources, destinations, from, slot, in_place)
    COMM_TYPE, intent(in) :: comm
    integer, intent(in) :: sources, destinations, from(most), slot(most)
    logical, intent(in) :: in_place
    integer, asynchronous :: send(3, most), recv(3, most)
    integer :: i, k
    REQUEST_TYPE :: request
    request = MPI_REQUEST_NULL
    send = reshape([((value(rank, i, k), k=1, 3), i=1, most)], [3, most])
    recv = -1
    if (in_place) recv(:, :destinations) = send(:, :destinations)
    select case (form)
    case (blocking)
      if (in_place) then
        call MPI_Neighbor_xchg(MPI_IN_PLACE, 3, MPI_INTEGER, recv, 3, MPI_INTEGER, comm, ierror)
      else
        call MPI_Neighbor_xchg(send, 3, MPI_INTEGER, recv, 3, MPI_INTEGER, comm, ierror)
      end if
    case (non_blocking)
      if (in_place) then
        call MPI_Ineighbor_xchg(MPI_IN_PLACE, 3, MPI_INTEGER, recv, 3, MPI_INTEGER, comm, request, ierror)
      else
        call MPI_Ineighbor_xchg(send, 3, MPI_INTEGER, recv, 3, MPI_INTEGER, comm, request, ierror)
      end if
    case (persistent)
      if (in_place) then
        call MPI_Neighbor_xchg_init(MPI_IN_PLACE, 3, MPI_INTEGER, recv, 3, MPI_INTEGER, comm, MPI_INFO_NULL, request, &
          ierror)
      else
        call MPI_Neighbor_xchg_init(send, 3, MPI_INTEGER, recv, 3, MPI_INTEGER, comm, MPI_INFO_NULL, request, ierror)
      end if
    end select
    call expect(ierror == MPI_SUCCESS, 'MPI_Neighbor_xchg')
    call finish(request, .not. in_place)
    do i = 1, sources
      call expect(all(recv(:, i) == [(value(from(i), slot(i), k), k=1, 3)]), 'a block of MPI_Neighbor_xchg')
    end do
    call expect(all(recv(:, sources + 1:) == -1), 'nothing behind the blocks')
  end subroutine

  ! Blocks of 2 elements in the reverse order, with gaps.
  subroutine varied_blocks(comm, count, from, slot)
    COMM_TYPE, intent(in) :: comm
    integer, intent(in) :: count, from(most), slot(most)
    integer, asynchronous :: send(3, most), recv(3, most)
    integer :: i, k, counts(most), displs(most)
    REQUEST_TYPE :: request
    request = MPI_REQUEST_NULL
    send = -2
    recv = -1
    counts = 2
    do i = 1, count
      displs(i) = 3 * (count - i)
      send(:2, count - i + 1) = [(value(rank, i, k), k=1, 2)]
    end do
    select case (form)
    case (blocking)
      call MPI_Neighbor_xchgv(send, counts, displs, MPI_INTEGER, recv, counts, displs, MPI_INTEGER, comm, ierror)
    case (non_blocking)
      call MPI_Ineighbor_xchgv(send, counts, displs, MPI_INTEGER, recv, counts, displs, MPI_INTEGER, comm, request, ierror)
    case (persistent)
      call MPI_Neighbor_xchgv_init(send, counts, displs, MPI_INTEGER, recv, counts, displs, MPI_INTEGER, comm, &
        MPI_INFO_NULL, request, ierror)
    end select
    call expect(ierror == MPI_SUCCESS, 'MPI_Neighbor_xchgv')
    counts = -7  ! the call has read them
    call finish(request, .true.)
    do i = 1, count
      call expect(all(recv(:, count - i + 1) == [value(from(i), slot(i), 1), value(from(i), slot(i), 2), -1]), &
        'a block of MPI_Neighbor_xchgv')
    end do
  end subroutine

  ! From MPI_BOTTOM, into every other element.
  subroutine typed_blocks(comm, count, from, slot)
    COMM_TYPE, intent(in) :: comm
    integer, intent(in) :: count, from(most), slot(most)
    integer, asynchronous :: send(2, most), recv(4, most)
    integer :: i, k, ones(most), twos(most)
    integer(MPI_ADDRESS_KIND) :: addresses(most), displs(most)
    DATATYPE_TYPE :: spread, plain(most), spreads(most)
    REQUEST_TYPE :: request
    request = MPI_REQUEST_NULL
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, spread, ierror)
    call MPI_Type_commit(spread, ierror)
    send = reshape([((value(rank, i, k), k=1, 2), i=1, most)], [2, most])
    recv = -1
    ones = 1
    twos = 2
    do i = 1, most
      call MPI_Get_address(send(1, i), addresses(i), ierror)
      displs(i) = 16 * (i - 1)
      plain(i) = MPI_INTEGER
      spreads(i) = spread
    end do
    select case (form)
    case (blocking)
      call MPI_Neighbor_xchgw(MPI_BOTTOM, twos, addresses, plain, recv, ones, displs, spreads, comm, ierror)
    case (non_blocking)
      call MPI_Ineighbor_xchgw(MPI_BOTTOM, twos, addresses, plain, recv, ones, displs, spreads, comm, request, ierror)
    case (persistent)
      call MPI_Neighbor_xchgw_init(MPI_BOTTOM, twos, addresses, plain, recv, ones, displs, spreads, comm, MPI_INFO_NULL, &
        request, ierror)
    end select
    call expect(ierror == MPI_SUCCESS, 'MPI_Neighbor_xchgw')
    call MPI_Type_free(spread, ierror)
    call finish(request, .true.)
    do i = 1, count
      call expect(all(recv(:, i) == [value(from(i), slot(i), 1), -1, value(from(i), slot(i), 2), -1]), &
        'a block of MPI_Neighbor_xchgw')
    end do
  end subroutine

  ! Blocks of three partitions, of that many elements each, which are marked in the reverse order. Long ones leave one
  ! by one, and arrive while others are not marked yet.
  subroutine partitioned_blocks(comm, count, from, slot, elements)
    COMM_TYPE, intent(in) :: comm
    integer, intent(in) :: count, from(most), slot(most), elements
    integer, parameter :: parts = 3
    integer, allocatable, asynchronous :: send(:, :, :), recv(:, :, :)
    integer :: i, part, round
    logical :: flag
    REQUEST_TYPE :: request
    allocate (send(elements, parts, most), recv(elements, parts, most))
    request = MPI_REQUEST_NULL
    call MPI_Pneighbor_xchg_init(send, parts, elements, MPI_INTEGER, recv, elements, MPI_INTEGER, comm, MPI_INFO_NULL, &
      request, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Pneighbor_xchg_init')
    do round = 1, 2
      recv = -1
      call MPI_Start(request, ierror)
      call expect(ierror == MPI_SUCCESS, 'MPI_Start of partitions')
      do i = 1, count
        flag = .true.
        call MPI_Neighbor_parrived(request, i - 1, 0, flag, ierror)
        call expect(ierror == MPI_SUCCESS .and. (.not. flag .or. from(i) /= rank), 'before all is marked')
      end do
      do part = parts, 1, -1
        do i = 1, count
          send(:, part, i) = value(rank, i, 10 * round + part)
          call MPI_Neighbor_pready(i - 1, part - 1, request, ierror)
          call expect(ierror == MPI_SUCCESS, 'MPI_Neighbor_pready')
        end do
      end do
      do part = 1, parts
        do i = 1, count
          flag = .false.
          do while (.not. flag)
            call MPI_Neighbor_parrived(request, i - 1, part - 1, flag, ierror)
            call expect(ierror == MPI_SUCCESS, 'MPI_Neighbor_parrived')
            if (ierror /= MPI_SUCCESS) exit
          end do
          call expect(all(recv(:, part, i) == value(from(i), slot(i), 10 * round + part)), 'a partition')
        end do
      end do
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call expect(ierror == MPI_SUCCESS, 'MPI_Wait for partitions')
    end do
    call expect(all(recv(:, :, count + 1:) == -1), 'nothing behind the partitions')
    flag = .false.
    if (count > 0) call MPI_Neighbor_parrived(request, 0, 0, flag, ierror)
    call expect(flag .eqv. count > 0, 'not active')
    call MPI_Request_free(request, ierror)
  end subroutine

  subroutine shifted(comm, in_place)
    COMM_TYPE, intent(in) :: comm
    logical, intent(in) :: in_place
    integer, asynchronous :: send(2), recv(2)
    integer :: dimensions, d, disp, source, destination
    REQUEST_TYPE :: request
    call MPI_Cartdim_get(comm, dimensions, ierror)
    do d = 0, dimensions - 1
      do disp = -2, 2
        request = MPI_REQUEST_NULL
        send = [rank, disp]
        recv = [-1, -1]
        if (in_place) recv = send
        call MPI_Cart_shift(comm, d, disp, source, destination, ierror)
        select case (form)
        case (blocking)
          if (in_place) then
            call MPI_Cart_shift_xchg(MPI_IN_PLACE, 2, MPI_INTEGER, recv, 2, MPI_INTEGER, d, disp, comm, ierror)
          else
            call MPI_Cart_shift_xchg(send, 2, MPI_INTEGER, recv, 2, MPI_INTEGER, d, disp, comm, ierror)
          end if
        case (non_blocking)
          if (in_place) then
            call MPI_Icart_shift_xchg(MPI_IN_PLACE, 2, MPI_INTEGER, recv, 2, MPI_INTEGER, d, disp, comm, request, ierror)
          else
            call MPI_Icart_shift_xchg(send, 2, MPI_INTEGER, recv, 2, MPI_INTEGER, d, disp, comm, request, ierror)
          end if
        case (persistent)
          if (in_place) then
            call MPI_Cart_shift_xchg_init(MPI_IN_PLACE, 2, MPI_INTEGER, recv, 2, MPI_INTEGER, d, disp, comm, &
              MPI_INFO_NULL, request, ierror)
          else
            call MPI_Cart_shift_xchg_init(send, 2, MPI_INTEGER, recv, 2, MPI_INTEGER, d, disp, comm, MPI_INFO_NULL, &
              request, ierror)
          end if
        end select
        call expect(ierror == MPI_SUCCESS, 'MPI_Cart_shift_xchg')
        call finish(request, .not. in_place)
        if (source /= MPI_PROC_NULL) call expect(all(recv == [source, disp]), 'what MPI_Cart_shift_xchg brings')
        if (source == MPI_PROC_NULL) call expect(all(recv == merge(send, [-1, -1], in_place)), 'no source, no change')
      end do
    end do
  end subroutine

  subroutine wrong_arguments()
    integer, asynchronous :: a(2, most), b(2, most)
    integer :: n
    logical :: flag
    COMM_TYPE :: ring
    REQUEST_TYPE :: request
    a = rank
    b = -1
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierror)
    call MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN, ierror)
    call MPI_Neighbor_xchg(a, -1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, ierror)
    call expect(ierror == MPI_ERR_COUNT, 'a negative count')
    call MPI_Neighbor_xchg(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, ring, ierror)
    call expect(ierror == MPI_ERR_TYPE, 'no datatype')
    call MPI_Neighbor_xchg(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_ERR_TOPOLOGY, 'no topology')
    call MPI_Neighbor_xchg(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_NULL, ierror)
    call expect(ierror == MPI_ERR_COMM, 'no communicator')
    call MPI_Neighbor_xchg(a, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, ring, ierror)
    call expect(ierror == MPI_ERR_BUFFER, 'MPI_IN_PLACE to receive')
    call MPI_Cart_shift_xchg(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 1, 1, ring, ierror)
    call expect(ierror == MPI_ERR_DIMS, 'a direction that is not there')
    call MPI_Comm_neighbors_count(ring, ranks, n, ierror)
    call expect(ierror == MPI_ERR_RANK, 'a rank that is not there')
    call MPI_Ineighbor_xchg(a, -1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, request, ierror)
    call expect(ierror == MPI_ERR_COUNT .and. request == MPI_REQUEST_NULL, 'a negative count, non-blocking')
    call MPI_Pneighbor_xchg_init(a, 0, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
    call expect(ierror == MPI_ERR_ARG .and. request == MPI_REQUEST_NULL, 'no partitions')
    call MPI_Neighbor_pready(0, 0, request, ierror)
    call expect(ierror == MPI_ERR_REQUEST, 'no request')
    call MPI_Pneighbor_xchg_init(a, 2, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
    call MPI_Neighbor_parrived(request, 0, 2, flag, ierror)
    call expect(ierror == MPI_ERR_ARG, 'a partition that is not there')
    call MPI_Request_free(request, ierror)
    call expect(all(b == -1), 'refused calls receive nothing')
#if !defined(WITH_MPIF_H)
    ! A row is not contiguous: a blocking call takes it, a copy of it would be gone before a non-blocking one ends.
    call MPI_Neighbor_xchg(a(1, 1:2), 1, MPI_INTEGER, b(2, 1:2), 1, MPI_INTEGER, ring, ierror)
    call expect(all(b(2, 1:2) == [modulo(rank + 1, ranks), modulo(rank - 1, ranks)]), 'rows of arrays')
    call MPI_Ineighbor_xchg(a(1, 1:2), 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, request, ierror)
    call expect(ierror == MPI_ERR_BUFFER .and. request == MPI_REQUEST_NULL, 'a row, non-blocking')
    call MPI_Neighbor_xchg_init(a, 1, MPI_INTEGER, b(1, 1:2), 1, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
    call expect(ierror == MPI_ERR_BUFFER, 'a row, persistent')
    call MPI_Pneighbor_xchg_init(a(1, 1:4), 2, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
    call expect(ierror == MPI_ERR_BUFFER, 'a row in partitions')
    b = -1
#endif
#if defined(WITH_MPI_F08)
    call MPI_Neighbor_xchg(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring)
    call MPI_Ineighbor_xchg(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
#else
    call MPI_Neighbor_xchg(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, ierror)
#endif
    call expect(all([b(1, 1), b(2, 1)] == [modulo(rank + 1, ranks), modulo(rank - 1, ranks)]), 'after refused calls')
    call MPI_Comm_free(ring, ierror)
  end subroutine
end program
