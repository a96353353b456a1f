// The memory that a rank shares with the others of its node: a head, the ring and the area that all of them read, and
// one ring for each rank that it sends to.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "providers/local/common_ring.h"
#include "providers/local/given_up_board.h"
#include "providers/local/numa.h"
#include "providers/local/ring.h"
#include "providers/local/shared_area.h"
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

/// Shared memory, seen by this process. Unmaps itself.
class Mapping {
 public:
  Mapping() = default;
  /// Of a System V segment, all of it. Throws Error(no_resources).
  [[nodiscard]] static Mapping attach(int id);
  /// Of what another one maps, which must outlive this.
  [[nodiscard]] static Mapping part_of(const Mapping& whole, std::uint64_t offset) noexcept;
  /// Throws Error(no_resources).
  Mapping(int fd, std::uint64_t offset, std::size_t bytes, int protection = PROT_READ | PROT_WRITE);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  template <class What>
  [[nodiscard]] What* as() const noexcept {
    return static_cast<What*>(memory_);
  }

  [[nodiscard]] bool mapped() const noexcept { return memory_ != nullptr; }

 private:
  enum class Kind : std::uint8_t { file, attached, part };

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;  ///< of a file's
  Kind kind_ = Kind::file;
};

struct SegmentHead {
  static constexpr std::uint64_t kMagic = 0x6661622d6c6f6334;  // "fab-loc4"

  std::uint64_t magic;
  std::uint64_t cookie;            ///< of its address: a number that comes again is no mistake for it
  NumaNode numa_node;              ///< where it ran when it made this
  std::uint32_t issues_barriers;   ///< before it sleeps, so that who rings needs no fence
  std::atomic<std::int32_t> lost;  ///< one more than the first rank of the job that it has lost; 0: none
  std::atomic<bool> closed;        ///< in order: it has received what it waited for, and sends nothing any more
  std::atomic<bool> caller_waits;  ///< and so polls, and answers soon
  GivenUpBoard given_up;
  alignas(kCacheLine) SleepFlag sleeping;
  alignas(kCacheLine) std::atomic<std::uint64_t> ring_offsets[1];  ///< by the receiver's place on the node; 0: none

  [[nodiscard]] static std::size_t bytes(std::size_t places) noexcept;
  /// Behind a head of so many places.
  [[nodiscard]] CommonRing& common_ring(std::size_t places) noexcept {
    return *reinterpret_cast<CommonRing*>(reinterpret_cast<std::byte*>(this) + bytes(places));
  }
  /// Of a SharedArea, behind that.
  [[nodiscard]] std::byte* area(std::size_t places) noexcept {
    return reinterpret_cast<std::byte*>(this) + bytes(places) + common_bytes();
  }
  [[nodiscard]] static std::size_t common_bytes() noexcept;
};

/// How others find a segment, as text in a rank's address.
struct SegmentName {
  std::string node;  ///< processes with the same one see each other's descriptors
  long process = 0;
  int descriptor = -1;  ///< of its file; -1: it has none
  int memory = -1;      ///< then: the number of its System V segment
  int doorbell = -1;    ///< the descriptor of the pipe's end that is written
  std::uint64_t cookie = 0;
  std::size_t place = 0;  ///< on the node

  [[nodiscard]] std::string text() const;
  /// Throws Error(mismatch).
  [[nodiscard]] static SegmentName parse(std::string_view text);
};

/// What tells nodes (and what looks like one from inside) apart: the kernel's boot and the namespace of processes.
[[nodiscard]] std::string this_node();

/// Whether that process has ended, as far as the kernel tells.
[[nodiscard]] bool has_ended(long process) noexcept;
/// Throws Error(unreachable) about something of that process which could not be had, for the reason in errno; the end
/// of the process is the first reason.
[[noreturn]] void fail_at_process(long process, const std::string& what);

/// This rank's own. Nothing of it has a name in any file system, so nothing is left behind: it is an anonymous file or,
/// where the system refuses those, a System V segment that ends with its last user, or else a file in /dev/shm.
class Segment {
 public:
  /// `places`: ranks on the node. Throws Error(no_resources).
  explicit Segment(std::size_t places);

  [[nodiscard]] SegmentHead& head() const noexcept { return *head_.as<SegmentHead>(); }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  [[nodiscard]] int memory() const noexcept { return memory_; }
  /// Why it is no file of the kind that is best; empty: it is one.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  /// A new ring to the rank at that place, which finds it in the head, in memory of its reader's node.
  Mapping make_ring(std::size_t place, NumaNode of_reader);

 private:
  [[nodiscard]] bool make_memory(std::uint64_t bytes);
  void make_next_best(std::uint64_t bytes);

  Descriptor file_;
  int memory_ = -1;
  std::string refusal_;
  Mapping whole_;  ///< of a System V segment
  Mapping head_;
  std::uint64_t used_bytes_ = 0;
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
  void open_file(const SegmentName& name, std::size_t bytes);
  void open_memory(const SegmentName& name, std::size_t bytes);

  Descriptor file_;
  Mapping whole_;  ///< of a System V segment
  Mapping head_;
};

}  // namespace fab::local
