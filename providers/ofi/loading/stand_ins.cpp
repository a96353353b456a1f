#include "providers/ofi/loading/stand_ins.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "core/base/own_module.h"

namespace fab::ofi {

namespace {

struct CardLibrary {
  std::string_view name;
  std::array<std::string_view, 2> devices;  ///< in /dev and as a driver of InfiniBand; a number follows
};
constexpr CardLibrary kCardLibraries[] = {{"libpsm2.so.2", {"hfi1", "hfi1"}},
                                          {"libpsm_infinipath.so.1", {"ipath", "qib"}}};

bool has_device(const std::filesystem::path& folder, const CardLibrary& library) {
  std::error_code error;
  for (auto each = std::filesystem::directory_iterator(folder, error); !error && each != end(each);
       each.increment(error)) {
    const std::string name = each->path().filename();
    if (std::ranges::any_of(library.devices, [&](std::string_view device) { return name.starts_with(device); }))
      return true;
  }
  return false;
}

bool asks_for_psm(const Environment& environment) {
  return std::ranges::any_of(std::array{"FAB_PROVIDER", "FI_PROVIDER"}, [&](const char* variable) {
    return environment(variable).value_or("").find("psm") != std::string::npos;
  });
}

bool is_loaded(std::string_view library) {
  void* const real = ::dlopen(std::string(library).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return real != nullptr && ::dlclose(real) == 0;
}

}  // namespace

std::vector<std::string_view> libraries_without_cards(const std::filesystem::path& root,
                                                      const Environment& environment) {
  std::vector<std::string_view> names;
  if (asks_for_psm(environment)) return names;
  for (const CardLibrary& library : kCardLibraries)
    if (!has_device(root / "dev", library) && !has_device(root / "sys/class/infiniband", library))
      names.push_back(library.name);
  return names;
}

StandIns StandIns::load() {
  StandIns stand_ins;
  for (const std::string_view library : libraries_without_cards("/", process_environment)) {
    if (is_loaded(library)) continue;
    const std::filesystem::path file = core::own_folder() / "fab/stand_ins" / library;
    if (void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) stand_ins.modules_.push_back(module);
  }
  return stand_ins;
}

bool StandIns::unload() noexcept {
  for (void* const module : modules_) ::dlclose(module);
  const bool had_one = !modules_.empty();
  modules_.clear();
  return had_one;
}

NoWaitForCards::NoWaitForCards() : stand_ins_(StandIns::load()) {
  if (!stand_ins_.empty()) libfabric_ = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  if (libfabric_ == nullptr) stand_ins_.unload();
}

NoWaitForCards::~NoWaitForCards() {
  if (libfabric_ != nullptr) ::dlclose(libfabric_);
  stand_ins_.unload();
}

}  // namespace fab::ofi
