// The first bytes of a committed schedule; tables follow at the offsets that it gives (bytes from the start).
#pragma once

#include <cstdint>

#include "fab/schedule.h"

namespace fab {

struct ScheduleHeader {
  static constexpr std::uint32_t kMagic = 0x66616273;  // "fabs"
  static constexpr std::uint32_t kVersion = 2;

  struct Table {
    std::uint32_t offset = 0;
    std::uint32_t count = 0;
  };

  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint64_t scratch_bytes = 0;
  std::uint32_t buffer_count = 0;
  std::uint32_t unused = 0;
  Table name;  // characters
  Table peers;
  Table rounds;
  Table operations;
  Table blocks;
  Table nodes;
};

}  // namespace fab
