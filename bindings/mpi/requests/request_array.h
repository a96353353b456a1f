// The requests of a completion call that takes an array.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "bindings/mpi/requests/exchange.h"

namespace fab::mpi {

/// While it lives, MPI_REQUEST_NULL stands in the user's array in place of each exchange, so that MPI may look at the
/// rest. Afterwards the handles are back, but for those whose exchanges have ended.
class RequestArray {
 public:
  RequestArray(int count, MPI_Request requests[]);
  ~RequestArray();
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  /// Requests of MPI's own, active or not.
  [[nodiscard]] bool others() const noexcept { return others_; }
  /// MPI has completed them all.
  void others_ended() noexcept { others_ = false; }
  /// Whether an exchange is in flight, or ready and the user does not know.
  [[nodiscard]] bool exchanges_active() const noexcept { return active_ > 0; }
  [[nodiscard]] bool all_ready() noexcept;
  /// The first one that is ready, from that index on; -1 if there is none.
  [[nodiscard]] int find_ready(int from = 0) const noexcept;
  /// Of the exchanges, null where there is none in flight.
  [[nodiscard]] std::span<core::Pending* const> pending() const noexcept { return pending_; }
  /// Ends one that is ready. For any other entry: nothing was wrong.
  [[nodiscard]] Outcome end(int index);

 private:
  static constexpr std::size_t kBytesOnStack = 1024;

  std::array<std::byte, kBytesOnStack> stack_;
  std::pmr::monotonic_buffer_resource memory_{stack_.data(), stack_.size()};
  std::span<MPI_Request> requests_;
  std::pmr::vector<Exchange*> exchanges_{&memory_};
  std::pmr::vector<core::Pending*> pending_{&memory_};
  std::size_t active_ = 0;
  std::size_t known_ready_ = 0;  ///< entries before it are ready, or nothing is in flight
  bool others_ = false;
};

}  // namespace fab::mpi
