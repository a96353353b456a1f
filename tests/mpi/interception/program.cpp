// A program that completes fab's requests in every way there is, on two ranks. It is linked, and started, in all orders
// of fab, MPI and tools; in each, no request may complete before its data is there.
//
// Environment: EXPECT_COMPLETED_BY=mpi where MPI has to complete fab's requests, and persistent exchanges to be
// refused; EXPECT_ONLY_RANK_1_REFUSES=1 where that is so on rank 1 alone; EXPECT_TOOL=1 where tool.c is loaded, and has
// to see calls.
#include <dlfcn.h>

#include "interception.h"

namespace fab::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Ints, Interception, testing::Values(3, 200'000));

TEST_P(Interception, BlockingCalls) {
  for (int round = 0; round < kRounds; ++round) {
    RingExchange exchange(round, GetParam());
    ASSERT_EQ(exchange.run(comm_), MPI_SUCCESS);
    ASSERT_EQ(exchange.wrong(), 0);
  }
}

TEST_P(Interception, Wait) {
  complete_a_mixture([](MPI_Request* requests) {
    MPI_Status status;
    for (int i = 0; i < kRequests; ++i) ASSERT_EQ(MPI_Wait(&requests[i], i % 2 == 0 ? &status : MPI_STATUS_IGNORE), 0);
  });
}

TEST_P(Interception, Test) {
  complete_a_mixture([](MPI_Request* requests) {
    for (int i = 0; i < kRequests; ++i) {
      int flag = 0;
      while (flag == 0) ASSERT_EQ(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  });
}

TEST_P(Interception, Waitall) {
  complete_a_mixture([](MPI_Request* requests) {
    MPI_Status statuses[kRequests];
    ASSERT_EQ(MPI_Waitall(kRequests, requests, statuses), MPI_SUCCESS);
    int count = -1;
    EXPECT_EQ(MPI_Get_count(&statuses[0], MPI_BYTE, &count), MPI_SUCCESS);
    EXPECT_EQ(count, 0);  // an exchange is no message
    EXPECT_EQ(MPI_Get_count(&statuses[1], MPI_INT, &count), MPI_SUCCESS);
    EXPECT_EQ(count, 1);
  });
}

TEST_P(Interception, Testall) {
  complete_a_mixture([](MPI_Request* requests) {
    int flag = 0;
    while (flag == 0) ASSERT_EQ(MPI_Testall(kRequests, requests, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  });
}

TEST_P(Interception, Waitany) {
  complete_a_mixture([](MPI_Request* requests) {
    for (int completed = 0, index = 0; index != MPI_UNDEFINED; ++completed) {
      ASSERT_EQ(MPI_Waitany(kRequests, requests, &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
      ASSERT_TRUE(completed < 4 || index == MPI_UNDEFINED);
    }
  });
}

TEST_P(Interception, Testany) {
  complete_a_mixture([](MPI_Request* requests) {
    int index = 0;
    int flag = 0;
    while (flag == 0 || index != MPI_UNDEFINED)
      ASSERT_EQ(MPI_Testany(kRequests, requests, &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  });
}

TEST_P(Interception, Waitsome) {
  complete_a_mixture([](MPI_Request* requests) {
    int indices[kRequests];
    for (int count = 0; count != MPI_UNDEFINED;)
      ASSERT_EQ(MPI_Waitsome(kRequests, requests, &count, indices, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  });
}

TEST_P(Interception, Testsome) {
  complete_a_mixture([](MPI_Request* requests) {
    int indices[kRequests];
    for (int count = 0; count != MPI_UNDEFINED;)
      ASSERT_EQ(MPI_Testsome(kRequests, requests, &count, indices, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  });
}

TEST_P(Interception, TestIsNotEarly) {
  expect_not_complete_before_the_peer_starts([](MPI_Request* request) {
    int flag = 0;
    EXPECT_EQ(MPI_Test(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return flag != 0;
  });
}

TEST_P(Interception, TestallIsNotEarly) {
  expect_not_complete_before_the_peer_starts([](MPI_Request* request) {
    int flag = 0;
    EXPECT_EQ(MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    return flag != 0;
  });
}

TEST_P(Interception, TestanyIsNotEarly) {
  expect_not_complete_before_the_peer_starts([](MPI_Request* request) {
    int flag = 0;
    int index = 0;
    EXPECT_EQ(MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return flag != 0;
  });
}

TEST_P(Interception, TestsomeIsNotEarly) {
  expect_not_complete_before_the_peer_starts([](MPI_Request* request) {
    int count = 0;
    int index = 0;
    EXPECT_EQ(MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    return count != 0;
  });
}

TEST_P(Interception, GetStatusIsNotEarly) {
  expect_not_complete_before_the_peer_starts([](MPI_Request* request) {
    int flag = 0;
    EXPECT_EQ(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return flag != 0;
  });
}

TEST_P(Interception, GetStatusLeavesTheRequest) {
  RingExchange exchange(1, GetParam());
  MPI_Request request = exchange.start(comm_);
  int flag = 0;
  while (flag == 0) ASSERT_EQ(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(exchange.wrong(), 0);
  EXPECT_NE(request, MPI_REQUEST_NULL);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

TEST_P(Interception, CancelHasNoEffect) {
  RingExchange exchange(1, GetParam());
  MPI_Request request = exchange.start(comm_);
  ASSERT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
  MPI_Status status;
  ASSERT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
  int cancelled = 1;
  EXPECT_EQ(MPI_Test_cancelled(&status, &cancelled), MPI_SUCCESS);
  EXPECT_EQ(cancelled, 0);
  EXPECT_EQ(exchange.wrong(), 0);
}

TEST_P(Interception, FreedRequestsFinishByThemselves) {
  RingExchange exchange(1, GetParam());
  MPI_Request request = exchange.start(comm_);
  ASSERT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  while (exchange.may_be_wrong()) {
    int flag = 0;
    ASSERT_EQ(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  ASSERT_EQ(RingExchange(2, GetParam()).run(comm_), MPI_SUCCESS);  // now fab's thread has let go of the memory
  EXPECT_EQ(exchange.wrong(), 0);
  ASSERT_EQ(MPI_Barrier(comm_), MPI_SUCCESS);
}

// An exchange that both ranks have started goes on in every call of MPI's, from the first exchange on.
TEST_P(Interception, ExchangesGoOnWhileARankReceives) {
  RingExchange exchange(1, GetParam());
  MPI_Request request = exchange.start(comm_);
  int go = 0;
  if (world_rank() == 0) {
    ASSERT_EQ(MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  } else {
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  }
  EXPECT_EQ(exchange.wrong(), 0);
}

TEST_P(Interception, HandlesTravelThroughFortran) {
  RingExchange exchange(1, GetParam());
  MPI_Request request = MPI_Request_f2c(MPI_Request_c2f(exchange.start(comm_)));
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(exchange.wrong(), 0);
}

TEST_P(Interception, CommunicatorMayBeFreedMeanwhile) {
  for (int round = 0; round < kRounds; ++round) {
    RingExchange exchange(round, GetParam());
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const Comm comm = ring();
      request = exchange.start(comm);
    }
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(exchange.wrong(), 0);
  }
}

// Environment: LATE_TOOL, a tool's file. All other tests come later.
TEST(Tool, MayBeLoadedAfterTheFirstExchange) {
  const char* const file = std::getenv("LATE_TOOL");
  if (file == nullptr) GTEST_SKIP() << "no tool that comes later";
  const Comm comm = ring();
  for (int turn = 0; turn < 2; ++turn) {
    RingExchange exchange(turn, 200'000);
    MPI_Request request = exchange.start(comm);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(exchange.wrong(), 0);
    ASSERT_NE(::dlopen(file, RTLD_LAZY | RTLD_GLOBAL), nullptr) << ::dlerror();
  }
}

TEST(Tool, SeesCallsOfMpisOwn) {
  if (std::getenv("LATE_TOOL") != nullptr) GTEST_SKIP() << "one that comes later sees none";
  auto* const calls = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "counting_tool_calls"));
  ASSERT_EQ(calls != nullptr, expects("EXPECT_TOOL", "1"));
  if (calls == nullptr) return;
  const int before = calls();
  OwnMessages own(1);
  ASSERT_EQ(MPI_Waitall(2, own.requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(calls(), before + 1);
}

}  // namespace
}  // namespace fab::test
