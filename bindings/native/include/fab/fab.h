// fab: neighbour and collective exchanges straight on libfabric. In C++ this header includes the whole native API; in C
// it includes fab/fab_c.h.
#pragma once

#ifdef __cplusplus
#include "fab/alltoall.h"
#include "fab/blocks.h"
#include "fab/buffer.h"
#include "fab/collectives.h"
#include "fab/communicator.h"
#include "fab/completions.h"
#include "fab/context.h"
#include "fab/error.h"
#include "fab/gather.h"
#include "fab/gather_sorted.h"
#include "fab/halo.h"
#include "fab/halo_geometry.h"
#include "fab/integers.h"
#include "fab/layout.h"
#include "fab/mapping.h"
#include "fab/memory.h"
#include "fab/neighbor.h"
#include "fab/neighbor_collectives.h"
#include "fab/operation.h"
#include "fab/operator.h"
#include "fab/persistent.h"
#include "fab/persistent_message.h"
#include "fab/point_to_point.h"
#include "fab/reduce_scatter.h"
#include "fab/reduction.h"
#include "fab/request.h"
#include "fab/result.h"
#include "fab/scan.h"
#include "fab/schedule.h"
#include "fab/topology.h"
#include "fab/wait_any.h"
#else
#include "fab/fab_c.h"
#endif
