// Messages from rank to rank, by fab or by the MPI library.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/exchange_options.h"
#include "support/fab_path.h"
#include "support/sent_by_way.h"

namespace bench {

/// The messages of one thread, on a communicator of its own.
class Lane {
 public:
  Lane() = default;
  virtual ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  virtual void send(int peer, int tag, std::span<const std::byte> data) = 0;
  virtual void receive(int peer, int tag, std::span<std::byte> data) = 0;
  /// Start, and return at once.
  virtual void start_send(int peer, int tag, std::span<const std::byte> data) = 0;
  virtual void start_receive(int peer, int tag, std::span<std::byte> data) = 0;
  /// Waits for all that were started.
  virtual void complete() = 0;
};

/// One library's lanes, as many as threads.
struct Lanes {
  std::string library;
  std::string blocking;     ///< what send and receive call
  std::string nonblocking;  ///< what the others call
  std::vector<std::unique_ptr<Lane>> of_thread{};
};

/// Collective over all ranks.
[[nodiscard]] Lanes mpi_lanes(int threads);

/// fab's, with a context of its own.
class FabLanes {
 public:
  /// Collective over all ranks.
  explicit FabLanes(const ThreadOptions& threads);
  ~FabLanes();
  FabLanes(const FabLanes&) = delete;
  FabLanes& operator=(const FabLanes&) = delete;

  [[nodiscard]] FabPath path() const;
  [[nodiscard]] Lanes& lanes();
  /// How a message of so many bytes meets its receive by fab's rules: "eager" or "rendezvous".
  [[nodiscard]] const char* protocol(std::size_t bytes) const;
  /// The messages that this rank's lanes have sent so far.
  [[nodiscard]] SentByWay sent() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench
