// Ways in which programs find out with MPI which ranks will send to them, as they are mostly written by hand.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// A rank's destinations, and a block of `bytes` bytes for each, one behind the other.
struct DiscoveryInput {
  std::vector<int> destinations{};
  std::size_t bytes = 0;
  std::vector<std::byte> blocks{};
};

/// What it finds, in any order.
struct DiscoveryOutput {
  std::vector<int> sources{};
  std::vector<std::byte> blocks{};

  bool operator==(const DiscoveryOutput&) const = default;
};

struct DiscoveryWay {
  std::string name;
  std::string call;  ///< what is timed
  std::function<DiscoveryOutput(const DiscoveryInput&)> discover;
};

/// Collective over all ranks: each has a communicator of its own.
[[nodiscard]] std::vector<DiscoveryWay> mpi_discoveries();

}  // namespace bench
