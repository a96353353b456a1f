// What the first contact asks of libfabric. This program's own fi_getinfo and fopen come before the libraries'.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <rdma/fabric.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace {

int questions = 0;
int depth = 0;
int readings_of_symbols = 0;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// Providers that stand on others ask, too, while they are asked.
extern "C" int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                          const fi_info* hints, fi_info** info) {
  if (depth == 0) ++questions;
  ++depth;
  const int result = next<decltype(fi_getinfo)>("fi_getinfo")(version, node, service, flags, hints, info);
  --depth;
  return result;
}

extern "C" std::FILE* fopen(const char* path, const char* mode) {
  if (std::string_view(path) == "/proc/kallsyms") ++readings_of_symbols;
  return next<std::FILE*(const char*, const char*)>("fopen")(path, mode);
}

namespace fab {
namespace {

using FirstContact = test::OnAllRanks;

bool network_only() {
  const char* local = std::getenv("FAB_LOCAL");
  return local != nullptr && std::string_view(local) == "off";
}

bool is_loaded(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle != nullptr && ::dlclose(handle) == 0;
}

bool has_rdma_device() {
  std::error_code none;
  return std::filesystem::directory_iterator("/sys/class/infiniband", none) != std::filesystem::directory_iterator();
}

/// The file from which that library was loaded; empty: it was not.
std::string file_of(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  link_map* map = nullptr;
  std::string file;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) file = map->l_name;
  EXPECT_EQ(::dlclose(handle), 0);
  return file;
}

TEST_F(FirstContact, AsksLibfabricOnceOverANetworkAndNeverWithinANode) {
  const std::array<int, 2> mine{rank(), rank()};
  std::array<int, 2> theirs{};
  neighbor_xchg(ring(), mine, theirs);
  EXPECT_EQ(theirs, (std::array<int, 2>{next(), previous()}));
  EXPECT_EQ(questions, network_only() ? 1 : 0);
  EXPECT_EQ(is_loaded("libfabric.so.1"), network_only()) << "which costs more than all else on some machines";
  EXPECT_TRUE(readings_of_symbols == 0 || has_rdma_device()) << readings_of_symbols;
}

TEST_F(FirstContact, LoadsNoLibraryOfAnOmniPathCardThatIsNotThere) {
  if (has_rdma_device()) GTEST_SKIP() << "it may be there";
  const std::array<int, 2> mine{rank(), rank()};
  std::array<int, 2> theirs{};
  neighbor_xchg(ring(), mine, theirs);
  for (const char* library : {"libpsm2.so.2", "libpsm_infinipath.so.1"}) {
    const std::string file = file_of(library);
    EXPECT_TRUE(file.empty() || file.find("/fab/stand_ins/") != std::string::npos) << file;
  }
}

}  // namespace
}  // namespace fab
