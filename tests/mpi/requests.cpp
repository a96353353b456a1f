// Requests of exchanges in every completion call, alone and in one array with MPI's own requests.
#include <algorithm>
#include <array>
#include <memory>

#include "communicators.h"

namespace fab::test {
namespace {

constexpr int kCount = 500;  ///< ints in a block

/// An exchange on a ring that checks what it got.
class RingExchange {
 public:
  explicit RingExchange(int tag, int count = kCount)
      : tag_(tag),
        count_(count),
        send_(2 * static_cast<std::size_t>(count), value(world_rank())),
        recv_(send_.size(), -1) {}

  [[nodiscard]] MPI_Request start(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Ineighbor_xchg(send_.data(), count_, MPI_INT, recv_.data(), count_, MPI_INT, comm, &request),
              MPI_SUCCESS);
    return request;
  }
  [[nodiscard]] bool arrived() const {
    const auto middle = recv_.begin() + count_;
    const auto all = [](auto begin, auto end, int wanted) {
      return std::all_of(begin, end, [wanted](int got) { return got == wanted; });
    };
    return all(recv_.begin(), middle, value(right_of(world_rank()))) &&
           all(middle, recv_.end(), value(left_of(world_rank())));
  }

 private:
  [[nodiscard]] int value(int rank) const { return tag_ * 1000 + rank; }

  int tag_;
  int count_;
  std::vector<int> send_;
  std::vector<int> recv_;
};

/// An array of requests: exchanges, MPI's own messages along the ring, and inactive ones.
class Mixture : public testing::Test {
 protected:
  static constexpr int kExchanges = 3;
  static constexpr int kRequests = 2 * kExchanges + 3;

  void SetUp() override {
    int at = 0;
    for (int i = 0; i < kExchanges; ++i) {
      requests_[at++] = exchanges_.emplace_back(std::make_unique<RingExchange>(i))->start(comm_);
      requests_[at++] = receive(i);
    }
    requests_[at++] = MPI_REQUEST_NULL;
    requests_[at++] = send_request();
    ASSERT_EQ(MPI_Recv_init(&unused_, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &inactive_), MPI_SUCCESS);
    requests_[at] = inactive_;
  }
  void TearDown() override {
    for (const auto& exchange : exchanges_) EXPECT_TRUE(exchange->arrived());
    for (const int got : received_) EXPECT_EQ(got, left_of(world_rank()));
    for (int i = 0; i < kRequests - 1; ++i) EXPECT_EQ(requests_[i], MPI_REQUEST_NULL) << i;
    EXPECT_EQ(requests_[kRequests - 1], inactive_);
    EXPECT_EQ(MPI_Request_free(&inactive_), MPI_SUCCESS);
  }

  /// Requests that were completed, to be found complete once each.
  void mark(int index) {
    ASSERT_GE(index, 0);
    ASSERT_LT(index, kRequests);
    ++completed_[static_cast<std::size_t>(index)];
  }
  void expect_each_completed_once() const {
    for (int i = 0; i < kRequests; ++i) {
      const bool active = i < 2 * kExchanges || i == 2 * kExchanges + 1;
      EXPECT_EQ(completed_[static_cast<std::size_t>(i)], active ? 1 : 0) << i;
    }
  }

  Comm comm_ = ring();
  std::vector<std::unique_ptr<RingExchange>> exchanges_;
  MPI_Request requests_[kRequests];
  MPI_Status statuses_[kRequests];

