#include "core/wire/match_tag.h"

#include <fmt/core.h>

#include <algorithm>

namespace fab::core {

namespace {

constexpr unsigned kFlagBits = 3;
constexpr unsigned kMinSequenceBits = 6;
constexpr unsigned kMaxSequenceBits = 24;
constexpr unsigned kMinNumberBits = 6;
constexpr unsigned kMaxNumberBits = 16;
constexpr unsigned kMaxPartBits = 12;
static_assert(kFlagBits + kMaxSequenceBits + kMaxNumberBits + kMaxPartBits + TagFormat::kSlotBits <= 64);

}  // namespace

TagFormat::TagFormat(const Capabilities& capabilities, int job_size) {
  constexpr unsigned kMinFreeBits = kMinSequenceBits + kMinNumberBits + kMinPartBits;
  const unsigned width = capabilities.tag_bits();
  const auto rank_bits = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(job_size - 1)));
  source_bits_ = capabilities.directed_receive ? 0 : rank_bits;
  const unsigned fixed = kFlagBits + rank_bits + source_bits_ + kSlotBits;
  if (width < fixed + kMinFreeBits)
    throw Error(Errc::no_resources,
                fmt::format("a tag of {} bits is too narrow for a job of {} ranks; {} bits are needed", width, job_size,
                            fixed + kMinFreeBits));
  const unsigned free = width - fixed;
  part_bits_ = std::clamp(free / 6, kMinPartBits, std::min(kMaxPartBits, free - kMinSequenceBits - kMinNumberBits));
  number_bits_ = std::clamp((free - part_bits_) / 2, kMinNumberBits,
                            std::min(kMaxNumberBits, free - part_bits_ - kMinSequenceBits));
  sequence_bits_ = std::min(kMaxSequenceBits, free - part_bits_ - number_bits_);
  source_shift_ = kSlotBits + part_bits_;
  sequence_shift_ = source_shift_ + source_bits_;
  number_shift_ = sequence_shift_ + sequence_bits_;
  owner_shift_ = number_shift_ + number_bits_;
  persistent_ = 1ull << (owner_shift_ + rank_bits);
  later_ = 1ull << (width - 2);
  framed_ = later_ << 1;
}

}  // namespace fab::core
