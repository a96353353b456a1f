// The memory of a message as a list of pieces that is walked once.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/provider.h"

namespace fab::local {

/// Copies the first `bytes` of the pieces; they hold as many.
inline void gather(std::span<const iovec> pieces, std::byte* out, std::uint64_t bytes) noexcept {
  for (const iovec& piece : pieces) {
    const std::uint64_t part = std::min<std::uint64_t>(piece.iov_len, bytes);
    if (part > 0) std::memcpy(out, piece.iov_base, part);
    out += part;
    bytes -= part;
  }
}

/// Copies as much as the pieces hold.
inline void scatter(std::span<const iovec> pieces, const std::byte* in, std::uint64_t bytes) noexcept {
  for (const iovec& piece : pieces) {
    const std::uint64_t part = std::min<std::uint64_t>(piece.iov_len, bytes);
    if (part > 0) std::memcpy(piece.iov_base, in, part);
    in += part;
    bytes -= part;
  }
}

/// A copy of the list that remembers how far it was walked. Most lists are short: only what they hold is copied.
class Pieces {
 public:
  Pieces() noexcept {}  // not defaulted, which would let {} clear all of the array
  Pieces(const Pieces& other) noexcept { assign(other.left()); }
  Pieces& operator=(const Pieces& other) noexcept {
    if (this != &other) assign(other.left());
    return *this;
  }
  ~Pieces() = default;

  void assign(std::span<const iovec> pieces) noexcept {
    std::copy(pieces.begin(), pieces.end(), pieces_.begin());
    count_ = static_cast<std::uint32_t>(pieces.size());
    next_ = 0;
  }
  [[nodiscard]] std::span<const iovec> left() const noexcept {
    return std::span(pieces_).subspan(next_, count_ - next_);
  }
  /// The first `bytes` of the memory that is left.
  [[nodiscard]] Pieces first(std::uint64_t bytes) const noexcept {
    Pieces result;
    for (const iovec& piece : left()) {
      if (bytes == 0) break;
      iovec& kept = result.pieces_[result.count_++];
      kept = {piece.iov_base, static_cast<std::size_t>(std::min<std::uint64_t>(piece.iov_len, bytes))};
      bytes -= kept.iov_len;
    }
    return result;
  }
  void gather_next(std::byte* out, std::uint64_t bytes) noexcept {
    gather(left(), out, bytes);
    skip(bytes);
  }
  void scatter_next(const std::byte* in, std::uint64_t bytes) noexcept {
    scatter(left(), in, bytes);
    skip(bytes);
  }
  void skip(std::uint64_t bytes) noexcept {
    for (; next_ < count_; ++next_) {
      iovec& piece = pieces_[next_];
      const std::uint64_t part = std::min<std::uint64_t>(piece.iov_len, bytes);
      piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
      piece.iov_len -= part;
      bytes -= part;
      if (piece.iov_len > 0) return;
    }
  }
  /// Both hold as many bytes.
  void copy_next(Pieces& from, std::uint64_t bytes) noexcept {
    skip(0);
    from.skip(0);
    while (bytes > 0) {
      const iovec& target = pieces_[next_];
      const iovec& source = from.pieces_[from.next_];
      const std::uint64_t part = std::min<std::uint64_t>({target.iov_len, source.iov_len, bytes});
      std::memcpy(target.iov_base, source.iov_base, part);
      skip(part);
      from.skip(part);
      bytes -= part;
    }
  }
  /// To change the addresses of.
  [[nodiscard]] std::span<iovec> left() noexcept { return std::span(pieces_).subspan(next_, count_ - next_); }

 private:
  std::array<iovec, kMaxPieces> pieces_;
  std::uint32_t count_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace fab::local
