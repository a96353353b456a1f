#include "bindings/mpi/lifecycle/early_loading.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace fab::mpi {
namespace {

Environment launched(std::optional<std::string> ranks, std::optional<std::string> near) {
  return [ranks, near](const std::string& name) -> std::optional<std::string> {
    if (name == "OMPI_COMM_WORLD_SIZE") return ranks;
    if (name == "OMPI_COMM_WORLD_LOCAL_SIZE") return near;
    return std::nullopt;
  };
}

TEST(EarlyLoading, NeedsANetworkBetweenNodesAndWhereSharedMemoryIsOff) {
  EXPECT_FALSE(needs_network(true, launched("4", "4")));
  EXPECT_TRUE(needs_network(true, launched("4", "2")));
  EXPECT_TRUE(needs_network(false, launched("4", "4")));
}

TEST(EarlyLoading, NeedsNoneForOneRankOrWhereTheLauncherSaysNothing) {
  EXPECT_FALSE(needs_network(false, launched("1", "1")));
  EXPECT_FALSE(needs_network(false, launched(std::nullopt, std::nullopt)));
  EXPECT_FALSE(needs_network(false, launched("4", std::nullopt)));
}

}  // namespace
}  // namespace fab::mpi
