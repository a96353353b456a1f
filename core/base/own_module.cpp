#include "core/base/own_module.h"

#include <dlfcn.h>

namespace fab::core {

namespace {

/// The folder of the library that this is part of, with a slash; empty where it cannot be had.
std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

}  // namespace

const void* load_from_module(const std::string& file, const char* symbol, Symbols symbols) {
  const int reach = symbols == Symbols::for_the_process ? RTLD_GLOBAL : RTLD_LOCAL;
  void* const module = ::dlopen((own_folder() + file).c_str(), RTLD_NOW | reach);
  return module == nullptr ? nullptr : ::dlsym(module, symbol);
}

std::string load_fault() {
  const char* const fault = ::dlerror();
  return fault == nullptr ? "no reason is known" : fault;
}

}  // namespace fab::core
