// Frames, of which everything consists that travels, and the messages below that carry them.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace strict {

inline constexpr std::size_t kFrameBytes = 16 * 1024;

enum class FrameKind : std::uint32_t { message, write, answer };

struct FrameHead {
  FrameKind kind = FrameKind::message;
  std::uint32_t bytes = 0;     ///< that follow this
  std::uint64_t transfer = 0;  ///< the sender's number for all frames of a message or write
  std::uint64_t total = 0;
  std::uint64_t offset = 0;
  std::uint64_t tag = 0;
  std::uint64_t data = 0;
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::int32_t error = 0;  ///< an answer: what became of a write
  std::uint32_t has_data = 0;
  std::array<char, 32> source{};  ///< the sender's address
};

struct Frame {
  FrameHead head;
  std::array<std::byte, kFrameBytes> payload;
  std::uint64_t owner = 0;  ///< the transfer that hears when it has left; 0: none. It does not travel.
};

/// An endpoint below, for messages without tags.
class Wire {
 public:
  using Arrived = std::function<void(const Frame&)>;
  using Left = std::function<void(std::uint64_t owner, int error)>;

  /// Takes over the endpoint, which is enabled.
  Wire(fid_ep* endpoint, fid_cq* queue, Arrived arrived, Left left);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  [[nodiscard]] std::unique_ptr<Frame> new_frame();
  /// False: not now, and the frame stays with the caller.
  [[nodiscard]] bool send(fi_addr_t to, std::unique_ptr<Frame>& frame);
  void recycle(std::unique_ptr<Frame> frame) { spare_.push_back(std::move(frame)); }
  /// Takes what has come and what has left.
  void progress();

 private:
  using Frames = std::list<std::unique_ptr<Frame>>;

  void post_frames();
  void read_queue();
  void end(Frame& frame, int error);
  [[nodiscard]] static std::unique_ptr<Frame> take(Frames& frames, const Frame& frame);

  fid_ep* endpoint_;
  fid_cq* queue_;
  Arrived arrived_;
  Left left_;
  Frames posted_;    ///< for what comes
  Frames unposted_;  ///< as above, refused
  Frames leaving_;
  std::list<std::pair<std::uint64_t, int>> failed_;  ///< owners of frames that could not leave, and why
  Frames spare_;
};

}  // namespace strict
