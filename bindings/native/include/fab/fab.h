// fab: neighbour and collective exchanges straight on libfabric. This header includes the whole native API.
#pragma once

#include "fab/collectives.h"
#include "fab/communicator.h"
#include "fab/context.h"
#include "fab/error.h"
#include "fab/halo.h"
#include "fab/halo_geometry.h"
#include "fab/layout.h"
#include "fab/mapping.h"
#include "fab/memory.h"
#include "fab/neighbor.h"
#include "fab/operator.h"
#include "fab/persistent.h"
#include "fab/reduction.h"
#include "fab/request.h"
#include "fab/schedule.h"
#include "fab/topology.h"
