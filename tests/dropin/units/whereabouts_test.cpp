#include "bindings/dropin/whereabouts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fab::dropin {
namespace {

Environment of(const std::map<std::string, std::string>& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Whereabouts, OneNodeWhereTheLauncherSaysSo) {
  EXPECT_EQ(share_memory(true, of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}})), true);
}

TEST(Whereabouts, UnknownOnSeveralNodesAndUnderOtherLaunchers) {
  EXPECT_EQ(share_memory(true, of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})), std::nullopt);
  EXPECT_EQ(share_memory(true, of({{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})), std::nullopt);
  EXPECT_EQ(share_memory(true, of({})), std::nullopt);
}

TEST(Whereabouts, NoNodeWithoutSharedMemory) {
  EXPECT_EQ(share_memory(false, of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}})), false);
}

}  // namespace
}  // namespace fab::dropin
