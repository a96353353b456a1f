// A program that completes fab's requests in every way there is, on two ranks. It is linked, and started, in all orders
// of fab, MPI and tools; in each, no request may complete before its data is there.
//
// Environment: EXPECT_COMPLETED_BY=mpi where MPI has to complete fab's requests, and persistent exchanges to be
// refused; EXPECT_TOOL=1 where tool.c is loaded, and has to see calls.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "ring_exchange.h"

namespace fab::test {
namespace {

[[nodiscard]] bool expects(const char* variable, const char* value) {
  const char* const found = std::getenv(variable);
  return found != nullptr && std::string(found) == value;
}

/// One int to the other rank, and one from there, as MPI's own requests.
class OwnMessages {
 public:
  explicit OwnMessages(int tag) : sent_(tag * 100 + world_rank()) {
    const int peer = right_of(world_rank());
    EXPECT_EQ(MPI_Irecv(&received_, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[0]), MPI_SUCCESS);
    EXPECT_EQ(MPI_Isend(&sent_, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &requests[1]), MPI_SUCCESS);
    tag_ = tag;
  }
  [[nodiscard]] bool arrived() const { return received_ == tag_ * 100 + right_of(world_rank()); }

  MPI_Request requests[2];

 private:
  int sent_;
  int received_ = -1;
  int tag_ = 0;
};

/// Parameter: ints in a block.
class Interception : public testing::TestWithParam<int> {
 protected:
  static constexpr int kRounds = 5;
  static constexpr int kRequests = 6;

  void SetUp() override { ASSERT_EQ(world_size(), 2); }

  /// Two exchanges, a null request and MPI's own messages, to be completed by `complete`, which gets them as an array.
  template <class Complete>
  void complete_a_mixture(Complete&& complete) {
    for (int round = 0; round < kRounds; ++round) {
      RingExchange first(2 * round, GetParam());
      RingExchange second(2 * round + 1, GetParam());
      OwnMessages own(round);
      MPI_Request requests[kRequests] = {first.start(comm_), own.requests[0], second.start(comm_),
                                         MPI_REQUEST_NULL,   own.requests[1], MPI_REQUEST_NULL};
      complete(requests);
      ASSERT_EQ(first.wrong(), 0) << "round " << round;
      ASSERT_EQ(second.wrong(), 0) << "round " << round;
      ASSERT_TRUE(own.arrived()) << "round " << round;
      for (const MPI_Request& request : requests) ASSERT_EQ(request, MPI_REQUEST_NULL);
    }
  }

  /// Rank 1 starts an exchange when rank 0, which has started its own, says so: until then `is_complete(request)` must
  /// be false there.
  template <class IsComplete>
  void expect_not_complete_before_the_peer_starts(IsComplete&& is_complete) {
    RingExchange exchange(7, GetParam());
    MPI_Request request = MPI_REQUEST_NULL;
    int go = 0;
    if (world_rank() == 0) {
      request = exchange.start(comm_);
      for (int look = 0; look < 100; ++look) ASSERT_FALSE(is_complete(&request)) << "look " << look;
      ASSERT_EQ(MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
      ASSERT_EQ(MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
      request = exchange.start(comm_);
    }
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(exchange.wrong(), 0);
  }

  const Comm comm_ = ring();
};

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
  while (exchange.wrong() > 0) {
    int flag = 0;
    ASSERT_EQ(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  ASSERT_EQ(MPI_Barrier(comm_), MPI_SUCCESS);
}

// What both ranks have started goes on in whatever call of MPI's its rank is, from the first exchange on.
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

TEST_P(Interception, PersistentExchangesTransferOrAreRefused) {
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

TEST(Tool, SeesCallsOfMpisOwn) {
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
