// How much of its memory a ring uses, and the area for several receivers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "providers/local/ring.h"
#include "providers/local/shared_area.h"

namespace fab::test {
namespace {

using local::Ring;
using local::SharedArea;
using local::Stretch;

/// A ring whose reader reads each stretch at once, or never.
class RingMemory : public testing::Test {
 protected:
  /// Where in the memory it lies; kBulkBytes: there is no room.
  std::uint64_t write(std::uint64_t bytes) {
    Stretch stretch;
    if (writer_.bulk(bytes, stretch) == nullptr) return Ring::kBulkBytes;
    writer_.take(stretch);
    last_ = stretch;
    return stretch.begin % Ring::kBulkBytes;
  }
  void read() { reader_.release(last_); }

  struct alignas(Ring) Memory {
    std::array<std::byte, sizeof(Ring)> bytes{};
  };

  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  Ring& ring_ = *reinterpret_cast<Ring*>(memory_->bytes.data());
  local::RingWriter writer_{ring_};
  local::RingReader reader_{ring_};
  Stretch last_;
};

TEST_F(RingMemory, AReaderThatKeepsUpNeedsLittleForShortMessages) {
  for (const std::uint64_t bytes : {200u, 1000u, 2048u}) {
    std::uint64_t most = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t place = write(bytes);
      ASSERT_LT(place, Ring::kBulkBytes);
      most = std::max(most, place + bytes);
      read();
    }
    EXPECT_LE(most, Ring::kBulkBytes / 16) << bytes;
  }
}

TEST_F(RingMemory, OneThatDoesNotGetsAllOfIt) {
  std::uint64_t room = 0;
  while (write(2048) < Ring::kBulkBytes) ++room;
  EXPECT_EQ(room, Ring::kBulkBytes / 2048);
  read();
  EXPECT_EQ(write(2048), 0u);
}

TEST_F(RingMemory, EachLengthFindsRoomAfterEachOther) {
  for (const std::uint64_t first : {1u, 64u, 16'384u, 100'000u, 131'072u})
    for (const std::uint64_t second : {1u, 64u, 16'384u, 100'000u, 131'072u}) {
      ASSERT_LT(write(first), Ring::kBulkBytes) << first;
      read();
      ASSERT_LT(write(second), Ring::kBulkBytes) << first << ", " << second;
      read();
    }
}

TEST(AreaMemory, ReadersThatKeepUpNeedLittle) {
  std::vector<std::byte> memory(SharedArea::kBytes);
  SharedArea area(memory.data());
  for (int i = 0; i < 3; ++i) area.add_link();
  bool reads = true;
  const auto has_passed = [&reads](std::size_t, std::uint32_t) { return reads; };
  const auto write = [&] {
    Stretch stretch;
    if (area.take(2048, stretch, has_passed) == nullptr) return SharedArea::kBytes;
    for (std::size_t link = 0; link < 3; ++link) area.named_by(link, 1);
    return stretch.begin % SharedArea::kBytes;
  };
  for (int i = 0; i < 1000; ++i) EXPECT_LT(write(), SharedArea::kQuarterBytes / 2);
  reads = false;
  std::uint64_t most = 0;
  for (std::uint64_t place = 0; (place = write()) < SharedArea::kBytes;) most = std::max(most, place);
  EXPECT_EQ(most, SharedArea::kBytes - 2048);
}

}  // namespace
}  // namespace fab::test
