// Reduce-scatter: the vectors of all ranks become one, of which each rank gets its part (MPI-4.1, section 6.10). Common
// to all calls is what fab/collectives.h says, and: throws Error(invalid_argument) for another number of counts than
// ranks.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>

#include "fab/collectives.h"

namespace fab {

/// A vector is a block for each rank in a row; rank i's comes to `recv` of rank i.
void reduce_scatter_block(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                          const Operator& operation);
[[nodiscard]] Request ireduce_scatter_block(const Communicator& communicator, const void* send, void* recv,
                                            const Layout& block, const Operator& operation);
[[nodiscard]] PersistentExchange reduce_scatter_block_init(const Communicator& communicator, const void* send,
                                                           void* recv, const Layout& block, const Operator& operation);

/// In place, on all ranks: the vector is at `buffer`, and the result comes to its begin; the rest stays as it is.
void reduce_scatter_block(const Communicator& communicator, void* buffer, const Layout& block,
                          const Operator& operation);
[[nodiscard]] Request ireduce_scatter_block(const Communicator& communicator, void* buffer, const Layout& block,
                                            const Operator& operation);
[[nodiscard]] PersistentExchange reduce_scatter_block_init(const Communicator& communicator, void* buffer,
                                                           const Layout& block, const Operator& operation);

/// Rank i gets counts[i] elements of the vector, which holds `element`s in a row. Counts are the same on all ranks.
void reduce_scatter(const Communicator& communicator, const void* send, void* recv, const Layout& element,
                    std::span<const int> counts, const Operator& operation);
[[nodiscard]] Request ireduce_scatter(const Communicator& communicator, const void* send, void* recv,
                                      const Layout& element, std::span<const int> counts, const Operator& operation);
[[nodiscard]] PersistentExchange reduce_scatter_init(const Communicator& communicator, const void* send, void* recv,
                                                     const Layout& element, std::span<const int> counts,
                                                     const Operator& operation);

/// In place, as above.
void reduce_scatter(const Communicator& communicator, void* buffer, const Layout& element, std::span<const int> counts,
                    const Operator& operation);
[[nodiscard]] Request ireduce_scatter(const Communicator& communicator, void* buffer, const Layout& element,
                                      std::span<const int> counts, const Operator& operation);
[[nodiscard]] PersistentExchange reduce_scatter_init(const Communicator& communicator, void* buffer,
                                                     const Layout& element, std::span<const int> counts,
                                                     const Operator& operation);

// Arrays of trivially copyable elements.

namespace detail {

/// Counts are for `send` elements together, and this rank's is `recv`, if that is given.
inline void check_counts(const Communicator& communicator, std::size_t send, std::optional<std::size_t> recv,
                         std::span<const int> counts) {
  const auto refuse = [](const char* what, std::size_t elements, std::size_t counted) {
    throw Error(Errc::invalid_count, "reduce_scatter: " + std::to_string(elements) + " elements " + what +
                                         "; the counts say " + std::to_string(counted));
  };
  if (counts.size() != static_cast<std::size_t>(communicator.size())) return;  // refused by the call
  const auto total = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(communicator.rank())]);
  if (send != total) refuse("to send", send, total);
  if (recv && *recv != own) refuse("to receive", *recv, own);
}

inline void check_vector(const Communicator& communicator, std::size_t vector, std::size_t block, const char* call) {
  const std::size_t needed = block * static_cast<std::size_t>(communicator.size());
  if (vector != needed)
    throw Error(Errc::invalid_count, std::string(call) + ": a vector of " + std::to_string(vector) + " elements; " +
                                         std::to_string(communicator.size()) + " blocks have " +
                                         std::to_string(needed));
}

}  // namespace detail

