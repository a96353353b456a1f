// Slots of functions are found in objects with each kind of hash table.
#include "core/base/dynamic_section.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <string>
#include <utility>

namespace fab::core {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Targets = std::multimap<std::string, std::uintptr_t>;

constexpr std::array<std::string_view, 3> kNames{"fab_test_no_such_function", "fab_test_own", "getpid"};

struct Search {
  std::string_view path;
  Targets targets;
};

int visit(dl_phdr_info* info, std::size_t, void* search) {
  auto& its = *static_cast<Search*>(search);
  if (its.path != info->dlpi_name) return 0;
  const DynamicSection dynamic(*info);
  EXPECT_TRUE(dynamic.usable());
  dynamic.for_each_slot(kNames, [&](const ElfW(Sym) & symbol, const std::uintptr_t* slot) {
    its.targets.emplace(dynamic.string(symbol.st_name), *slot);
  });
  return 1;
}

/// A library that is loaded for this.
class Probe {
 public:
  explicit Probe(const char* path) : path_(path), handle_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  }
  ~Probe() { ::dlclose(handle_); }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  [[nodiscard]] Targets targets() const {
    Search search{path_, {}};
    EXPECT_EQ(::dl_iterate_phdr(visit, &search), 1) << path_ << " is not loaded";
    return search.targets;
  }
  [[nodiscard]] std::uintptr_t address(const char* name) const {
    return reinterpret_cast<std::uintptr_t>(::dlsym(handle_, name));
  }

 private:
  const char* path_;
  void* handle_;
};

TEST(DynamicSection, SlotsAreFoundWithEveryHashTable) {
  for (const char* path : {FAB_TEST_PROBE_gnu, FAB_TEST_PROBE_sysv, FAB_TEST_PROBE_both}) {
    SCOPED_TRACE(path);
    const Probe probe(path);
    EXPECT_THAT(probe.targets(), ElementsAre(Pair("fab_test_own", probe.address("fab_test_own")),
                                             Pair("getpid", probe.address("getpid"))));
  }
}

TEST(DynamicSection, SlotsAreFoundWhereTheObjectHasNothingForOthers) {
  const Probe probe(FAB_TEST_PROBE_hides);
  EXPECT_EQ(probe.address("fab_test_own"), 0);
  EXPECT_THAT(probe.targets(), ElementsAre(Pair("getpid", probe.address("getpid"))));
}

}  // namespace
}  // namespace fab::core
