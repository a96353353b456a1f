// Persistent exchanges of the program (program.cpp): they transfer, or a rank refuses them and its peers learn of it.
#include <gmock/gmock.h>

#include "interception.h"

namespace fab::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Persistent = Interception;
INSTANTIATE_TEST_SUITE_P(Ints, Persistent, testing::Values(3, 200'000));

TEST_P(Persistent, ExchangesTransferOrAreRefused) {
  if (expects("EXPECT_ONLY_RANK_1_REFUSES", "1"))
    GTEST_SKIP() << "the other rank refuses its start: RefusedByAPeer looks at that";
  RingExchange exchange(0, GetParam());
  MPI_Request request = MPI_REQUEST_NULL;
  if (expects("EXPECT_COMPLETED_BY", "mpi")) {
    ASSERT_EQ(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), MPI_SUCCESS);
    EXPECT_EQ(exchange.make(comm_, &request), MPI_ERR_OTHER);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    return;
  }
  ASSERT_EQ(exchange.make(comm_, &request), MPI_SUCCESS);
  for (int round = 0; round < 2 * kRounds; ++round) {
    exchange.renumber(round);
    if (round % 2 == 0)
      ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    else
      ASSERT_EQ(MPI_Startall(1, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(exchange.wrong(), 0) << "round " << round;
  }
  ASSERT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

/// A way to complete one request; returns the error class of its exchange.
struct Way {
  const char* name;
  int (*complete)(MPI_Request*);
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

int error_in(const MPI_Status& status, int code) { return code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code; }

const Way kWays[] = {
    {"wait", [](MPI_Request* request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }},
    {"waitall",
     [](MPI_Request* request) {
       MPI_Status status;
       const int code = MPI_Waitall(1, request, &status);
       return error_in(status, code);
     }},
    {"test",
     [](MPI_Request* request) {
       int code = MPI_SUCCESS;
       for (int flag = 0; flag == 0 && code == MPI_SUCCESS;) code = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
       return code;
     }},
    {"testall",
     [](MPI_Request* request) {
       MPI_Status status;
       int code = MPI_SUCCESS;
       for (int flag = 0; flag == 0 && code == MPI_SUCCESS;) code = MPI_Testall(1, request, &flag, &status);
       return error_in(status, code);
     }},
    {"testany",
     [](MPI_Request* request) {
       int code = MPI_SUCCESS;
       int index = 0;
       for (int flag = 0; flag == 0 && code == MPI_SUCCESS;)
         code = MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
       return code;
     }},
    {"testsome",
     [](MPI_Request* request) {
       MPI_Status status;
       int code = MPI_SUCCESS;
       int index = 0;
       for (int count = 0; count == 0 && code == MPI_SUCCESS;) code = MPI_Testsome(1, request, &count, &index, &status);
       return error_in(status, code);
     }},
    {"get_status",
     [](MPI_Request* request) {
       int code = MPI_SUCCESS;
       for (int flag = 0; flag == 0 && code == MPI_SUCCESS;)
         code = MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
       return MPI_Wait(request, MPI_STATUS_IGNORE);
     }},
};

class RefusedByAPeer : public testing::TestWithParam<Way> {
 protected:
  const Comm comm_ = ring();
};
INSTANTIATE_TEST_SUITE_P(Ways, RefusedByAPeer, testing::ValuesIn(kWays));

// Only the other rank's calls pass fab by. It says so to none but who waits for it, and is in calls of MPI's meanwhile.
TEST_P(RefusedByAPeer, EndsWithItsReason) {
  const bool refuses = expects("EXPECT_COMPLETED_BY", "mpi");
  if (!expects("EXPECT_ONLY_RANK_1_REFUSES", "1")) GTEST_SKIP() << "the ranks are alike";
  ASSERT_EQ(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), MPI_SUCCESS);
  RingExchange exchange(0, 100);
  MPI_Request request = MPI_REQUEST_NULL;
  if (refuses) {
    ASSERT_EQ(exchange.make(comm_, &request), MPI_ERR_OTHER);
  } else {
    ASSERT_EQ(exchange.make(comm_, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    testing::internal::CaptureStderr();
    const int code = GetParam().complete(&request);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, MPI_ERR_OTHER);
    EXPECT_THAT(log,
                AllOf(HasSubstr("MPI_Neighbor_xchg_init: "), HasSubstr("rank 1 of the job has refused this call: "),
                      HasSubstr("a persistent exchange could not be started. Remedy: ")));
    EXPECT_TRUE(exchange.untouched());
    ASSERT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  }
  ASSERT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
  exchange.renumber(1);
  ASSERT_EQ(exchange.run(comm_), MPI_SUCCESS);
  EXPECT_EQ(exchange.wrong(), 0);
}

}  // namespace
}  // namespace fab::test
