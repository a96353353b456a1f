// Calls with wrong arguments, which all ranks make alike, under the drop-in library: the error class and the calls of
// the user's error handler are those of MPI itself (which accepts some of them), and the communicator can be used
// afterwards.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "init_of.h"
#include "mpi_itself.h"

namespace fab::test {

namespace {

constexpr int kMostRanks = 16;

/// What a call came to.
struct Outcome {
  int error_class = MPI_SUCCESS;
  std::vector<int> handled;  ///< error classes that the user's handler was called with

  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  stream << "error class " << outcome.error_class << ", handled:";
  for (const int each : outcome.handled) stream << ' ' << each;
  return stream;
}

std::vector<int> handled;
int class_of(int code) {
  int error_class = MPI_ERR_UNKNOWN;
  EXPECT_EQ(MPI_Error_class(code, &error_class), MPI_SUCCESS);
  return error_class;
}
void handle(MPI_Comm*, int* code, ...) { handled.push_back(class_of(*code)); }

class Errors : public testing::Test {
 protected:
  Errors() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    EXPECT_LE(ranks_, kMostRanks);
    const int periodic = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks_, &periodic, 0, &grid_);
    MPI_Comm_create_errhandler(handle, &handler_);
    for (MPI_Comm comm : {comm_, grid_, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(comm, handler_);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted_);
    counts_.fill(1);
    negative_.fill(-1);
    for (int i = 0; i < kMostRanks; ++i) places_.at(static_cast<std::size_t>(i)) = i;
    types_.fill(MPI_INT);
    null_types_.fill(MPI_DATATYPE_NULL);
  }
  ~Errors() override {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler_);
    MPI_Type_free(&uncommitted_);
    MPI_Comm_free(&grid_);
    MPI_Comm_free(&comm_);
  }

  /// `call` under the program's name comes to what `itself` comes to, with the user's handler and where errors are only
  /// returned.
  void compare(const std::function<int()>& itself, const std::function<int()>& call, MPI_Comm comm) {
    const Outcome expected = outcome_of(itself);
    EXPECT_EQ(outcome_of(call), expected);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const Outcome returned = outcome_of(itself);
    EXPECT_EQ(outcome_of(call), returned);
    MPI_Comm_set_errhandler(comm, handler_);
    expect_usable(comm);
  }

  Outcome outcome_of(const std::function<int()>& call) {
    handled.clear();
    request_ = MPI_REQUEST_NULL;
    const int code = call();
    if (code != MPI_SUCCESS) return {class_of(code), handled};
    EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (request_ != MPI_REQUEST_NULL) {  // a persistent one
      EXPECT_EQ(MPI_Request_free(&request_), MPI_SUCCESS);
    }
    return {class_of(code), handled};
  }

  void expect_usable(MPI_Comm comm) {
    int sum = 1;
    EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(sum, ranks_);
  }

  int rank_ = 0;
  int ranks_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm grid_ = MPI_COMM_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
  MPI_Datatype uncommitted_ = MPI_DATATYPE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<int, kMostRanks> a_{};
  std::array<int, kMostRanks> b_{};
  std::array<int, kMostRanks> counts_{};
  std::array<int, kMostRanks> negative_{};
  std::array<int, kMostRanks> places_{};
  std::array<MPI_Aint, kMostRanks> long_places_{};
  std::array<MPI_Datatype, kMostRanks> types_{};
  std::array<MPI_Datatype, kMostRanks> null_types_{};
};

