#include "finishing.h"

#include <gtest/gtest.h>

#include <array>

namespace fab::test {

namespace {

/// A message to this rank itself, which MPI completes.
class OwnMessage {
 public:
  OwnMessage() {
    EXPECT_EQ(MPI_Irecv(&received_, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &recv_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Isend(&sent_, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send_), MPI_SUCCESS);
  }
  ~OwnMessage() {
    EXPECT_EQ(MPI_Wait(&send_, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&recv_, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(received_, sent_);
  }
  OwnMessage(const OwnMessage&) = delete;
  OwnMessage& operator=(const OwnMessage&) = delete;

  MPI_Request& recv() { return recv_; }

 private:
  int sent_ = 42;
  int received_ = 0;
  MPI_Request send_ = MPI_REQUEST_NULL;
  MPI_Request recv_ = MPI_REQUEST_NULL;
};

/// Until the request has been the one that is complete.
template <class Any>
void finish_by_any(std::array<MPI_Request, 3>& requests, Any&& any) {
  for (bool done = false; !done;) {
    int index = MPI_UNDEFINED;
    any(requests, index);
    done = index == 0;
  }
}

template <class Some>
void finish_by_some(std::array<MPI_Request, 3>& requests, Some&& some) {
  for (bool done = false; !done;) {
    std::array<int, 3> indices{};
    int count = 0;
    some(requests, count, indices);
    for (int i = 0; i < count; ++i) done |= indices.at(static_cast<std::size_t>(i)) == 0;
  }
}

}  // namespace

void finish(MPI_Request& request, int way) {
  OwnMessage message;
  std::array<MPI_Request, 3> all{request, MPI_REQUEST_NULL, message.recv()};
  int flag = 0;
  switch (way) {
    case 0:
      EXPECT_EQ(MPI_Wait(all.data(), MPI_STATUS_IGNORE), MPI_SUCCESS);
      break;
    case 1:
      while (flag == 0) EXPECT_EQ(MPI_Test(all.data(), &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      break;
    case 2:
      EXPECT_EQ(MPI_Waitall(3, all.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      break;
    case 3:
      while (flag == 0) EXPECT_EQ(MPI_Testall(3, all.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
      break;
    case 4:
      finish_by_any(all, [](auto& requests, int& index) {
        EXPECT_EQ(MPI_Waitany(3, requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
      });
      break;
    case 5:
      finish_by_any(all, [](auto& requests, int& index) {
        int any = 0;
        EXPECT_EQ(MPI_Testany(3, requests.data(), &index, &any, MPI_STATUS_IGNORE), MPI_SUCCESS);
        if (any == 0) index = MPI_UNDEFINED;
      });
      break;
    case 6:
      finish_by_some(all, [](auto& requests, int& count, auto& indices) {
        EXPECT_EQ(MPI_Waitsome(3, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      });
      break;
    case 7:
      finish_by_some(all, [](auto& requests, int& count, auto& indices) {
        EXPECT_EQ(MPI_Testsome(3, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      });
      break;
    default:
      while (flag == 0) EXPECT_EQ(MPI_Request_get_status(all[0], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(PMPI_Wait(all.data(), MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  request = all[0];
  message.recv() = all[2];
}

}  // namespace fab::test
