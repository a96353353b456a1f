// A neighbour exchange of all ranks of an InProcessJob, with its data and the expected result.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "unit/harness/in_process_job.h"
#include "unit/support/scattered_blocks.h"

namespace fab::test {

struct ExchangeOptions {
  std::uint32_t seed = 1;
  std::size_t longest_bytes = 100;  ///< of a block
  std::size_t most_pieces = 1;      ///< of a block
  bool in_place = false;            ///< then all blocks have the same size
};

class Exchange {
 public:
  Exchange(InProcessJob::Communicators communicators, const ExchangeOptions& options);

  core::Run& start(Rank rank);
  /// Compares everything in the receive buffer with what the neighbours sent, also the bytes that must not be touched,
  /// and the send buffer with itself.
  void check(Rank rank) const;
  /// Fills the receive buffers anew; other data in the send buffers each time.
  void reset(std::uint32_t generation);
  /// Starts on all ranks, drives, checks.
  void run(InProcessJob& job);

 private:
  struct Side {
    std::unique_ptr<ScatteredBlocks> blocks;
    std::vector<std::byte> buffer;
    std::vector<std::byte> before;
  };

  [[nodiscard]] const Neighborhood& edges(Rank rank) const;
  [[nodiscard]] std::size_t edge_bytes(Rank from, const Edge& edge) const;
  [[nodiscard]] std::vector<std::byte> data(Rank from, std::size_t block, std::size_t bytes) const;
  [[nodiscard]] Side make_side(std::uint32_t seed) const;
  [[nodiscard]] const Side& sent(Rank rank) const;
  void fill(Rank rank);

  InProcessJob::Communicators communicators_;
  ExchangeOptions options_;
  std::uint32_t generation_ = 0;
  std::vector<Side> send_;
  std::vector<Side> recv_;
};

}  // namespace fab::test
