// Every operation that moves data against MPI's blocking one.
#include <algorithm>
#include <numeric>

#include "support.h"

namespace fab::test {
namespace {

class MoveTest : public testing::Test {
 protected:
  /// For v-forms: different counts, 0 among them, with a gap between blocks, in another order than the ranks.
  void vary(int count) {
    int place = 1;
    for (int i = ranks_ - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      counts_[at] = (i % 3) * count;
      places_[at] = place;
      place += counts_[at] + 1;
    }
    all_ = static_cast<std::size_t>(place);
  }

  int rank_ = world_rank();
  int ranks_ = world_size();
  int last_ = ranks_ - 1;
  MPI_Comm comm_ = MPI_COMM_WORLD;
  std::vector<int> counts_ = std::vector<int>(static_cast<std::size_t>(ranks_));
  std::vector<int> places_ = counts_;
  std::size_t all_ = 0;  ///< elements that the blocks of v-forms take
};

std::size_t elements(int count, int blocks = 1) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(blocks);
}

TEST_F(MoveTest, Bcast) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    expect_same(
        type, 0, elements(count), [&](void*, void* recv) { return MPI_Bcast(recv, count, type, last_, comm_); },
        [&](void*, void* recv, NBC_Handle* handle) { return NBC_Ibcast(recv, count, type, last_, comm_, handle); });
  });
}

TEST_F(MoveTest, Gather) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    const bool is_root = rank_ == last_;
    // What only the root needs is wrong elsewhere.
    const int recvcount = is_root ? count : -1;
    const MPI_Datatype recvtype = is_root ? type : MPI_DATATYPE_NULL;
    expect_same(
        type, elements(count), elements(count, ranks_),
        [&](void* send, void* recv) {
          return MPI_Gather(send, count, type, is_root ? recv : nullptr, recvcount, recvtype, last_, comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Igather(send, count, type, is_root ? recv : nullptr, recvcount, recvtype, last_, comm_, handle);
        });
  });
}

TEST_F(MoveTest, GatherInPlace) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    const bool is_root = rank_ == 0;
    expect_same(
        type, elements(count), elements(count, ranks_),
        [&](void* send, void* recv) {
          return MPI_Gather(is_root ? MPI_IN_PLACE : send, count, type, recv, count, type, 0, comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Igather(is_root ? MPI_IN_PLACE : send, count, type, recv, count, type, 0, comm_, handle);
        });
  });
}

TEST_F(MoveTest, Gatherv) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    vary(count);
    const int own = counts_[static_cast<std::size_t>(rank_)];
    const bool is_root = rank_ == last_;
    const int* counts = is_root ? counts_.data() : nullptr;
    expect_same(
        type, elements(own), all_,
        [&](void* send, void* recv) {
          return MPI_Gatherv(send, own, type, recv, counts, places_.data(), type, last_, comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Igatherv(send, own, type, recv, counts, places_.data(), type, last_, comm_, handle);
        });
    expect_same(
        type, elements(own), all_,
        [&](void* send, void* recv) {
          return MPI_Gatherv(is_root ? MPI_IN_PLACE : send, own, type, recv, counts, places_.data(), type, last_,
                             comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Igatherv(is_root ? MPI_IN_PLACE : send, own, type, recv, counts, places_.data(), type, last_,
                              comm_, handle);
        });
  });
}

TEST_F(MoveTest, Scatter) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    const bool is_root = rank_ == last_;
    const MPI_Datatype sendtype = is_root ? type : MPI_DATATYPE_NULL;
    expect_same(
        type, elements(count, ranks_), elements(count),
        [&](void* send, void* recv) { return MPI_Scatter(send, count, sendtype, recv, count, type, last_, comm_); },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Iscatter(send, count, sendtype, recv, count, type, last_, comm_, handle);
        });
    expect_same(
        type, elements(count, ranks_), elements(count),
        [&](void* send, void* recv) {
          return MPI_Scatter(send, count, sendtype, is_root ? MPI_IN_PLACE : recv, count, type, last_, comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Iscatter(send, count, sendtype, is_root ? MPI_IN_PLACE : recv, count, type, last_, comm_, handle);
        });
  });
}

TEST_F(MoveTest, Scatterv) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    vary(count);
    const int own = counts_[static_cast<std::size_t>(rank_)];
    const bool is_root = rank_ == 0;
    const int* places = is_root ? places_.data() : nullptr;
    for (const bool in_place : {false, true}) {
      const auto into = [&](void* recv) { return in_place && is_root ? MPI_IN_PLACE : recv; };
      expect_same(
          type, all_, elements(own),
          [&](void* send, void* recv) {
            return MPI_Scatterv(send, counts_.data(), places, type, into(recv), own, type, 0, comm_);
          },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Iscatterv(send, counts_.data(), places, type, into(recv), own, type, 0, comm_, handle);
          });
    }
  });
}

TEST_F(MoveTest, Allgather) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    for (const bool in_place : {false, true}) {
      const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
      expect_same(
          type, elements(count), elements(count, ranks_),
          [&](void* send, void* recv) { return MPI_Allgather(from(send), count, type, recv, count, type, comm_); },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Iallgather(from(send), count, type, recv, count, type, comm_, handle);
          });
    }
  });
}

