// libfabric's functions under their own names, for libfab alone: the first call loads libfabric.
#include "core/base/own_module.h"
#include "fab/error.h"
#include "providers/ofi/loading/functions.h"
#include "providers/ofi/loading/stand_ins.h"

namespace fab::ofi {

namespace {

/// For all of the process, as it would be if libfab were linked with it: tools that count libfabric's calls see them.
const void* load_table() {
  return core::load_from_module(kLibfabricModule, kLibfabricTable, core::Symbols::for_the_process, Errc::configuration,
                                "libfabric cannot be loaded, without which there are no networks");
}

/// A libfabric that is newer than the stand-ins may need functions that they do not have.
const void* load_table_with_stand_ins() {
  StandIns stand_ins = StandIns::load();
  try {
    return load_table();
  } catch (const Error&) {
    if (!stand_ins.unload()) throw;
  }
  return load_table();
}

const LibfabricFunctions& functions() {
  static const auto* const loaded = static_cast<const LibfabricFunctions*>(load_table_with_stand_ins());
  return *loaded;
}

}  // namespace

}  // namespace fab::ofi

extern "C" {

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
               fi_info** info) {
  return fab::ofi::functions().getinfo(version, node, service, flags, hints, info);
}

void fi_freeinfo(fi_info* info) { fab::ofi::functions().freeinfo(info); }

fi_info* fi_dupinfo(const fi_info* info) { return fab::ofi::functions().dupinfo(info); }

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  return fab::ofi::functions().fabric(attributes, fabric, context);
}

const char* fi_strerror(int error) { return fab::ofi::functions().strerror(error); }

uint32_t fi_version(void) { return fab::ofi::functions().version(); }

}  // extern "C"
