// The memory that a rank shares with the others of its node: a head, and a ring for each rank that it sends to.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "providers/local/ring.h"
#include "providers/local/sleep_flag.h"

namespace fab::local {

/// Closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

/// Shared memory of a file, seen by this process. Unmaps itself.
class Mapping {
 public:
  Mapping() = default;
  /// Throws Error(no_resources).
  Mapping(int fd, std::uint64_t offset, std::size_t bytes, int protection = PROT_READ | PROT_WRITE);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  template <class What>
  [[nodiscard]] What* as() const noexcept {
    return static_cast<What*>(memory_);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

struct SegmentHead {
  static constexpr std::uint64_t kMagic = 0x6661622d6c6f6331;  // "fab-loc1"

  std::uint64_t magic;
  std::uint64_t cookie;           ///< of its address: a number that comes again is no mistake for it
  std::uint32_t issues_barriers;  ///< before it sleeps, so that who rings needs no fence
  alignas(kCacheLine) SleepFlag sleeping;
  alignas(kCacheLine) std::atomic<std::uint64_t> ring_offsets[1];  ///< by the receiver's place on the node; 0: none

  [[nodiscard]] static std::size_t bytes(std::size_t places) noexcept;
};

/// How others find a segment, as text in a rank's address.
struct SegmentName {
  std::string node;  ///< processes with the same one see each other's descriptors
  long process = 0;
  int descriptor = -1;
  int bell = -1;  ///< the descriptor of the pipe's end that is written
  std::uint64_t cookie = 0;
  std::size_t place = 0;  ///< on the node

  [[nodiscard]] std::string text() const;
  /// Throws Error(mismatch).
  [[nodiscard]] static SegmentName parse(std::string_view text);
};

/// What tells nodes (and what looks like one from inside) apart: the kernel's boot and the namespace of processes.
[[nodiscard]] std::string this_node();

/// This rank's own. Nothing of it has a name in any file system, so nothing is left behind.
class Segment {
 public:
  /// `places`: ranks on the node. Throws Error(no_resources).
  explicit Segment(std::size_t places);

  [[nodiscard]] SegmentHead& head() const noexcept { return *head_.as<SegmentHead>(); }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// A new ring to the rank at that place, which finds it in the head.
  Mapping make_ring(std::size_t place);

 private:
  Descriptor file_;
  Mapping head_;
  std::uint64_t bytes_ = 0;
};

/// Another rank's.
class PeerSegment {
 public:
  /// Throws Error(unreachable) when it cannot be had, or is not this user's.
  PeerSegment(const SegmentName& name, std::size_t places);

  [[nodiscard]] SegmentHead& head() const noexcept { return *head_.as<SegmentHead>(); }
  /// The ring to the rank at that place, once there is one.
  [[nodiscard]] bool has_ring(std::size_t place) const noexcept;
  [[nodiscard]] Mapping map_ring(std::size_t place) const;

 private:
  Descriptor file_;
  Mapping head_;
};

}  // namespace fab::local
