#include "bindings/mpi/lifecycle/early_loading.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace fab::mpi {
namespace {

bool looks_with(const std::map<std::string, std::string>& lists) {
  return open_mpi_looks_for_cards([&lists](const std::string& name) -> std::optional<std::string> {
    const auto found = lists.find(name);
    return found == lists.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(OpenMpi, LooksForCardsUnlessItsComponentsForThemAreLeftOut) {
  EXPECT_TRUE(looks_with({}));
  EXPECT_TRUE(looks_with({{"OMPI_MCA_btl", "tcp,self"}})) << "by its other way, cm";
  EXPECT_TRUE(looks_with({{"OMPI_MCA_pml", "ob1"}})) << "by the component ofi of ob1's";
  EXPECT_FALSE(looks_with({{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "tcp,self"}}));
  EXPECT_FALSE(looks_with({{"OMPI_MCA_pml", "^cm"}, {"OMPI_MCA_btl", "^openib,ofi"}}));
  EXPECT_TRUE(looks_with({{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "tcp,ofi"}}));
  EXPECT_TRUE(looks_with({{"OMPI_MCA_pml", "ob1,cm"}, {"OMPI_MCA_btl", "tcp"}}));
  EXPECT_TRUE(looks_with({{"OMPI_MCA_pml", "^ucx"}, {"OMPI_MCA_btl", "tcp"}}));
  EXPECT_FALSE(looks_with({{"OMPI_MCA_mtl", "^psm,psm2,ofi"}, {"OMPI_MCA_btl", "self"}}));
  EXPECT_TRUE(looks_with({{"OMPI_MCA_mtl", "^psm,psm2"}, {"OMPI_MCA_btl", "self"}}));
  EXPECT_TRUE(looks_with({{"OMPI_MCA_pml", ""}, {"OMPI_MCA_btl", ""}})) << "an empty list is none";
}

}  // namespace
}  // namespace fab::mpi
