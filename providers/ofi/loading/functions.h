// The functions of libfabric that are not inline, in a table.
//
// libfabric brings many libraries along, some of which take long to load (stand_ins.h), and a job of one node never
// calls it. So libfab is not linked with libfabric: on_demand.cpp defines the functions, and their first call loads the
// module fab/fab_libfabric.so, which is, and has the table. A linked table and not dlsym(), because the linker notes
// which version of each function the headers describe. A static libfab is linked with libfabric.
#pragma once

#include <rdma/fabric.h>

namespace fab::ofi {

struct LibfabricFunctions {
  decltype(fi_getinfo)* getinfo;
  decltype(fi_freeinfo)* freeinfo;
  decltype(fi_dupinfo)* dupinfo;
  decltype(fi_fabric)* fabric;
  decltype(fi_strerror)* strerror;
  decltype(fi_version)* version;
};

/// The name of the table, and where the module lies, seen from libfab's folder.
inline constexpr const char* kLibfabricTable = "fab_libfabric";
inline constexpr const char* kLibfabricModule = "fab/fab_libfabric.so";

}  // namespace fab::ofi
