// What the ranks read, decide and gather together. Calls are collective over MPI_COMM_WORLD.
#ifndef BENCH_APPS_REALSPACE_COLLECTION_H
#define BENCH_APPS_REALSPACE_COLLECTION_H

#include <span>
#include <string>
#include <vector>

#include "realspace/domain.h"
#include "realspace/grid.h"

namespace realspace {

struct Team {
  int rank = 0;
  int ranks = 1;
};

Team world_team();

// Rank 0's text.
std::string broadcast(std::string text, const Team& team);

// Reads the file on rank 0 only, so that it need not exist on other nodes. Throws InputError on all ranks or on none.
std::string read_text_everywhere(const std::string& path, const Team& team);

// The part of every grid point. Throws InputError if there are more ranks than points.
std::vector<int> partition_everywhere(const Grid& grid, const Team& team);

// `owned` has `width` values for each owned slot. All values by grid point on rank 0, empty elsewhere.
std::vector<double> gather_by_point(const Domain& domain, std::span<const double> owned, std::size_t width,
                                    std::size_t grid_points, const Team& team);

void sum_in_place(std::span<double> values);
double sum_over_ranks(double value);
double largest_of_ranks(double value);

// The means over the ranks of as many values on each, on rank 0; elsewhere they mean nothing.
std::vector<double> means_over_ranks(const std::vector<double>& values, const Team& team);

}  // namespace realspace

#endif
