#include "collectives/calls/brief.h"

namespace fab::collectives {

namespace {

/// Where a list's layout is; false: it cannot be named.
bool name_layout(const BlockList& list, std::uint64_t& name) noexcept {
  if (list.element() == nullptr) return true;
  const auto nodes = list.element()->nodes();
  name = reinterpret_cast<std::uintptr_t>(nodes.data());
  return !nodes.empty();
}

}  // namespace

core::CallBrief brief_of(std::uint64_t head, const BlockList& send, const BlockList& recv,
                         std::uint64_t number) noexcept {
  if (!send.is_regular() || !recv.is_regular()) return {};
  const std::uint64_t elements[] = {send.elements_of_each(), recv.elements_of_each()};
  const std::uint64_t blocks[] = {send.size(), recv.size()};
  if ((elements[0] | elements[1]) >> 32 != 0 || (blocks[0] | blocks[1]) >> 24 != 0 || number >> 16 != 0) return {};
  core::CallBrief brief{{head, 0, 0, elements[0] << 32 | elements[1], number << 48 | blocks[0] << 24 | blocks[1]}};
  const bool named = name_layout(send, brief.words[1]) && name_layout(recv, brief.words[2]);
  return named ? brief : core::CallBrief{};
}

}  // namespace fab::collectives
