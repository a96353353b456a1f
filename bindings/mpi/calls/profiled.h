// MPI's second names (MPI-4.1, 15.2): the PMPI_ functions are the real ones, so that a profiler can stand in for the
// MPI_ ones.
#pragma once

#define FAB_PROFILED(name) __attribute__((weak, alias("P" #name)))
