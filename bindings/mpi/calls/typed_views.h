// Memory for the blocks of calls with a datatype each.
#pragma once

#include <vector>

#include "collectives/calls/block_list.h"

namespace fab::mpi {

// From a thread's second call on, describing blocks allocates nothing. No call begins while another one of the thread
// describes its blocks.
inline thread_local std::vector<collectives::BlockView> send_views;
inline thread_local std::vector<collectives::BlockView> recv_views;

}  // namespace fab::mpi