TEST_F(MoveTest, Allgatherv) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    vary(count);
    const int own = counts_[static_cast<std::size_t>(rank_)];
    for (const bool in_place : {false, true}) {
      const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
      expect_same(
          type, elements(own), all_,
          [&](void* send, void* recv) {
            return MPI_Allgatherv(from(send), own, type, recv, counts_.data(), places_.data(), type, comm_);
          },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Iallgatherv(from(send), own, type, recv, counts_.data(), places_.data(), type, comm_, handle);
          });
    }
  });
}

TEST_F(MoveTest, Alltoall) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    for (const bool in_place : {false, true}) {
      const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
      expect_same(
          type, elements(count, ranks_), elements(count, ranks_),
          [&](void* send, void* recv) { return MPI_Alltoall(from(send), count, type, recv, count, type, comm_); },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Ialltoall(from(send), count, type, recv, count, type, comm_, handle);
          });
    }
  });
}

// The types of both ends differ, and each block has as many bytes.
TEST_F(MoveTest, AlltoallBetweenDifferentTypes) {
  const Type gapped(gapped_integers());
  expect_same(
      gapped, elements(4, ranks_), elements(4, ranks_),
      [&](void* send, void* recv) { return MPI_Alltoall(send, 8, MPI_INT, recv, 4, gapped, comm_); },
      [&](void* send, void* recv, NBC_Handle* handle) {
        return NBC_Ialltoall(send, 8, MPI_INT, recv, 4, gapped, comm_, handle);
      });
}

/// Counts of a pair of ranks are the same at both ends: with i + j, symmetric, as in-place calls want them.
TEST_F(MoveTest, Alltoallv) {
  for_each_type_and_count([&](MPI_Datatype type, int count) {
    int place = 0;
    for (int i = 0; i < ranks_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      counts_[at] = ((rank_ + i) % 3) * count;
      places_[at] = place;
      place += counts_[at] + 2;
    }
    all_ = static_cast<std::size_t>(place);
    for (const bool in_place : {false, true}) {
      const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
      expect_same(
          type, all_, all_,
          [&](void* send, void* recv) {
            return MPI_Alltoallv(from(send), counts_.data(), places_.data(), type, recv, counts_.data(), places_.data(),
                                 type, comm_);
          },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Ialltoallv(from(send), counts_.data(), places_.data(), type, recv, counts_.data(),
                                  places_.data(), type, comm_, handle);
          });
    }
  });
}

TEST_F(MoveTest, Alltoallw) {
  const Type gapped(gapped_integers());
  std::vector<MPI_Datatype> types;
  int place = 0;
  for (int i = 0; i < ranks_; ++i) {
    types.push_back((rank_ + i) % 2 == 0 ? MPI_INT : static_cast<MPI_Datatype>(gapped));
    counts_[static_cast<std::size_t>(i)] = 10 * ((rank_ + i) % 4);
    places_[static_cast<std::size_t>(i)] = place;
    place += counts_[static_cast<std::size_t>(i)] * static_cast<int>(extent_of(types.back())) + 3;
  }
  for (const bool in_place : {false, true}) {
    const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
    expect_same(
        MPI_BYTE, elements(place), elements(place),
        [&](void* send, void* recv) {
          return MPI_Alltoallw(from(send), counts_.data(), places_.data(), types.data(), recv, counts_.data(),
                               places_.data(), types.data(), comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Ialltoallw(from(send), counts_.data(), places_.data(), types.data(), recv, counts_.data(),
                                places_.data(), types.data(), comm_, handle);
        });
  }
}

/// No rank leaves before the last one has come.
TEST_F(MoveTest, Barrier) {
  for (int late = 0; late < ranks_; ++late) {
    NBC_Handle handle = stale_handle();
    if (rank_ != late) {
      ASSERT_EQ(NBC_Ibarrier(comm_, &handle), NBC_OK);
      ASSERT_EQ(NBC_Test(&handle), NBC_CONTINUE);
      ASSERT_EQ(MPI_Barrier(comm_), MPI_SUCCESS);
    } else {
      ASSERT_EQ(MPI_Barrier(comm_), MPI_SUCCESS);
      ASSERT_EQ(NBC_Ibarrier(comm_, &handle), NBC_OK);
    }
    ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  }
}

/// Types and arrays are fab's only during the call.
TEST_F(MoveTest, ArgumentsMayGoAtOnce) {
  MPI_Datatype type = gapped_integers();
  ASSERT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  std::vector<int> counts(counts_.size(), 1);
  std::iota(places_.begin(), places_.end(), 0);
  const std::vector<int> send = {10 * rank_, -1, 10 * rank_ + 1, -1, -1};
  std::vector<int> recv(5 * counts_.size(), -1);
  NBC_Handle handle;
  ASSERT_EQ(NBC_Iallgatherv(send.data(), 1, type, recv.data(), counts.data(), places_.data(), type, comm_, &handle),
            NBC_OK);
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  std::fill(counts.begin(), counts.end(), -1);
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  for (int i = 0; i < ranks_; ++i) {
    const auto at = recv.begin() + 5 * i;
    EXPECT_EQ(std::vector<int>(at, at + 5), (std::vector<int>{10 * i, -1, 10 * i + 1, -1, -1}));
  }
}

}  // namespace
}  // namespace fab::test
