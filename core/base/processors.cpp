#include "core/base/processors.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>

namespace fab::core {

namespace {

int bound_processors(hwloc_topology_t topology, int all) {
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (!set || hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS) != 0) return all;
  return std::max(1, hwloc_bitmap_weight(set.get()));
}

Processors read_processors() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {};
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) return {};
  const int all = std::max(1, hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PU));
  return {bound_processors(raw, all), all};
}

}  // namespace

Processors count_processors() {
  static const Processors processors = read_processors();
  return processors;
}

}  // namespace fab::core
