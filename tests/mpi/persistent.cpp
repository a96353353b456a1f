// Persistent exchanges: MPI_Start and every completion call, alone and mixed with other requests.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "communicators.h"
#include "support/comes_true.h"
#include "support/peek.h"

namespace fab::test {
namespace {

/// A persistent exchange on a ring.
class Ring {
 public:
  Ring(MPI_Comm comm, int number, int count)
      : number_(number), count_(count), send_(2 * static_cast<std::size_t>(count)), recv_(send_.size()) {
    EXPECT_EQ(MPI_Neighbor_xchg_init(send_.data(), count, MPI_INT, recv_.data(), count, MPI_INT, comm, MPI_INFO_NULL,
                                     &request),
              MPI_SUCCESS);
    EXPECT_NE(request, MPI_REQUEST_NULL);
  }
  ~Ring() {
    if (request != MPI_REQUEST_NULL) {
      EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
      EXPECT_EQ(request, MPI_REQUEST_NULL);
    }
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  void fill(int iteration) {
    iteration_ = iteration;
    std::ranges::fill(send_, value(world_rank()));
    std::ranges::fill(recv_, -1);
  }
  void start(int iteration) {
    fill(iteration);
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
  }
  [[nodiscard]] bool arrived() const {
    for (std::size_t i = 0; i < recv_.size(); ++i)
      if (recv_[i] != value(i < static_cast<std::size_t>(count_) ? right_of(world_rank()) : left_of(world_rank())))
        return false;
    return true;
  }

  /// The ends of both blocks are there; for one that is in flight.
  [[nodiscard]] bool is_arriving() const {
    return peek(recv_[static_cast<std::size_t>(count_) - 1]) == value(right_of(world_rank())) &&
           peek(recv_.back()) == value(left_of(world_rank()));
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  [[nodiscard]] int value(int rank) const { return iteration_ * 1000 + number_ * 100 + rank; }

  int number_;
  int count_;
  int iteration_ = 0;
  std::vector<int> send_;
  std::vector<int> recv_;
};

/// Two persistent exchanges, an ordinary one, a receive and a persistent receive of MPI's, an inactive exchange, and a
/// null request: completed by any call, again and again.
class PersistentMixture : public testing::Test {
 protected:
  static constexpr int kRequests = 7;

  void SetUp() override {
    ASSERT_EQ(MPI_Recv_init(&from_left_, 1, MPI_INT, left_of(world_rank()), 2, MPI_COMM_WORLD, &receive_), MPI_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(MPI_Request_free(&receive_), MPI_SUCCESS); }

  void run(const std::function<void()>& complete) {
    for (int iteration = 0; iteration < 6; ++iteration) {
      start(iteration);
      complete();
      check();
    }
  }

  std::array<MPI_Request, kRequests> requests_{};
  std::array<MPI_Status, kRequests> statuses_{};

 private:
  void start(int iteration) {
    mine_ = iteration * 1000 + world_rank();
    both_ = {mine_, mine_};
    from_left_ = early_ = -1;
    theirs_ = {-1, -1};
    small_.fill(iteration);
    large_.fill(iteration);
    std::array<MPI_Request, 3> started = {large_.request, receive_, small_.request};
    ASSERT_EQ(MPI_Startall(3, started.data()), MPI_SUCCESS);
    MPI_Request ordinary = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Ineighbor_xchg(both_.data(), 1, MPI_INT, theirs_.data(), 1, MPI_INT, comm_, &ordinary), MPI_SUCCESS);
    MPI_Request early = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(&early_, 1, MPI_INT, left_of(world_rank()), 1, MPI_COMM_WORLD, &early), MPI_SUCCESS);
    for (const int tag : {1, 2})
      ASSERT_EQ(MPI_Send(&mine_, 1, MPI_INT, right_of(world_rank()), tag, MPI_COMM_WORLD), MPI_SUCCESS);
    requests_ = {small_.request, ordinary, MPI_REQUEST_NULL, large_.request, idle_.request, receive_, early};
  }
  void check() {
    EXPECT_TRUE(small_.arrived());
    EXPECT_TRUE(large_.arrived());
    const int left = mine_ - world_rank() + left_of(world_rank());
    const int right = mine_ - world_rank() + right_of(world_rank());
    EXPECT_EQ(from_left_, left);
    EXPECT_EQ(early_, left);
    EXPECT_EQ(theirs_, (std::array<int, 2>{right, left}));
    const std::array<MPI_Request, kRequests> expected = {
        small_.request, MPI_REQUEST_NULL, MPI_REQUEST_NULL, large_.request, idle_.request, receive_, MPI_REQUEST_NULL};
    EXPECT_EQ(requests_, expected);
  }

  Comm comm_ = ring();
  Ring small_{comm_, 1, 2};
  Ring large_{comm_, 2, 40'000};
  Ring idle_{comm_, 3, 5};
  MPI_Request receive_ = MPI_REQUEST_NULL;
  int mine_ = 0;
  int from_left_ = 0;
  int early_ = 0;
  std::array<int, 2> both_{};
  std::array<int, 2> theirs_{};
};

TEST_F(PersistentMixture, Waitall) {
  run([&] { EXPECT_EQ(MPI_Waitall(kRequests, requests_.data(), statuses_.data()), MPI_SUCCESS); });
}

TEST_F(PersistentMixture, Testall) {
  run([&] {
    int flag = 0;
    while (flag == 0) ASSERT_EQ(MPI_Testall(kRequests, requests_.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  });
}

TEST_F(PersistentMixture, Wait) {
  run([&] {
    for (MPI_Request& request : requests_) EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  });
}

TEST_F(PersistentMixture, Test) {
  run([&] {
    for (MPI_Request& request : requests_) {
      int flag = 0;
      while (flag == 0) ASSERT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  });
}

TEST_F(PersistentMixture, GetStatusAheadOfWait) {
  run([&] {
    for (MPI_Request& request : requests_) {
      int flag = 0;
      while (flag == 0) ASSERT_EQ(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    EXPECT_EQ(MPI_Waitall(kRequests, requests_.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  });
}

TEST_F(PersistentMixture, Waitany) {
  run([&] {
    std::vector<int> completed;
    int index = -1;
    for (;;) {
      ASSERT_EQ(MPI_Waitany(kRequests, requests_.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
      if (index == MPI_UNDEFINED) break;
      completed.push_back(index);
    }
    std::ranges::sort(completed);
    EXPECT_EQ(completed, (std::vector<int>{0, 1, 3, 5, 6}));
  });
}

TEST_F(PersistentMixture, Testany) {
  run([&] {
    std::vector<int> completed;
    for (int index = -1; index != MPI_UNDEFINED;) {
      int flag = 0;
      ASSERT_EQ(MPI_Testany(kRequests, requests_.data(), &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      if (flag == 0)
        index = -1;
      else if (index != MPI_UNDEFINED)
        completed.push_back(index);
    }
    std::ranges::sort(completed);
    EXPECT_EQ(completed, (std::vector<int>{0, 1, 3, 5, 6}));
  });
}

TEST_F(PersistentMixture, Waitsome) {
  run([&] {
    std::vector<int> completed;
    std::array<int, kRequests> indices{};
    for (int count = 0; count != MPI_UNDEFINED;) {
      completed.insert(completed.end(), indices.begin(), indices.begin() + count);
      ASSERT_EQ(MPI_Waitsome(kRequests, requests_.data(), &count, indices.data(), statuses_.data()), MPI_SUCCESS);
    }
    std::ranges::sort(completed);
    EXPECT_EQ(completed, (std::vector<int>{0, 1, 3, 5, 6}));
  });
}

TEST_F(PersistentMixture, Testsome) {
  run([&] {
    std::vector<int> completed;
    std::array<int, kRequests> indices{};
    for (int count = 0; count != MPI_UNDEFINED;) {
      completed.insert(completed.end(), indices.begin(), indices.begin() + count);
      ASSERT_EQ(MPI_Testsome(kRequests, requests_.data(), &count, indices.data(), statuses_.data()), MPI_SUCCESS);
    }
    std::ranges::sort(completed);
    EXPECT_EQ(completed, (std::vector<int>{0, 1, 3, 5, 6}));
  });
}

TEST(PersistentRequest, AnyOrderOfStartsMeets) {
  const Comm comm = ring();
  std::vector<std::unique_ptr<Ring>> rings;
  for (int i = 0; i < 4; ++i) rings.push_back(std::make_unique<Ring>(comm, i, 1 << (4 * i)));
  std::vector<std::size_t> order(rings.size());
  std::iota(order.begin(), order.end(), 0);
  for (int iteration = 0; iteration < 20; ++iteration) {
    std::rotate(order.begin(), order.begin() + 1 + world_rank() % 3, order.end());
    std::vector<MPI_Request> requests;
    for (const std::size_t i : order) {
      rings[i]->start(iteration);
      requests.push_back(rings[i]->request);
    }
    ASSERT_EQ(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (const auto& each : rings) EXPECT_TRUE(each->arrived());
  }
}

TEST(PersistentRequest, FreedInFlightItFinishesByItself) {
  const Comm comm = ring();
  Ring kept(comm, 0, 10);
  std::vector<std::unique_ptr<Ring>> all;  // what they send may be read until it has come everywhere
  for (int iteration = 0; iteration < 5; ++iteration) {
    Ring* freed = all.emplace_back(std::make_unique<Ring>(comm, 1, 1000)).get();
    freed->start(iteration);
    MPI_Request request = freed->request;
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
    freed->request = MPI_REQUEST_NULL;
    for (int i = 0; i < 2; ++i) {
      kept.start(iteration);
      EXPECT_EQ(MPI_Wait(&kept.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    EXPECT_TRUE(comes_true([&] { return freed->is_arriving(); }));
    int flag = 0;
    MPI_Request none = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Test(&none, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);  // after what another thread is writing
    EXPECT_TRUE(freed->arrived());
  }
  EXPECT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
}

TEST(PersistentRequest, MisuseIsToldThroughTheErrorHandler) {
  const Comm comm = ring();
  ASSERT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  Ring ring(comm, 0, 10);
  ring.start(1);
  int code = MPI_Start(&ring.request);
  int error_class = MPI_SUCCESS;
  EXPECT_EQ(MPI_Error_class(code, &error_class), MPI_SUCCESS);
  EXPECT_EQ(error_class, MPI_ERR_ARG);
  EXPECT_EQ(MPI_Wait(&ring.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(ring.arrived());
  EXPECT_EQ(MPI_Wait(&ring.request, MPI_STATUS_IGNORE), MPI_SUCCESS) << "inactive";
  int data[2] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Neighbor_xchg_init(data, -1, MPI_INT, data, 1, MPI_INT, comm, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Neighbor_xchg_init(data, 1, MPI_INT, data, 1, MPI_INT, comm, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
}

TEST(Memory, IsAlignedAndGivenBackOnce) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
    void* const memory = fab_alloc(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
    std::memset(memory, 1, bytes);
    EXPECT_EQ(fab_free(memory), MPI_SUCCESS);
    EXPECT_EQ(fab_free(memory), MPI_ERR_BASE) << "it is free already";
  }
  EXPECT_EQ(fab_alloc(SIZE_MAX), nullptr);
  EXPECT_EQ(fab_free(nullptr), MPI_SUCCESS);
  int other = 0;
  EXPECT_EQ(fab_free(&other), MPI_ERR_BASE);
}

TEST(PersistentRequest, VariedBlocksAndShifts) {
  const Comm comm = ring();
  std::array<int, 5> send{};
  std::array<int, 5> recv{};
  const int send_counts[] = {2, 3};
  const int recv_counts[] = {3, 2};
  const int send_displs[] = {0, 2};
  const int recv_displs[] = {0, 3};
  MPI_Request blocks = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Neighbor_xchgv_init(send.data(), send_counts, send_displs, MPI_INT, recv.data(), recv_counts,
                                    recv_displs, MPI_INT, comm, MPI_INFO_NULL, &blocks),
            MPI_SUCCESS);
  int place = 0;
  MPI_Request shift = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Cart_shift_xchg_init(MPI_IN_PLACE, 0, MPI_INT, &place, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &shift),
            MPI_SUCCESS);
  for (int iteration = 0; iteration < 4; ++iteration) {
    const auto value = [iteration](int rank) { return 100 * iteration + rank; };
    send.fill(value(world_rank()));
    recv.fill(-1);
    place = value(world_rank());
    std::array<MPI_Request, 2> both = {shift, blocks};
    ASSERT_EQ(MPI_Startall(2, both.data()), MPI_SUCCESS);
    ASSERT_EQ(MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    const int right = value(right_of(world_rank()));
    const int left = value(left_of(world_rank()));
    EXPECT_EQ(recv, (std::array<int, 5>{right, right, right, left, left}));
    EXPECT_EQ(place, left);
  }
  EXPECT_EQ(MPI_Request_free(&blocks), MPI_SUCCESS);
  EXPECT_EQ(MPI_Request_free(&shift), MPI_SUCCESS);
}

}  // namespace
}  // namespace fab::test
