// MPI_Neighbor_xchgw in its three forms, for the tests of it.
#pragma once

#include <fab/mpi.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace fab::test {

/// Frees what it holds.
class CommittedType {
 public:
  explicit CommittedType(const std::function<int(MPI_Datatype*)>& make) {
    EXPECT_EQ(make(&type_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_commit(&type_), MPI_SUCCESS);
  }
  CommittedType(CommittedType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  CommittedType& operator=(CommittedType&&) = delete;
  ~CommittedType() {
    if (type_ == MPI_DATATYPE_NULL) return;
    EXPECT_EQ(MPI_Type_free(&type_), MPI_SUCCESS);
  }

  operator MPI_Datatype() const { return type_; }  // NOLINT(google-explicit-constructor): used where MPI wants it

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// One side of a call. The buffer of what is sent is only read.
struct TypedBlocks {
  void* buffer = nullptr;
  std::vector<int> counts{};
  std::vector<MPI_Aint> displs{};
  std::vector<MPI_Datatype> types{};
};

enum class Form { blocking, non_blocking, persistent };

inline constexpr std::array kForms = {Form::blocking, Form::non_blocking, Form::persistent};

inline std::string name_of_form(const testing::TestParamInfo<Form>& form) {
  switch (form.param) {
    case Form::blocking:
      return "Blocking";
    case Form::non_blocking:
      return "NonBlocking";
    default:
      return "Persistent";
  }
}

inline int start_xchgw(const TypedBlocks& send, const TypedBlocks& recv, MPI_Comm comm, MPI_Request* request) {
  return MPI_Ineighbor_xchgw(send.buffer, send.counts.data(), send.displs.data(), send.types.data(), recv.buffer,
                             recv.counts.data(), recv.displs.data(), recv.types.data(), comm, request);
}

inline int make_xchgw(const TypedBlocks& send, const TypedBlocks& recv, MPI_Comm comm, MPI_Request* request) {
  return MPI_Neighbor_xchgw_init(send.buffer, send.counts.data(), send.displs.data(), send.types.data(), recv.buffer,
                                 recv.counts.data(), recv.displs.data(), recv.types.data(), comm, MPI_INFO_NULL,
                                 request);
}

inline int xchgw(const TypedBlocks& send, const TypedBlocks& recv, MPI_Comm comm) {
  return MPI_Neighbor_xchgw(send.buffer, send.counts.data(), send.displs.data(), send.types.data(), recv.buffer,
                            recv.counts.data(), recv.displs.data(), recv.types.data(), comm);
}

/// The first error of any of the calls that a form takes.
inline int xchgw(Form form, const TypedBlocks& send, const TypedBlocks& recv, MPI_Comm comm) {
  if (form == Form::blocking) return xchgw(send, recv, comm);
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == Form::non_blocking) {
    const int code = start_xchgw(send, recv, comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  int code = make_xchgw(send, recv, comm, &request);
  if (code != MPI_SUCCESS) return code;
  for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i) {
    code = MPI_Start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  return code;
}

}  // namespace fab::test
