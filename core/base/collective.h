// The collectives whose algorithm can be chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fab {

enum class Collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,       ///< and alltoallw
  reduce_scatter,  ///< and reduce_scatter_block
  scan,
  exscan
};

inline constexpr std::string_view kCollectiveNames[] = {
    "barrier",   "bcast",      "reduce",   "allreduce", "gather",         "gatherv", "scatter", "scatterv",
    "allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter", "scan",    "exscan"};
inline constexpr std::size_t kCollectives = sizeof(kCollectiveNames) / sizeof(kCollectiveNames[0]);
static_assert(kCollectives == static_cast<std::size_t>(Collective::exscan) + 1);

[[nodiscard]] constexpr std::string_view to_string(Collective collective) noexcept {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}

}  // namespace fab
