// Which libraries of network cards get stand-ins.
#include "providers/ofi/loading/stand_ins.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "unit/support/environment_of.h"

namespace fab::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StandInsTest : public testing::Test {
 protected:
  ~StandInsTest() override { std::filesystem::remove_all(machine_); }
  void add(const char* device) {
    const std::filesystem::path file = machine_ / device;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file).put('\n');
  }
  [[nodiscard]] std::vector<std::string_view> libraries(const Environment& environment = environment_of({})) const {
    return ofi::libraries_without_cards(machine_, environment);
  }

  const std::filesystem::path machine_ =
      std::filesystem::path(testing::TempDir()) / ("fab-stand-ins-" + std::to_string(::getpid()));
};

TEST_F(StandInsTest, NoCardIsThere) {
  EXPECT_THAT(libraries(), ElementsAre("libpsm2.so.2", "libpsm_infinipath.so.1"));
  add("dev/null");
  add("sys/class/infiniband/mlx5_0");
  EXPECT_THAT(libraries(), ElementsAre("libpsm2.so.2", "libpsm_infinipath.so.1"));
}

TEST_F(StandInsTest, CardsHaveTheirLibraries) {
  add("dev/hfi1_0");
  EXPECT_THAT(libraries(), ElementsAre("libpsm_infinipath.so.1"));
  add("sys/class/infiniband/qib0");
  EXPECT_THAT(libraries(), IsEmpty());
}

TEST_F(StandInsTest, WhoAsksForTheProviderHasTheLibraries) {
  EXPECT_THAT(libraries(environment_of({{"FAB_PROVIDER", "psm2"}})), IsEmpty());
  EXPECT_THAT(libraries(environment_of({{"FI_PROVIDER", "tcp,psm"}})), IsEmpty());
  EXPECT_THAT(libraries(environment_of({{"FI_PROVIDER", "tcp"}})), testing::SizeIs(2));
}

}  // namespace
}  // namespace fab::test
