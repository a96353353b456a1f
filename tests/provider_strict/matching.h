// Matches receives and messages by tag and source.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "wire.h"

namespace strict {

struct Receive {
  std::vector<iovec> pieces;
  std::vector<void*> descriptors;
  std::string source;  ///< empty: any
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  void* context = nullptr;
};

/// What has come of a message.
struct Message {
  std::string source;
  std::uint64_t transfer = 0;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  bool has_data = false;
  std::uint64_t total = 0;
  std::uint64_t arrived = 0;
  bool matched = false;
  Receive receive;              ///< when matched
  std::vector<std::byte> kept;  ///< otherwise
};

class Matching {
 public:
  using Complete = std::function<void(const Message&)>;
  explicit Matching(Complete complete) : complete_(std::move(complete)) {}

  void post(Receive receive);
  void arrived(const FrameHead& head, const std::byte* payload, const std::string& source);
  /// Takes back a receive that nothing has matched; false when there is none.
  bool take_back(const void* context, Receive& receive);
  /// Posted, or matched and not complete.
  [[nodiscard]] std::size_t receives() const noexcept { return receives_; }

 private:
  Message& message_of(const FrameHead& head, const std::string& source);
  void complete_if_whole(std::list<Message>::iterator message);

  Complete complete_;
  std::list<Receive> posted_;
  std::list<Message> messages_;  ///< in the order in which their first frames came
  std::size_t receives_ = 0;
};

[[nodiscard]] std::uint64_t bytes_of(const std::vector<iovec>& pieces);
/// Writes to the pieces, from an offset in all of them on, as far as there is room.
void scatter(const std::vector<iovec>& pieces, std::uint64_t offset, const std::byte* from, std::uint64_t bytes);
void gather(const std::vector<iovec>& pieces, std::uint64_t offset, std::byte* to, std::uint64_t bytes);

}  // namespace strict
