// Performance variables: those of fab's stand behind MPI's, and tell what the statistics tell.
#include <gmock/gmock.h>
#include <mpi.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "fab/mpi.h"

namespace fab::test {
namespace {

class PerformanceVariables : public testing::Test {
 protected:
  // Once for all tests: MPICH 4.0.2 crashes in a second time.
  static void SetUpTestSuite() {
    int provided = 0;
    ASSERT_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  }
  static void TearDownTestSuite() { EXPECT_EQ(MPI_T_finalize(), MPI_SUCCESS); }
  void SetUp() override { ASSERT_EQ(MPI_T_pvar_session_create(&session_), MPI_SUCCESS); }
  void TearDown() override { EXPECT_EQ(MPI_T_pvar_session_free(&session_), MPI_SUCCESS); }
  static int index_of(const char* name, int var_class = MPI_T_PVAR_CLASS_COUNTER) {
    int index = -1;
    EXPECT_EQ(MPI_T_pvar_get_index(name, var_class, &index), MPI_SUCCESS) << name;
    return index;
  }
  MPI_T_pvar_handle handle_of(const char* name) {
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = 0;
    EXPECT_EQ(MPI_T_pvar_handle_alloc(session_, index_of(name), nullptr, &handle, &count), MPI_SUCCESS);
    EXPECT_EQ(count, 1);
    return handle;
  }
  unsigned long long value_of(MPI_T_pvar_handle handle) {
    unsigned long long value = 0;
    EXPECT_EQ(MPI_T_pvar_read(session_, handle, &value), MPI_SUCCESS);
    return value;
  }
  static void exchange(int times) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    const std::array<double, 2> out{};
    std::array<double, 2> in{};
    for (int i = 0; i < times; ++i)
      ASSERT_EQ(MPI_Neighbor_xchg(out.data(), 1, MPI_DOUBLE, in.data(), 1, MPI_DOUBLE, ring), MPI_SUCCESS);
    MPI_Comm_free(&ring);
  }

  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
};

TEST_F(PerformanceVariables, AreAllDescribed) {
  int count = 0;
  ASSERT_EQ(MPI_T_pvar_get_num(&count), MPI_SUCCESS);
  int own = 0;
  for (int index = 0; index < count; ++index) {
    std::array<char, 256> name{};
    std::array<char, 256> description{};
    int name_length = name.size();
    int description_length = description.size();
    int verbosity = 0;
    int var_class = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum enumtype = MPI_T_ENUM_NULL;
    int bind = 0;
    int readonly = 0;
    int continuous = 0;
    int atomic = 0;
    const int code =
        MPI_T_pvar_get_info(index, name.data(), &name_length, &verbosity, &var_class, &type, &enumtype,
                            description.data(), &description_length, &bind, &readonly, &continuous, &atomic);
    if (code != MPI_SUCCESS) continue;  // of components of Open MPI that are not loaded
    if (!std::string(name.data()).starts_with("fab_")) continue;
    ++own;
    EXPECT_EQ(type, MPI_UNSIGNED_LONG_LONG);
    EXPECT_EQ(index_of(name.data(), var_class), index);
    EXPECT_EQ(name_length, static_cast<int>(std::string(name.data()).size()) + 1);
    EXPECT_GT(description_length, 1);
    EXPECT_EQ(bind, MPI_T_BIND_NO_OBJECT);
    EXPECT_EQ(readonly * continuous, 1);
  }
  EXPECT_GE(own, 10);
  int name_length = 4;
  std::array<char, 16> name{};
  EXPECT_EQ(MPI_T_pvar_get_info(index_of("fab_calls"), name.data(), &name_length, nullptr, nullptr, nullptr, nullptr,
                                nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            MPI_SUCCESS);
  EXPECT_STREQ(name.data(), "fab");
  EXPECT_EQ(name_length, 10);
  EXPECT_NE(MPI_T_pvar_get_info(count + 1000, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                nullptr, nullptr, nullptr, nullptr),
            MPI_SUCCESS);
}

TEST_F(PerformanceVariables, CountExchanges) {
  exchange(1);
  MPI_T_pvar_handle calls = handle_of("fab_calls");
  MPI_T_pvar_handle sent = handle_of("fab_sent_bytes");
  const unsigned long long calls_before = value_of(calls);
  const unsigned long long sent_before = value_of(sent);
  constexpr int kTimes = 20;
  exchange(kTimes);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(value_of(calls), calls_before + kTimes);
  // Over a network two blocks to one peer are a message, with a frame.
  EXPECT_GE(value_of(sent), sent_before + (size == 1 ? 0 : kTimes * 2 * sizeof(double)));
  EXPECT_EQ(MPI_T_pvar_start(session_, calls), MPI_T_ERR_PVAR_NO_STARTSTOP);
  EXPECT_EQ(MPI_T_pvar_reset(session_, calls), MPI_T_ERR_PVAR_NO_WRITE);
  EXPECT_EQ(MPI_T_pvar_handle_free(session_, &calls), MPI_SUCCESS);
  EXPECT_EQ(calls, MPI_T_PVAR_HANDLE_NULL);
  EXPECT_EQ(MPI_T_pvar_handle_free(session_, &sent), MPI_SUCCESS);
}

TEST_F(PerformanceVariables, OfMpiAreReadAsEver) {
  int count = 0;
  ASSERT_EQ(MPI_T_pvar_get_num(&count), MPI_SUCCESS);
  for (int index = 0; index < count; ++index) {
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int elements = 0;
    int bind = MPI_T_BIND_NO_OBJECT;
    std::array<char, 128> name{};
    int name_length = name.size();
    // Those of Open MPI's component for a card that is not there crash when they get a handle.
    if (MPI_T_pvar_get_info(index, name.data(), &name_length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                            &bind, nullptr, nullptr, nullptr) != MPI_SUCCESS ||
        bind != MPI_T_BIND_NO_OBJECT || std::string_view(name.data()).starts_with("mtl_") ||
        std::string_view(name.data()).starts_with("fab_") ||
        MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle, &elements) != MPI_SUCCESS)
      continue;
    std::vector<unsigned long long> values(static_cast<std::size_t>(elements) + 1);
    EXPECT_EQ(MPI_T_pvar_read(session_, handle, values.data()), MPI_SUCCESS);
    EXPECT_EQ(MPI_T_pvar_handle_free(session_, &handle), MPI_SUCCESS);
  }
}

}  // namespace
}  // namespace fab::test