 private:
  MPI_Request receive(int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Irecv(&received_[static_cast<std::size_t>(tag)], 1, MPI_INT, left_of(world_rank()), tag,
                        MPI_COMM_WORLD, &request),
              MPI_SUCCESS);
    return request;
  }
  // All but the last are sent at once.
  MPI_Request send_request() {
    for (int tag = 0; tag < kExchanges - 1; ++tag)
      EXPECT_EQ(MPI_Send(&rank_, 1, MPI_INT, right_of(rank_), tag, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Isend(&rank_, 1, MPI_INT, right_of(rank_), kExchanges - 1, MPI_COMM_WORLD, &request), MPI_SUCCESS);
    return request;
  }

  int rank_ = world_rank();
  int unused_ = 0;
  std::array<int, kExchanges> received_{};
  std::array<int, kRequests> completed_{};
  MPI_Request inactive_ = MPI_REQUEST_NULL;
};

TEST_F(Mixture, Waitall) { EXPECT_EQ(MPI_Waitall(kRequests, requests_, statuses_), MPI_SUCCESS); }

TEST_F(Mixture, WaitallIgnoringStatuses) {
  EXPECT_EQ(MPI_Waitall(kRequests, requests_, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

TEST_F(Mixture, Testall) {
  int flag = 0;
  while (flag == 0) ASSERT_EQ(MPI_Testall(kRequests, requests_, &flag, statuses_), MPI_SUCCESS);
}

TEST_F(Mixture, Wait) {
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(MPI_Wait(&requests_[i], &statuses_[i]), MPI_SUCCESS) << i;
}

TEST_F(Mixture, WaitBackwards) {
  for (int i = kRequests; i-- > 0;) EXPECT_EQ(MPI_Wait(&requests_[i], MPI_STATUS_IGNORE), MPI_SUCCESS) << i;
}

TEST_F(Mixture, Test) {
  for (int i = 0; i < kRequests; ++i) {
    int flag = 0;
    while (flag == 0) ASSERT_EQ(MPI_Test(&requests_[i], &flag, &statuses_[i]), MPI_SUCCESS) << i;
  }
}

TEST_F(Mixture, Waitany) {
  int index = -1;
  while (true) {
    ASSERT_EQ(MPI_Waitany(kRequests, requests_, &index, statuses_), MPI_SUCCESS);
    if (index == MPI_UNDEFINED) break;
    mark(index);
  }
  expect_each_completed_once();
}

TEST_F(Mixture, Testany) {
  int index = -1;
  int flag = 0;
  while (true) {
    ASSERT_EQ(MPI_Testany(kRequests, requests_, &index, &flag, statuses_), MPI_SUCCESS);
    if (flag == 0) continue;
    if (index == MPI_UNDEFINED) break;
    mark(index);
  }
  expect_each_completed_once();
}

TEST_F(Mixture, Waitsome) {
  int count = 0;
  int indices[kRequests];
  while (true) {
    ASSERT_EQ(MPI_Waitsome(kRequests, requests_, &count, indices, statuses_), MPI_SUCCESS);
    if (count == MPI_UNDEFINED) break;
    EXPECT_GT(count, 0);
    for (int k = 0; k < count; ++k) mark(indices[k]);
  }
  expect_each_completed_once();
}

TEST_F(Mixture, Testsome) {
  int count = 0;
  int indices[kRequests];
  while (true) {
    ASSERT_EQ(MPI_Testsome(kRequests, requests_, &count, indices, statuses_), MPI_SUCCESS);
    if (count == MPI_UNDEFINED) break;
    for (int k = 0; k < count; ++k) mark(indices[k]);
  }
  expect_each_completed_once();
}

TEST_F(Mixture, GetStatusLeavesTheRequests) {
  for (int i = 0; i < 2 * kExchanges; ++i) {
    int flag = 0;
    while (flag == 0) ASSERT_EQ(MPI_Request_get_status(requests_[i], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_NE(requests_[i], MPI_REQUEST_NULL);
  }
  EXPECT_EQ(MPI_Waitall(kRequests, requests_, statuses_), MPI_SUCCESS);
}

TEST_F(Mixture, FortranHandlesAreTheSameRequests) {
  for (MPI_Request& request : requests_) request = MPI_Request_f2c(MPI_Request_c2f(request));
  EXPECT_EQ(MPI_Waitall(kRequests, requests_, statuses_), MPI_SUCCESS);
}

TEST(RequestTest, StatusIsThatOfAnEmptyMessage) {
  const Comm comm = ring();
  RingExchange exchange(1);
  MPI_Request request = exchange.start(comm);
  MPI_Status status;
  ASSERT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
  int count = -1;
  int cancelled = -1;
  EXPECT_EQ(MPI_Get_count(&status, MPI_BYTE, &count), MPI_SUCCESS);
  EXPECT_EQ(MPI_Test_cancelled(&status, &cancelled), MPI_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cancelled, 0);
}

TEST(RequestTest, CancelDoesNothing) {
  const Comm comm = ring();
  RingExchange exchange(2);
  MPI_Request request = exchange.start(comm);
  EXPECT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
  MPI_Status status;
  ASSERT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
  int cancelled = -1;
  EXPECT_EQ(MPI_Test_cancelled(&status, &cancelled), MPI_SUCCESS);
  EXPECT_EQ(cancelled, 0);
  EXPECT_TRUE(exchange.arrived());
}

TEST(RequestTest, FreedRequestFinishesByItself) {
  const Comm comm = ring();
  std::vector<std::unique_ptr<RingExchange>> exchanges;
  for (int i = 0; i < 5; ++i) {
    MPI_Request request = exchanges.emplace_back(std::make_unique<RingExchange>(i, 20'000))->start(comm);
    ASSERT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  }
  // Exchanges of one communicator may complete in any order, so every one is looked for.
  RingExchange last(9);
  MPI_Request request = last.start(comm);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  for (const auto& exchange : exchanges)
    while (!exchange->arrived()) {
      int flag = 0;
      MPI_Request other = MPI_REQUEST_NULL;
      ASSERT_EQ(MPI_Test(&other, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  ASSERT_EQ(MPI_Barrier(comm), MPI_SUCCESS);
}

TEST(RequestTest, AHundredExchangesAreOutstanding) {
  const Comm comm = ring();
  constexpr int kOutstanding = 100;
  std::vector<std::unique_ptr<RingExchange>> exchanges;
  std::vector<MPI_Request> requests;
  for (int i = 0; i < kOutstanding; ++i)
    requests.push_back(exchanges.emplace_back(std::make_unique<RingExchange>(i, 1 + i * 40))->start(comm));
  ASSERT_EQ(MPI_Waitall(kOutstanding, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (const auto& exchange : exchanges) EXPECT_TRUE(exchange->arrived());
}

TEST(RequestTest, CommunicatorMayBeFreedMeanwhile) {
  std::vector<std::unique_ptr<RingExchange>> exchanges;
  std::vector<MPI_Request> requests;
  for (int i = 0; i < 5; ++i) {
    Comm comm = ring();
    requests.push_back(exchanges.emplace_back(std::make_unique<RingExchange>(i))->start(comm));
  }
  ASSERT_EQ(MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (const auto& exchange : exchanges) EXPECT_TRUE(exchange->arrived());
}

TEST(RequestTest, DatatypeMayBeFreedMeanwhile) {
  const Comm comm = ring();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_vector(2000, 1, 3, MPI_INT, &column), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_commit(&column), MPI_SUCCESS);
  const std::vector<int> send(2 * 6000, world_rank());
  std::vector<int> recv(send.size(), -1);
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Ineighbor_xchg(send.data(), 1, column, recv.data(), 1, column, comm, &request), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_free(&column), MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(recv[0], right_of(world_rank()));
  EXPECT_EQ(recv[1], -1);
  EXPECT_EQ(recv[5997], right_of(world_rank()));
  EXPECT_EQ(recv[5998], left_of(world_rank()));  // block 1 starts one extent on
}

}  // namespace
}  // namespace fab::test
