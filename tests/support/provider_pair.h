// Two ends of a provider in this process, and the messages between them.
#pragma once

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/bootstrap/store.h"
#include "core/provider.h"
#include "providers/ofi/ofi_provider.h"
#include "support/fill.h"
#include "support/outcome.h"
#include "support/time_limit.h"

namespace fab::test {

using Bytes = std::vector<std::byte>;

/// Around memory that is written to, to show that nothing else is.
inline constexpr std::size_t kMargin = 100;

/// Bytes that tell their place, and one message from another.
[[nodiscard]] Bytes pattern(std::size_t bytes, std::size_t seed);

/// Cuts memory into about equal pieces.
[[nodiscard]] std::vector<iovec> cut(std::span<std::byte> memory, std::size_t pieces);

/// Of two ranks on one node, which are the whole job.
[[nodiscard]] JobInfo one_of_two(Rank rank);

[[nodiscard]] const Log& log_of_ends();

/// Libfabric's end of that rank.
[[nodiscard]] std::unique_ptr<ofi::OfiProvider> open_end(const Config& config, Rank rank);

/// What peers' writes told this rank.
struct Heard final : WriteListener {
  void written(std::uint32_t data) noexcept override { numbers.push_back(data); }
  std::vector<std::uint32_t> numbers;
};

/// What a fixture has that tests a provider: the left end sends and writes, the right one receives and hears of it.
class ProviderPair {
 protected:
  enum class First { receive, send };

  ProviderPair(std::unique_ptr<Provider> left, std::unique_ptr<Provider> right);

  template <class Done>
  void poll_until(const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(time_limit_s(30));
    while (!done()) {
      left_->poll();
      right_->poll();
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing comes";
    }
  }
  template <class... Outcomes>
  void poll_until_ended(const Outcomes&... outcomes) {
    poll_until([&] { return (outcomes.ended && ...); });
  }

  // What is refused for now is repeated.
  void send(std::span<const iovec> pieces, std::uint64_t tag, Outcome& departure);
  void receive(std::span<const iovec> pieces, std::uint64_t tag, Outcome& arrival, std::uint64_t ignore = 0);
  void write(std::span<const iovec> pieces, const Registration& source, const RemoteMemory& target, std::uint32_t data,
             Outcome& departure);

  /// One message, cut differently at its two ends, with all that can be said of it.
  void transfer(std::size_t bytes, std::size_t pieces_sent, std::size_t pieces_received, First first = First::receive);
  /// The same of a write.
  void write_and_tell(std::size_t bytes, std::size_t pieces, std::uint32_t data);

  Heard heard_;  ///< the right end
  std::unique_ptr<Provider> left_;
  std::unique_ptr<Provider> right_;
  PeerHandle to_right_ = 0;
  PeerHandle from_left_ = 0;
  std::uint64_t tag_ = 0x1000;  ///< of the last transfer

 private:
  template <class Attempt>
  void post(const Attempt& attempt, Outcome& departure);
};

}  // namespace fab::test
