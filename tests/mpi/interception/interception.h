// Helpers that the tests of the program (program.cpp) share.
#pragma once

#include <cstdlib>
#include <string>

#include "ring_exchange.h"

namespace fab::test {

[[nodiscard]] inline bool expects(const char* variable, const char* value) {
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

}  // namespace fab::test
