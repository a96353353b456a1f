// The only source of the module fab_libfabric.so, which is linked with libfabric.
#include "providers/ofi/loading/functions.h"

extern "C" __attribute__((visibility("default"))) const fab::ofi::LibfabricFunctions fab_libfabric{
    fi_getinfo, fi_freeinfo, fi_dupinfo, fi_fabric, fi_strerror, fi_version};
