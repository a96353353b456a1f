// Partitioned exchanges: the threads of a rank send and receive their parts of blocks on their own (MPI-4.1, chapter 4,
// partitioned communication; here between neighbours).
#pragma once

#include <cstddef>

#include "fab/api.h"
#include "fab/persistent.h"

namespace fab {

/// A persistent exchange along a topology whose blocks consist of parts. A start sends nothing: threads mark parts
/// ready, and each part leaves as soon as it and its neighbours in a group are. A group has parts of at least 16 KiB
/// together, and a block has at most 8 groups, so a small block is sent when its last part is ready.
///
///     exchange.start();
///     // each thread t:
///     ...                         // writes its part of the block for destination 0
///     exchange.ready(0, t);
///     ...                         // computes something else
///     exchange.wait_part(0, t);
///     ...                         // reads its part of the block from source 0
///     // one thread, after the others:
///     exchange.wait();
///
/// From a start on a part of a sent block may be written until it is marked, and not again before the exchange is
/// complete; a part of a received block may be read once it has arrived. An exchange is complete when all parts were
/// marked, sent and received. Once it has failed it waits for no more parts; what is marked then is not sent, and the
/// neighbours that wait for it get an error.
///
/// ready, arrived and wait_part may be called by several threads at once, between start and the completion of the
/// exchange, which are calls of one thread. None of them allocates. The destructor gives up an active exchange whose
/// parts have not all been marked: its neighbours get an error.
class FAB_API PartitionedExchange : public PersistentExchange {
 public:
  /// No exchange, as a default-constructed PersistentExchange.
  PartitionedExchange() noexcept = default;

  /// Part `part` of the block for destination `destination` of the neighborhood is ready to be sent. Takes no lock, but
  /// for the last part of a group, which the calling thread sends. Throws Error(invalid_argument) if there is no such
  /// destination or part, if the part was marked before, and before the first start.
  void ready(std::size_t destination, std::size_t part);
  /// Makes some progress. Returns whether the part of the block from source `source` has arrived; true if the exchange
  /// is not active. Throws Error(invalid_argument) if there is no such source or part, and like wait if the exchange
  /// has failed.
  [[nodiscard]] bool arrived(std::size_t source, std::size_t part);
  /// Returns when the part has arrived. Throws like arrived.
  void wait_part(std::size_t source, std::size_t part);

  /// @{
  /// A call for parts without exceptions. It returns the failure that the call throws.
  [[nodiscard]] Status try_ready(std::size_t destination, std::size_t part) {
    return attempt([&] { ready(destination, part); });
  }
  [[nodiscard]] Result<bool> try_arrived(std::size_t source, std::size_t part) {
    return attempt([&] { return arrived(source, part); });
  }
  [[nodiscard]] Status try_wait_part(std::size_t source, std::size_t part) {
    return attempt([&] { wait_part(source, part); });
  }
  /// @}

 private:
  friend struct Access;
  explicit PartitionedExchange(PersistentExchange exchange) noexcept : PersistentExchange(std::move(exchange)) {}
  [[nodiscard]] core::Persistent& divided(const char* call) const;
};

}  // namespace fab
