#include "core/base/own_module.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>

namespace fab::core {

namespace {

std::filesystem::path find_own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&find_own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  return std::filesystem::absolute(info.dli_fname, error).parent_path();
}

/// Found when libfab is loaded: a name that is seen from the current folder would mean another one later. Never
/// destroyed: threads may still load while the process ends.
const std::filesystem::path& folder_at_start = *new std::filesystem::path(find_own_folder());

}  // namespace

const std::filesystem::path& own_folder() { return folder_at_start; }

const void* load_from_module(const std::string& file, const char* symbol, Symbols symbols, Errc code,
                             std::string_view what_is_missing) {
  const int reach = symbols == Symbols::for_the_process ? RTLD_GLOBAL : RTLD_LOCAL;
  void* const module = ::dlopen((own_folder() / file).c_str(), RTLD_NOW | reach);
  const void* const address = module == nullptr ? nullptr : ::dlsym(module, symbol);
  if (address != nullptr) return address;
  const char* const fault = ::dlerror();
  throw Error(code, fmt::format("{}: {}", what_is_missing, fault == nullptr ? "no reason is known" : fault));
}

}  // namespace fab::core
