// An exchange along the ring of all ranks that knows what has to arrive.
#pragma once

#include <fab/mpi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mpi/communicators.h"
#include "support/peek.h"

namespace fab::test {

/// Blocks of `count` ints that differ by rank and by the number of the exchange.
class RingExchange {
 public:
  RingExchange(int number, int count)
      : count_(count), send_(2 * static_cast<std::size_t>(count)), recv_(send_.size(), -1) {
    renumber(number);
  }

  int run(MPI_Comm comm) {
    return MPI_Neighbor_xchg(send_.data(), count_, MPI_INT, recv_.data(), count_, MPI_INT, comm);
  }
  [[nodiscard]] MPI_Request start(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Ineighbor_xchg(send_.data(), count_, MPI_INT, recv_.data(), count_, MPI_INT, comm, &request),
              MPI_SUCCESS);
    return request;
  }
  int make(MPI_Comm comm, MPI_Request* request) {
    return MPI_Neighbor_xchg_init(send_.data(), count_, MPI_INT, recv_.data(), count_, MPI_INT, comm, MPI_INFO_NULL,
                                  request);
  }
  /// The same buffers with other contents.
  void renumber(int number) {
    number_ = number;
    std::fill(send_.begin(), send_.end(), value(world_rank()));
    std::fill(recv_.begin(), recv_.end(), -1);
  }
  /// How many ints are not what they have to be.
  [[nodiscard]] std::ptrdiff_t wrong() const {
    const auto middle = recv_.begin() + count_;
    return (count_ - std::count(recv_.begin(), middle, value(right_of(world_rank())))) +
           (count_ - std::count(middle, recv_.end(), value(left_of(world_rank()))));
  }
  /// The same of one that nothing tells the end of: others may be writing.
  [[nodiscard]] bool may_be_wrong() const {
    const auto count = static_cast<std::size_t>(count_);
    for (std::size_t i = 0; i < recv_.size(); ++i)
      if (peek(recv_[i]) != value(i < count ? right_of(world_rank()) : left_of(world_rank()))) return true;
    return false;
  }
  /// Whether nothing has come.
  [[nodiscard]] bool untouched() const {
    return std::ranges::all_of(recv_, [](int received) { return received == -1; });
  }

 private:
  [[nodiscard]] int value(int rank) const { return number_ * 1000 + rank; }

  int number_ = 0;
  int count_;
  std::vector<int> send_;
  std::vector<int> recv_;
};

}  // namespace fab::test