#define COMPARE_ERRORS(function, arguments, comm)                                                         \
  do {                                                                                                    \
    SCOPED_TRACE(#function #arguments);                                                                   \
    compare([&] { return MPI_ITSELF(function) arguments; }, [&] { return function arguments; }, comm);    \
    compare([&] { return MPI_ITSELF(function) arguments; }, [&] { return P##function arguments; }, comm); \
  } while (false)

// The name itself is a macro.
#define MPI_ITSELF_AS(function) MPI_ITSELF(function)
#define COMPARE_INIT_ERRORS(Name, arguments, comm)                                                                  \
  do {                                                                                                              \
    SCOPED_TRACE(#Name "_init" #arguments);                                                                         \
    compare([&] { return MPI_ITSELF_AS(INIT_OF(Name)) arguments; }, [&] { return INIT_OF(Name) arguments; }, comm); \
  } while (false)

TEST_F(Errors, AreErrors) {
  const Outcome one_of_counts{MPI_ERR_COUNT, {MPI_ERR_COUNT}};
  EXPECT_EQ(outcome_of([this] { return MPI_Bcast(a_.data(), -1, MPI_INT, 0, comm_); }), one_of_counts);
  const Outcome one_of_operations{MPI_ERR_OP, {MPI_ERR_OP}};
  EXPECT_EQ(outcome_of([this] { return MPI_Allreduce(a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, comm_); }),
            one_of_operations);
}

// A program in Fortran may hand over any number. MPI must not be asked about what is no handle: it would tell the error
// handler of MPI_COMM_WORLD. Reductions are left out: Open MPI 4.1 itself crashes there.
TEST_F(Errors, NumbersThatAreNoHandles) {
  const MPI_Datatype no_type = MPI_Type_f2c(9999);
  const MPI_Comm no_comm = MPI_Comm_f2c(9999);
  COMPARE_ERRORS(MPI_Bcast, (a_.data(), 1, no_type, 0, comm_), comm_);
  COMPARE_ERRORS(MPI_Ibcast, (a_.data(), 1, no_type, 0, comm_, &request_), comm_);
  COMPARE_ERRORS(MPI_Allgather, (a_.data(), 1, no_type, b_.data(), 1, no_type, comm_), comm_);
  COMPARE_ERRORS(
      MPI_Alltoallv,
      (a_.data(), counts_.data(), places_.data(), no_type, b_.data(), counts_.data(), places_.data(), no_type, comm_),
      comm_);
  COMPARE_ERRORS(MPI_Neighbor_alltoall, (a_.data(), 1, no_type, b_.data(), 1, no_type, grid_), grid_);
  COMPARE_ERRORS(MPI_Bcast, (a_.data(), 1, MPI_INT, 0, no_comm), comm_);
  COMPARE_ERRORS(MPI_Iallreduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_SUM, no_comm, &request_), comm_);
  COMPARE_ERRORS(MPI_Barrier, (no_comm), comm_);
  types_.fill(no_type);
  COMPARE_ERRORS(MPI_Alltoallw,
                 (a_.data(), counts_.data(), places_.data(), types_.data(), b_.data(), counts_.data(), places_.data(),
                  types_.data(), comm_),
                 comm_);
  COMPARE_ERRORS(MPI_Neighbor_alltoallw,
                 (a_.data(), counts_.data(), long_places_.data(), types_.data(), b_.data(), counts_.data(),
                  long_places_.data(), types_.data(), grid_),
                 grid_);
}

TEST_F(Errors, NegativeCounts) {
  COMPARE_ERRORS(MPI_Bcast, (a_.data(), -1, MPI_INT, 0, comm_), comm_);
  COMPARE_ERRORS(MPI_Allreduce, (a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Reduce, (a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, 0, comm_), comm_);
  COMPARE_ERRORS(MPI_Scan, (a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Exscan, (a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Reduce_scatter, (a_.data(), b_.data(), negative_.data(), MPI_INT, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Reduce_scatter_block, (a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Gather, (a_.data(), -1, MPI_INT, b_.data(), 1, MPI_INT, 0, comm_), comm_);
  COMPARE_ERRORS(MPI_Scatter, (a_.data(), 1, MPI_INT, b_.data(), -1, MPI_INT, 0, comm_), comm_);
  COMPARE_ERRORS(MPI_Allgather, (a_.data(), -1, MPI_INT, b_.data(), 1, MPI_INT, comm_), comm_);
  COMPARE_ERRORS(MPI_Allgather, (a_.data(), 1, MPI_INT, b_.data(), -1, MPI_INT, comm_), comm_);
  COMPARE_ERRORS(MPI_Alltoall, (a_.data(), 1, MPI_INT, b_.data(), -1, MPI_INT, comm_), comm_);
  COMPARE_ERRORS(
      MPI_Alltoallv,
      (a_.data(), negative_.data(), places_.data(), MPI_INT, b_.data(), counts_.data(), places_.data(), MPI_INT, comm_),
      comm_);
  COMPARE_ERRORS(MPI_Neighbor_allgather, (a_.data(), -1, MPI_INT, b_.data(), 1, MPI_INT, grid_), grid_);
  COMPARE_ERRORS(MPI_Neighbor_alltoall, (a_.data(), 1, MPI_INT, b_.data(), -1, MPI_INT, grid_), grid_);
}

TEST_F(Errors, NegativeCountsOfRequests) {
  COMPARE_ERRORS(MPI_Ibcast, (a_.data(), -1, MPI_INT, 0, comm_, &request_), comm_);
  COMPARE_ERRORS(MPI_Iallreduce, (a_.data(), b_.data(), -1, MPI_INT, MPI_SUM, comm_, &request_), comm_);
  COMPARE_ERRORS(MPI_Ialltoall, (a_.data(), 1, MPI_INT, b_.data(), -1, MPI_INT, comm_, &request_), comm_);
  COMPARE_ERRORS(MPI_Ineighbor_alltoall, (a_.data(), 1, MPI_INT, b_.data(), -1, MPI_INT, grid_, &request_), grid_);
}

#if !defined(MPICH_VERSION)  // it ends the process for some of them
TEST_F(Errors, OfPersistentCalls) {
  for (const int count : {-1, 1}) {
    MPI_Datatype type = count < 0 ? MPI_INT : MPI_DATATYPE_NULL;
    COMPARE_INIT_ERRORS(Bcast, (a_.data(), count, type, 0, comm_, MPI_INFO_NULL, &request_), comm_);
    COMPARE_INIT_ERRORS(Allreduce, (a_.data(), b_.data(), count, type, MPI_SUM, comm_, MPI_INFO_NULL, &request_),
                        comm_);
    COMPARE_INIT_ERRORS(Allgather, (a_.data(), 1, MPI_INT, b_.data(), count, type, comm_, MPI_INFO_NULL, &request_),
                        comm_);
    COMPARE_INIT_ERRORS(Alltoall, (a_.data(), 1, MPI_INT, b_.data(), count, type, comm_, MPI_INFO_NULL, &request_),
                        comm_);
    COMPARE_INIT_ERRORS(Neighbor_alltoall,
                        (a_.data(), 1, MPI_INT, b_.data(), count, type, grid_, MPI_INFO_NULL, &request_), grid_);
  }
  COMPARE_INIT_ERRORS(Bcast, (a_.data(), 1, MPI_INT, ranks_, comm_, MPI_INFO_NULL, &request_), comm_);
  COMPARE_INIT_ERRORS(Allreduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, comm_, MPI_INFO_NULL, &request_),
                      comm_);
  COMPARE_INIT_ERRORS(Reduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_SUM, -1, comm_, MPI_INFO_NULL, &request_), comm_);
}
#endif

TEST_F(Errors, Datatypes) {
  for (MPI_Datatype type : {MPI_Datatype{MPI_DATATYPE_NULL}, uncommitted_}) {
    SCOPED_TRACE(type == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "not committed");
    COMPARE_ERRORS(MPI_Bcast, (a_.data(), 1, type, 0, comm_), comm_);
    COMPARE_ERRORS(MPI_Ibcast, (a_.data(), 1, type, 0, comm_, &request_), comm_);
    COMPARE_ERRORS(MPI_Gather, (a_.data(), 1, type, b_.data(), 1, type, 0, comm_), comm_);
    COMPARE_ERRORS(MPI_Allgather, (a_.data(), 1, MPI_INT, b_.data(), 1, type, comm_), comm_);
    COMPARE_ERRORS(MPI_Alltoall, (a_.data(), 1, MPI_INT, b_.data(), 1, type, comm_), comm_);
    COMPARE_ERRORS(
        MPI_Alltoallv,
        (a_.data(), counts_.data(), places_.data(), MPI_INT, b_.data(), counts_.data(), places_.data(), type, comm_),
        comm_);
    COMPARE_ERRORS(MPI_Neighbor_alltoall, (a_.data(), 1, MPI_INT, b_.data(), 1, type, grid_), grid_);
  }
  COMPARE_ERRORS(MPI_Allreduce, (a_.data(), b_.data(), 1, MPI_DATATYPE_NULL, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Alltoallw,
                 (a_.data(), counts_.data(), places_.data(), types_.data(), b_.data(), counts_.data(), places_.data(),
                  null_types_.data(), comm_),
                 comm_);
  COMPARE_ERRORS(MPI_Neighbor_alltoallw,
                 (a_.data(), counts_.data(), long_places_.data(), types_.data(), b_.data(), counts_.data(),
                  long_places_.data(), null_types_.data(), grid_),
                 grid_);
}

TEST_F(Errors, Operations) {
  COMPARE_ERRORS(MPI_Allreduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, comm_), comm_);
  COMPARE_ERRORS(MPI_Iallreduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, comm_, &request_), comm_);
  COMPARE_ERRORS(MPI_Reduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, 0, comm_), comm_);
  COMPARE_ERRORS(MPI_Scan, (a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, comm_), comm_);
  COMPARE_ERRORS(MPI_Reduce_scatter_block, (a_.data(), b_.data(), 1, MPI_INT, MPI_OP_NULL, comm_), comm_);
  // Not defined for this type (MPI-4.1, 6.9.2).
  COMPARE_ERRORS(MPI_Allreduce, (a_.data(), b_.data(), 1, MPI_DOUBLE, MPI_BAND, comm_), comm_);
}

TEST_F(Errors, Roots) {
  for (const int root : {-1, ranks_, ranks_ + 100}) {
    SCOPED_TRACE(root);
    COMPARE_ERRORS(MPI_Bcast, (a_.data(), 1, MPI_INT, root, comm_), comm_);
    COMPARE_ERRORS(MPI_Ibcast, (a_.data(), 1, MPI_INT, root, comm_, &request_), comm_);
    COMPARE_ERRORS(MPI_Gather, (a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, root, comm_), comm_);
    COMPARE_ERRORS(MPI_Scatter, (a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, root, comm_), comm_);
    COMPARE_ERRORS(MPI_Reduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_SUM, root, comm_), comm_);
    COMPARE_ERRORS(MPI_Gatherv,
                   (a_.data(), 1, MPI_INT, b_.data(), counts_.data(), places_.data(), MPI_INT, root, comm_), comm_);
  }
}

TEST_F(Errors, InPlace) {
  COMPARE_ERRORS(MPI_Allreduce, (a_.data(), MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm_), comm_);
  COMPARE_ERRORS(MPI_Allgather, (a_.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm_), comm_);
  COMPARE_ERRORS(MPI_Alltoall, (a_.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm_), comm_);
  COMPARE_ERRORS(MPI_Neighbor_allgather, (MPI_IN_PLACE, 1, MPI_INT, b_.data(), 1, MPI_INT, grid_), grid_);
  COMPARE_ERRORS(MPI_Neighbor_alltoall, (MPI_IN_PLACE, 1, MPI_INT, b_.data(), 1, MPI_INT, grid_), grid_);
}

TEST_F(Errors, Communicators) {
  COMPARE_ERRORS(MPI_Neighbor_alltoall, (a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, comm_), comm_);
  COMPARE_ERRORS(MPI_Ineighbor_allgather, (a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, comm_, &request_), comm_);
  COMPARE_ERRORS(MPI_Barrier, (MPI_COMM_NULL), MPI_COMM_WORLD);
  COMPARE_ERRORS(MPI_Bcast, (a_.data(), 1, MPI_INT, 0, MPI_COMM_NULL), MPI_COMM_WORLD);
  COMPARE_ERRORS(MPI_Iallreduce, (a_.data(), b_.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_NULL, &request_), MPI_COMM_WORLD);
  COMPARE_ERRORS(MPI_Neighbor_alltoall, (a_.data(), 1, MPI_INT, b_.data(), 1, MPI_INT, MPI_COMM_NULL), MPI_COMM_WORLD);
}

}  // namespace

}  // namespace fab::test
