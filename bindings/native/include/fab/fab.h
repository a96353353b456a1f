// fab: neighbour and collective exchanges straight on libfabric. This header includes the whole native API.
#pragma once

#include "fab/communicator.h"
#include "fab/context.h"
#include "fab/error.h"
#include "fab/halo.h"
#include "fab/halo_geometry.h"
#include "fab/layout.h"
#include "fab/memory.h"
#include "fab/neighbor.h"
#include "fab/persistent.h"
#include "fab/point_to_point.h"
#include "fab/request.h"
#include "fab/schedule.h"
#include "fab/topology.h"
