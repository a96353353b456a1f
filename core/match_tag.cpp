#include "core/match_tag.h"

#include <fmt/format.h>

#include <algorithm>

namespace fab::core {

namespace {

constexpr unsigned kFramedBits = 1;
constexpr unsigned kMinSequenceBits = 10;
constexpr unsigned kMinNumberBits = 6;
constexpr unsigned kMaxNumberBits = 16;
constexpr unsigned kMaxSequenceBits = 24;
static_assert(kFramedBits + kMaxNumberBits + kMaxSequenceBits + TagFormat::kSlotBits < 64);

}  // namespace

TagFormat::TagFormat(const Capabilities& capabilities, int job_size) {
  // A provider that keeps high bits to itself has a mask of low ones: the lowest unusable bit ends what fab may use.
  const auto width = static_cast<unsigned>(std::countr_one(capabilities.tag_mask));
  const auto rank_bits = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(job_size - 1)));
  source_bits_ = capabilities.directed_receive ? 0 : rank_bits;
  const unsigned fixed = kFramedBits + rank_bits + source_bits_ + kSlotBits;
  if (width < fixed + kMinSequenceBits + kMinNumberBits)
    throw Error(Errc::no_resources,
                fmt::format("a tag of {} bits is too narrow for a job of {} ranks; {} bits are needed", width, job_size,
                            fixed + kMinSequenceBits + kMinNumberBits));
  const unsigned free = width - fixed;
  number_bits_ = std::min(kMaxNumberBits, std::max(kMinNumberBits, free / 2));
  sequence_bits_ = std::min(kMaxSequenceBits, free - number_bits_);
  sequence_shift_ = kSlotBits + source_bits_;
  number_shift_ = sequence_shift_ + sequence_bits_;
  owner_shift_ = number_shift_ + number_bits_;
  framed_ = 1ull << (owner_shift_ + rank_bits);
}

}  // namespace fab::core
