// One rank's share of the grid: the points it owns, the ghost points it reads, and the values it exchanges.
#ifndef BENCH_APPS_REALSPACE_DOMAIN_H
#define BENCH_APPS_REALSPACE_DOMAIN_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "realspace/grid.h"

namespace realspace {

// A vector on a domain holds one value per slot:
//   [0, inner_count)              owned points whose stencil stays inside the domain
//   [inner_count, owned_count())  owned points at the boundary
//   then                          ghost points, one block per neighbor in the order of `neighbors`
//   the last slot                 the zero outside the grid
struct Domain {
  struct Neighbor {
    int rank = 0;
    std::vector<std::int32_t> send_slots;  // owned points that are ghosts there, in their order there
    int ghost_count = 0;
  };

  std::size_t inner_count = 0;
  std::size_t ghost_count = 0;
  std::vector<std::int32_t> owned;  // grid point of every owned slot
  std::vector<Neighbor> neighbors;
  std::vector<std::array<std::int32_t, kStencilNeighbors>> stencil;  // slots around every owned point

  std::size_t owned_count() const { return owned.size(); }
  std::size_t zero_slot() const { return owned.size() + ghost_count; }
  std::size_t slot_count() const { return zero_slot() + 1; }
};

// The domain of `rank`, whose neighbors are `neighbor_ranks` (ascending, as part_neighbors lists them).
Domain make_domain(const Grid& grid, const std::vector<int>& part_of_point, int rank,
                   const std::vector<int>& neighbor_ranks);

}  // namespace realspace

#endif
