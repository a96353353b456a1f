// A provider that costs nothing: sends are complete when they are posted, receives when the benchmark says so.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/provider.h"

namespace fab::bench {

class NullProvider final : public Provider {
 public:
  NullProvider() { receives_.reserve(4096); }

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::string& description() const noexcept override { return name_; }
  [[nodiscard]] const std::string& address() const noexcept override { return name_; }
  PeerHandle connect(std::string_view) override { return 0; }
  [[nodiscard]] PostResult post_send(PeerHandle, std::span<const iovec>, std::uint64_t, Completion&) override {
    return PostResult::done;
  }
  [[nodiscard]] PostResult post_recv(PeerHandle, std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t,
                                     Completion& completion) override {
    std::uint64_t bytes = 0;
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    receives_.push_back({&completion, bytes, tag});
    return PostResult::pending;
  }
  void cancel(Completion&) override {}
  /// Everything that was received for has come.
  std::size_t poll() override {
    for (const Receive& receive : receives_) receive.completion->done(receive.bytes, receive.tag);
    const std::size_t events = receives_.size();
    receives_.clear();
    return events;
  }
  [[nodiscard]] bool may_sleep() override { return false; }

 private:
  struct Receive {
    Completion* completion;
    std::uint64_t bytes;
    std::uint64_t tag;
  };

  const std::string name_ = "null";
  const Capabilities capabilities_{.inject_bytes = 0,
                                   .iov_limit = 16,
                                   .max_message_bytes = std::numeric_limits<std::int64_t>::max(),
                                   .directed_receive = true,
                                   .wait_fd = false,
                                   .takes_longer_messages = true};
  std::vector<Receive> receives_;
};

}  // namespace fab::bench
