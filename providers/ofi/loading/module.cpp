// All of the module that is linked with libfabric.
#include "providers/ofi/loading/functions.h"

extern "C" __attribute__((visibility("default"))) const fab::ofi::LibfabricFunctions fab_libfabric{
    fi_getinfo, fi_freeinfo, fi_dupinfo, fi_fabric, fi_strerror, fi_version};