template <detail::Element T, detail::Combines<T> Operation>
void reduce_scatter_block(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                          const Operation& operation) {
  detail::check_vector(communicator, send.size(), recv.size(), "reduce_scatter_block");
  reduce_scatter_block(communicator, send.data(), recv.data(), detail::array_of(recv),
                       detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request ireduce_scatter_block(const Communicator& communicator, std::span<const T> send,
                                            std::span<T> recv, const Operation& operation) {
  detail::check_vector(communicator, send.size(), recv.size(), "reduce_scatter_block");
  return ireduce_scatter_block(communicator, send.data(), recv.data(), detail::array_of(recv),
                               detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange reduce_scatter_block_init(const Communicator& communicator, std::span<const T> send,
                                                           std::span<T> recv, const Operation& operation) {
  detail::check_vector(communicator, send.size(), recv.size(), "reduce_scatter_block");
  return reduce_scatter_block_init(communicator, send.data(), recv.data(), detail::array_of(recv),
                                   detail::operator_on<T>(operation));
}

/// The block has as many elements as there are in `buffer` for each rank.
template <detail::Element T, detail::Combines<T> Operation>
void reduce_scatter_block(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  const std::size_t block = buffer.size() / static_cast<std::size_t>(communicator.size());
  detail::check_vector(communicator, buffer.size(), block, "reduce_scatter_block");
  reduce_scatter_block(communicator, buffer.data(), detail::array_of(buffer.first(block)),
                       detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request ireduce_scatter_block(const Communicator& communicator, std::span<T> buffer,
                                            const Operation& operation) {
  const std::size_t block = buffer.size() / static_cast<std::size_t>(communicator.size());
  detail::check_vector(communicator, buffer.size(), block, "reduce_scatter_block");
  return ireduce_scatter_block(communicator, buffer.data(), detail::array_of(buffer.first(block)),
                               detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange reduce_scatter_block_init(const Communicator& communicator, std::span<T> buffer,
                                                           const Operation& operation) {
  const std::size_t block = buffer.size() / static_cast<std::size_t>(communicator.size());
  detail::check_vector(communicator, buffer.size(), block, "reduce_scatter_block");
  return reduce_scatter_block_init(communicator, buffer.data(), detail::array_of(buffer.first(block)),
                                   detail::operator_on<T>(operation));
}

/// `recv` has as many elements as this rank's count.
template <detail::Element T, detail::Combines<T> Operation>
void reduce_scatter(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                    std::span<const int> counts, const Operation& operation) {
  detail::check_counts(communicator, send.size(), recv.size(), counts);
  reduce_scatter(communicator, send.data(), recv.data(), Layout::contiguous(sizeof(T)), counts,
                 detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request ireduce_scatter(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                                      std::span<const int> counts, const Operation& operation) {
  detail::check_counts(communicator, send.size(), recv.size(), counts);
  return ireduce_scatter(communicator, send.data(), recv.data(), Layout::contiguous(sizeof(T)), counts,
                         detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange reduce_scatter_init(const Communicator& communicator, std::span<const T> send,
                                                     std::span<T> recv, std::span<const int> counts,
                                                     const Operation& operation) {
  detail::check_counts(communicator, send.size(), recv.size(), counts);
  return reduce_scatter_init(communicator, send.data(), recv.data(), Layout::contiguous(sizeof(T)), counts,
                             detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
void reduce_scatter(const Communicator& communicator, std::span<T> buffer, std::span<const int> counts,
                    const Operation& operation) {
  detail::check_counts(communicator, buffer.size(), std::nullopt, counts);
  reduce_scatter(communicator, buffer.data(), Layout::contiguous(sizeof(T)), counts, detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request ireduce_scatter(const Communicator& communicator, std::span<T> buffer,
                                      std::span<const int> counts, const Operation& operation) {
  detail::check_counts(communicator, buffer.size(), std::nullopt, counts);
  return ireduce_scatter(communicator, buffer.data(), Layout::contiguous(sizeof(T)), counts,
                         detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange reduce_scatter_init(const Communicator& communicator, std::span<T> buffer,
                                                     std::span<const int> counts, const Operation& operation) {
  detail::check_counts(communicator, buffer.size(), std::nullopt, counts);
  return reduce_scatter_init(communicator, buffer.data(), Layout::contiguous(sizeof(T)), counts,
                             detail::operator_on<T>(operation));
}

}  // namespace fab
