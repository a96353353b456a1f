// Messages that are longer than the provider can carry at once.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/provider.h"

namespace fab::ofi {

/// Goes in parts of one tag, each of which is posted when the one before it has ended. Sender and receiver cut alike.
struct SplitMessage {
  enum class Kind : std::uint8_t { send, receive, write };

  Kind kind = Kind::send;
  PeerHandle peer = 0;
  std::vector<iovec> pieces{};  ///< of the whole
  std::uint64_t bytes = 0;      ///< of the whole
  std::uint64_t most = 0;       ///< bytes in a part
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;              ///< receives
  const Registration* source = nullptr;  ///< writes
  RemoteMemory target{};                 ///< writes
  std::uint32_t data = 0;                ///< writes
  std::uint64_t ended = 0;               ///< bytes of the parts that have

  [[nodiscard]] bool is_in_last_part() const noexcept { return bytes - ended <= most; }
};

/// The memory of one part.
struct SplitPart {
  std::vector<iovec> pieces;
  std::size_t first_piece = 0;  ///< of the message
};
[[nodiscard]] SplitPart next_part(const SplitMessage& message);

class SplitMessages {
 public:
  [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
  SplitMessage& add(const Completion& completion, SplitMessage message);
  [[nodiscard]] SplitMessage* find(const Completion& completion);
  /// No effect on what is none.
  void remove(const Completion& completion);

  /// Its next part is to be posted.
  void make_due(Completion& completion) { due_.push_back(&completion); }
  [[nodiscard]] bool is_due(const Completion& completion) const noexcept;
  [[nodiscard]] bool has_due() const noexcept { return !due_.empty(); }
  [[nodiscard]] Completion& take_due();
  /// One that was refused, the first again.
  void put_back(Completion& completion) { due_.push_front(&completion); }

 private:
  std::unordered_map<const Completion*, SplitMessage> messages_;
  std::deque<Completion*> due_;
};

}  // namespace fab::ofi
