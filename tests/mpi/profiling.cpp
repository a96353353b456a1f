// A profiling library takes MPI_ names over and calls the PMPI_ ones (MPI 4.0, section 15.2).
#include <numeric>

#include "communicators.h"

namespace {

int calls = 0;

}  // namespace

extern "C" {

int MPI_Neighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm) {
  ++calls;
  return PMPI_Neighbor_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Ineighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  ++calls;
  return PMPI_Ineighbor_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}

int MPI_Neighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                       MPI_Comm comm) {
  ++calls;
  return PMPI_Neighbor_xchgv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Ineighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Request* request) {
  ++calls;
  return PMPI_Ineighbor_xchgv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                              request);
}

int MPI_Neighbor_xchgw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                       const MPI_Datatype recvtypes[], MPI_Comm comm) {
  ++calls;
  return PMPI_Neighbor_xchgw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int MPI_Ineighbor_xchgw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  ++calls;
  return PMPI_Ineighbor_xchgw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
                              request);
}

int MPI_Neighbor_xchgw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                            MPI_Request* request) {
  ++calls;
  return PMPI_Neighbor_xchgw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                                  comm, info, request);
}

int MPI_Comm_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  ++calls;
  return PMPI_Comm_neighbors_count(comm, rank, nneighbors);
}

int MPI_Comm_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  ++calls;
  return PMPI_Comm_neighbors(comm, rank, maxneighbors, neighbors);
}

int MPI_Cart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm) {
  ++calls;
  return PMPI_Cart_shift_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, direction, disp, comm);
}

int MPI_Icart_shift_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Request* request) {
  ++calls;
  return PMPI_Icart_shift_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, direction, disp, comm,
                               request);
}

}  // extern "C"

namespace fab::test {
namespace {

class ProfilingTest : public testing::Test {
 protected:
  ProfilingTest() { calls = 0; }

  void expect_neighbors(const std::vector<int>& expected) {
    EXPECT_EQ(recv_, expected);
    recv_ = {-1, -1};
  }
  void wait() { EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_SUCCESS); }

  const Comm comm_ = ring();
  const int right_ = right_of(world_rank());
  const int left_ = left_of(world_rank());
  const std::vector<int> send_{world_rank(), world_rank()};
  std::vector<int> recv_{-1, -1};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

TEST_F(ProfilingTest, EveryCallGoesThroughTheProfilingLibraryOnce) {
  const int counts[] = {1, 1};
  const int displs[] = {0, 1};

  ASSERT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_), MPI_SUCCESS);
  expect_neighbors({right_, left_});
  ASSERT_EQ(MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, &request_), MPI_SUCCESS);
  wait();
  expect_neighbors({right_, left_});
  ASSERT_EQ(MPI_Neighbor_xchgv(send_.data(), counts, displs, MPI_INT, recv_.data(), counts, displs, MPI_INT, comm_),
            MPI_SUCCESS);
  expect_neighbors({right_, left_});
  ASSERT_EQ(MPI_Ineighbor_xchgv(send_.data(), counts, displs, MPI_INT, recv_.data(), counts, displs, MPI_INT, comm_,
                                &request_),
            MPI_SUCCESS);
  wait();
  expect_neighbors({right_, left_});
  EXPECT_EQ(calls, 4);

  ASSERT_EQ(MPI_Cart_shift_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, 0, 1, comm_), MPI_SUCCESS);
  expect_neighbors({left_, -1});
  ASSERT_EQ(MPI_Icart_shift_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, 0, -1, comm_, &request_),
            MPI_SUCCESS);
  wait();
  expect_neighbors({right_, -1});
  EXPECT_EQ(calls, 6);

  int count = 0;
  ASSERT_EQ(MPI_Comm_neighbors_count(comm_, world_rank(), &count), MPI_SUCCESS);
  EXPECT_EQ(count, 2);
  std::vector<int> neighbors(2);
  ASSERT_EQ(MPI_Comm_neighbors(comm_, world_rank(), 2, neighbors.data()), MPI_SUCCESS);
  EXPECT_EQ(neighbors, (std::vector<int>{right_, left_}));
  EXPECT_EQ(calls, 8);

  const MPI_Aint bytes[] = {0, sizeof(int)};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  ASSERT_EQ(MPI_Neighbor_xchgw(send_.data(), counts, bytes, types, recv_.data(), counts, bytes, types, comm_),
            MPI_SUCCESS);
  expect_neighbors({right_, left_});
  ASSERT_EQ(
      MPI_Ineighbor_xchgw(send_.data(), counts, bytes, types, recv_.data(), counts, bytes, types, comm_, &request_),
      MPI_SUCCESS);
  wait();
  expect_neighbors({right_, left_});
  ASSERT_EQ(MPI_Neighbor_xchgw_init(send_.data(), counts, bytes, types, recv_.data(), counts, bytes, types, comm_,
                                    MPI_INFO_NULL, &request_),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Start(&request_), MPI_SUCCESS);
  wait();
  expect_neighbors({right_, left_});
  ASSERT_EQ(MPI_Request_free(&request_), MPI_SUCCESS);
  EXPECT_EQ(calls, 11);
}

}  // namespace
}  // namespace fab::test
