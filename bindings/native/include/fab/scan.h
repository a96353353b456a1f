// Prefixes: rank i gets the combination of the blocks of the lower ranks, in their order (MPI-4.1, section 6.11).
// Common to all calls is what fab/collectives.h says.
#pragma once

#include <span>

#include "fab/collectives.h"

namespace fab {

/// Of ranks 0 to i.
void scan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
          const Operator& operation);
[[nodiscard]] Request iscan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                            const Operator& operation);
[[nodiscard]] PersistentExchange scan_init(const Communicator& communicator, const void* send, void* recv,
                                           const Layout& block, const Operator& operation);

/// In place: the block is replaced. Ranks may mix this with the form above.
void scan(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation);
[[nodiscard]] Request iscan(const Communicator& communicator, void* buffer, const Layout& block,
                            const Operator& operation);
[[nodiscard]] PersistentExchange scan_init(const Communicator& communicator, void* buffer, const Layout& block,
                                           const Operator& operation);

/// Of ranks 0 to i - 1; the receive block of rank 0 stays as it is.
void exscan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
            const Operator& operation);
[[nodiscard]] Request iexscan(const Communicator& communicator, const void* send, void* recv, const Layout& block,
                              const Operator& operation);
[[nodiscard]] PersistentExchange exscan_init(const Communicator& communicator, const void* send, void* recv,
                                             const Layout& block, const Operator& operation);

/// In place: the block is replaced, but on rank 0. Ranks may mix this with the form above.
void exscan(const Communicator& communicator, void* buffer, const Layout& block, const Operator& operation);
[[nodiscard]] Request iexscan(const Communicator& communicator, void* buffer, const Layout& block,
                              const Operator& operation);
[[nodiscard]] PersistentExchange exscan_init(const Communicator& communicator, void* buffer, const Layout& block,
                                             const Operator& operation);

// Arrays of trivially copyable elements.

template <detail::Element T, detail::Combines<T> Operation>
void scan(const Communicator& communicator, std::span<const T> send, std::span<T> recv, const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "scan");
  scan(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request iscan(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                            const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "scan");
  return iscan(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange scan_init(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                                           const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "scan");
  return scan_init(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
void scan(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  scan(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request iscan(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  return iscan(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange scan_init(const Communicator& communicator, std::span<T> buffer,
                                           const Operation& operation) {
  return scan_init(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}

template <detail::Element T, detail::Combines<T> Operation>
void exscan(const Communicator& communicator, std::span<const T> send, std::span<T> recv, const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "exscan");
  exscan(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request iexscan(const Communicator& communicator, std::span<const T> send, std::span<T> recv,
                              const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "exscan");
  return iexscan(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange exscan_init(const Communicator& communicator, std::span<const T> send,
                                             std::span<T> recv, const Operation& operation) {
  detail::check_equal(send.size(), recv.size(), "exscan");
  return exscan_init(communicator, send.data(), recv.data(), detail::array_of(send), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
void exscan(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  exscan(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] Request iexscan(const Communicator& communicator, std::span<T> buffer, const Operation& operation) {
  return iexscan(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}
template <detail::Element T, detail::Combines<T> Operation>
[[nodiscard]] PersistentExchange exscan_init(const Communicator& communicator, std::span<T> buffer,
                                             const Operation& operation) {
  return exscan_init(communicator, buffer.data(), detail::array_of(buffer), detail::operator_on<T>(operation));
}

}  // namespace fab
