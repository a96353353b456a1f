// Runs a collective in all its forms under the names that programs call, and compares with MPI itself.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <string>

#include "finishing.h"
#include "init_of.h"
#include "mpi_itself.h"
#include "random_call.h"

namespace fab::test {

/// Where ranks find each other over MPI fab leaves non-blocking forms to it, and MPICH 4.0.2 fails at them by itself.
#if defined(MPICH_VERSION)
inline constexpr bool kCarriesRequests = false;
#else
inline constexpr bool kCarriesRequests = true;
#endif

/// What a buffer holds after MPI's own call shall be there after every form of the program's calls.
class Forms {
 public:
  /// Only the first `compared` bytes matter.
  Forms(const Bytes& before, int way, std::size_t compared)
      : before_(before), way_(way), compared_(std::min(compared, before.size())) {}

  template <class Itself>
  void expect(Itself&& itself) {
    expected_ = before_;
    EXPECT_EQ(itself(expected_.data()), MPI_SUCCESS);
  }
  template <class Blocking>
  void blocking(Blocking&& call) {
    Bytes got = before_;
    EXPECT_EQ(call(got.data()), MPI_SUCCESS);
    EXPECT_TRUE(same(got)) << "blocking" << difference(got);
  }
  template <class Start>
  void non_blocking(Start&& start) {
    if (!kCarriesRequests) return;
    Bytes got = before_;
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(start(got.data(), &request), MPI_SUCCESS);
    finish(request, way_);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_TRUE(same(got)) << "non-blocking, completed by way " << way_ << difference(got);
  }
  template <class Init>
  void persistent(Init&& init) {
    if (!kCarriesRequests) return;
    Bytes got = before_;
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(init(got.data(), &request), MPI_SUCCESS);
    for (int round = 0; round < 2; ++round) {
      std::copy(before_.begin(), before_.end(), got.begin());
      EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
      finish(request, (way_ + round) % kWaysToFinish);
      EXPECT_NE(request, MPI_REQUEST_NULL);
      EXPECT_TRUE(same(got)) << "persistent, round " << round << difference(got);
    }
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  }

 private:
  [[nodiscard]] bool same(const Bytes& got) const {
    return std::equal(got.data(), got.data() + compared_, expected_.data());
  }
  [[nodiscard]] std::string difference(const Bytes& got) const {
    if (same(got)) return "";
    std::size_t place = 0;
    while (got[place] == expected_[place]) ++place;
    return "; byte " + std::to_string(place) + " of " + std::to_string(compared_) + " is " +
           std::to_string(got[place]) + ", by MPI " + std::to_string(expected_[place]) + ", before " +
           std::to_string(before_[place]);
  }

  const Bytes& before_;
  Bytes expected_;
  int way_;
  std::size_t compared_;
};

}  // namespace fab::test

#define FAB_UNPACK(...) __VA_ARGS__

// `arguments` are the call's but for the communicator, in parentheses, with `buffer` for the one that is compared.
#define COMPARE_START(compared, before, way, Name, name, arguments, comm)                                      \
  do {                                                                                                         \
    SCOPED_TRACE(#Name);                                                                                       \
    fab::test::Forms forms(before, way, compared);                                                             \
    forms.expect([&](void* buffer) { return MPI_ITSELF(MPI_##Name)(FAB_UNPACK arguments, comm); });            \
    forms.blocking([&](void* buffer) { return MPI_##Name(FAB_UNPACK arguments, comm); });                      \
    forms.blocking([&](void* buffer) { return PMPI_##Name(FAB_UNPACK arguments, comm); });                     \
    forms.non_blocking(                                                                                        \
        [&](void* buffer, MPI_Request* request) { return MPI_I##name(FAB_UNPACK arguments, comm, request); }); \
    forms.persistent([&](void* buffer, MPI_Request* request) {                                                 \
      return INIT_OF(Name)(FAB_UNPACK arguments, comm, MPI_INFO_NULL, request);                                \
    });                                                                                                        \
  } while (false)
#define COMPARE_FORMS(before, way, Name, name, arguments, comm) \
  COMPARE_START(before.size(), before, way, Name, name, arguments, comm)
