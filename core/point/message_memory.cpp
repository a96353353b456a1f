#include "core/point/message_memory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace fab::core {

MessageMemory::MessageMemory(std::byte* base, const Layout& layout) : address_(base), bytes_(layout.size()) {
  if (!layout.is_contiguous())
    pieces_ = layout;
  else if (bytes_ > 0)
    address_ += layout.true_lower_bound();
}

void MessageMemory::pack(std::byte* out) const {
  if (pieces_)
    pieces_->pack(address_, out);
  else if (bytes_ > 0)
    std::memcpy(out, address_, bytes_);
}

void MessageMemory::unpack(const std::byte* in, std::uint64_t bytes) const {
  if (bytes == 0) return;
  if (!pieces_) {
    if (in != address_) std::memmove(address_, in, bytes);
    return;
  }
  if (bytes == bytes_) return pieces_->unpack(in, address_);
  std::vector<Piece> pieces(pieces_->piece_count());
  list_pieces(pieces_->nodes(), pieces);
  for (const Piece& piece : pieces) {
    const std::uint64_t part = std::min(piece.bytes, bytes);
    if (part > 0) std::memcpy(address_ + piece.offset, in, part);
    in += part;
    bytes -= part;
  }
}

void copy(const MessageMemory& from, const MessageMemory& to) {
  if (from.is_contiguous()) return to.unpack(from.contiguous(), from.bytes());
  const std::unique_ptr<std::byte[]> packed(new std::byte[from.bytes()]);
  from.pack(packed.get());
  to.unpack(packed.get(), from.bytes());
}

}  // namespace fab::core
