// How messages leave and enter memory: in place, packed, in one part or several.
#include "core/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <span>

#include "core/run/run.h"
#include "core/wire/frame.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

constexpr std::size_t kHead = core::kHeadBytes;

/// `pieces` pieces of `bytes` bytes, twice as far apart.
Layout pieces_of(std::size_t pieces, std::size_t bytes) {
  return Layout::vector(pieces, 1, static_cast<std::ptrdiff_t>(2 * bytes), Layout::contiguous(bytes));
}

/// Sends and receives one block each, and looks at the posts.
class PlannedMessage : public testing::Test {
 protected:
  void post(const Layout& layout, const Capabilities& capabilities, bool check = false) {
    RecordingRig::Options options;
    options.capabilities = capabilities;
    options.config.check = check;
    rig_ = std::make_unique<RecordingRig>(options);
    rig_->world()->compare_no_calls();  // what a comparison sends would come first
    buffers_ = Buffers(static_cast<std::size_t>(layout.true_upper_bound()) + 1);
    ScheduleBuilder builder("test", 2);
    builder.send(1, 0, {BufferId::send, 0, layout});
    builder.recv(1, 0, {BufferId::recv, 0, layout});
    run_ = &rig_->start(builder.commit(), buffers_);
  }
  ~PlannedMessage() override {
    if (run_ == nullptr) return;
    rig_->provider().settle_all(0);  // receives that fail settle too
    rig_->poll();
    rig_->poll();
    rig_->let_go(*run_);
  }
  [[nodiscard]] Post posted(OperationKind kind, std::size_t part = 0) const {
    return rig_->provider().posts().at(rig_->provider().find(kind, 1, part));
  }
  [[nodiscard]] std::size_t parts(OperationKind kind) const { return rig_->provider().count(kind); }
  /// Pieces that lie in a buffer of the user.
  [[nodiscard]] static std::size_t in_place(const Post& post, const std::vector<std::byte>& buffer) {
    return static_cast<std::size_t>(
        std::count_if(post.pieces.begin(), post.pieces.end(), [&buffer](const iovec& piece) {
          const auto* address = static_cast<const std::byte*>(piece.iov_base);
          return std::greater_equal<>()(address, buffer.data()) &&
                 std::less<>()(address, buffer.data() + buffer.size());
        }));
  }
  static Capabilities with_iov(std::size_t limit) {
    Capabilities capabilities = RecordingProvider::default_capabilities();
    capabilities.iov_limit = limit;
    return capabilities;
  }

  std::unique_ptr<RecordingRig> rig_;
  Buffers buffers_{1};
  std::shared_ptr<core::RunPool> pool_;  ///< of the run, unless the run keeps its plan
  core::Run* run_ = nullptr;
};

TEST_F(PlannedMessage, ContiguousOnesStayInPlace) {
  post(Layout::contiguous(10), with_iov(4));
  EXPECT_EQ(posted(kSend).pieces.size(), 1u);
  EXPECT_EQ(in_place(posted(kSend), buffers_.send), 1u);
  EXPECT_EQ(in_place(posted(kRecv), buffers_.recv), 1u);
}

TEST_F(PlannedMessage, ReceivesHaveRoomForWhatIsTooLong) {
  post(Layout::contiguous(10), with_iov(4));
  EXPECT_EQ(posted(kRecv).bytes(), kHead);
}

TEST_F(PlannedMessage, ReceivesInOnePieceHaveRoomToo) {
  post(Layout::contiguous(10), with_iov(1));
  EXPECT_EQ(posted(kRecv).bytes(), kHead);
  EXPECT_EQ(posted(kSend).bytes(), 10u);
  EXPECT_EQ(in_place(posted(kSend), buffers_.send), 1u);
}

TEST_F(PlannedMessage, SmallScatteredOnesArePacked) {
  post(pieces_of(3, 8), with_iov(4));
  EXPECT_EQ(posted(kSend).pieces.size(), 1u);
  EXPECT_EQ(in_place(posted(kSend), buffers_.send), 0u);
  EXPECT_EQ(in_place(posted(kRecv), buffers_.recv), 0u);
}

TEST_F(PlannedMessage, LongerScatteredOnesStayInPlaceWhereTheProviderTakesTheirPieces) {
  post(pieces_of(3, 2000), with_iov(4));
  EXPECT_EQ(posted(kSend).pieces.size(), 3u);
  EXPECT_EQ(in_place(posted(kSend), buffers_.send), 3u);
  EXPECT_EQ(in_place(posted(kRecv), buffers_.recv), 3u);
}

TEST_F(PlannedMessage, TooManyPiecesArePacked) {
  post(pieces_of(5, 2000), with_iov(4));
  EXPECT_EQ(in_place(posted(kSend), buffers_.send), 0u);
  EXPECT_EQ(in_place(posted(kRecv), buffers_.recv), 0u);
  EXPECT_EQ(posted(kSend).bytes(), 10000u);
}

// A provider may claim more pieces than a run has room for on its stack.
TEST_F(PlannedMessage, AProviderWithManyPiecesIsNotTakenAtItsWord) {
  post(pieces_of(60, 200), with_iov(64));
  EXPECT_LE(posted(kSend).pieces.size(), kMaxPieces);
  EXPECT_EQ(posted(kSend).bytes(), 12000u);
}

TEST_F(PlannedMessage, LongerOnesHavePartsOfOneLengthInTheMiddle) {
  constexpr std::uint64_t kMiddle = core::kMiddleBytes;
  post(Layout::contiguous(kHead + 2 * kMiddle), with_iov(4));
  for (const OperationKind kind : {kSend, kRecv}) {
    ASSERT_EQ(parts(kind), 4u);
    EXPECT_EQ(posted(kind, 0).bytes(), kHead);
    EXPECT_EQ(posted(kind, 1).bytes(), kMiddle);
    EXPECT_EQ(posted(kind, 2).bytes(), kMiddle);
    EXPECT_EQ(posted(kind, 3).bytes(), core::frame_bytes(1)) << "for which the user's bytes make room";
  }
  std::set<std::uint64_t> tags;
  for (std::size_t part = 0; part < 4; ++part) {
    const std::uint64_t mask = ~posted(kRecv, part).ignore;
    EXPECT_EQ(posted(kSend, part).tag & mask, posted(kRecv, part).tag & mask);
    tags.insert(posted(kSend, part).tag & mask);
  }
  EXPECT_EQ(tags.size(), 4u);
}

TEST_F(PlannedMessage, PartsBeyondWhatTagsCanNumberAreOne) {
  Capabilities narrow = with_iov(4);
  narrow.tag_mask = (1u << 30) - 1;
  post(Layout::contiguous(1 << 20), narrow);
  ASSERT_EQ(parts(kSend), 2u);
  EXPECT_EQ(posted(kSend, 1).bytes(), (1 << 20) - kHead + core::frame_bytes(1));
}

// The receiver need not wait for the last byte.
TEST_F(PlannedMessage, APartIsUnpackedWhenItComes) {
  post(pieces_of(100'000, 8), with_iov(4));
  ASSERT_EQ(parts(kRecv), 4u);
  const auto arrived = [&] {
    rig_->poll();
    return std::count(buffers_.recv.begin(), buffers_.recv.end(), std::byte{1});
  };
  std::size_t user_bytes = 0;
  for (const std::size_t part : {0u, 2u, 1u, 3u}) {
    rig_->provider().deliver(rig_->provider().find(kRecv, 1, part), posted(kSend, part).message);
    user_bytes += posted(kSend, part).bytes() - (part == 0 ? core::frame_bytes(1) : 0);
    EXPECT_EQ(arrived(), user_bytes) << part;
  }
  EXPECT_EQ(user_bytes, 800'000u);
}

// What the first part finds broken spares the packing of the others.
TEST_F(PlannedMessage, APartIsPackedOnlyOnceTheOneBeforeItIsPosted) {
  rig_ = std::make_unique<RecordingRig>();
  const Layout layout = pieces_of(100'000, 8);
  buffers_ = Buffers(2 * layout.size());
  // What no memory that was used before holds, not even by this test.
  std::array<std::byte, 8> mark{};
  std::random_device random;
  for (std::byte& byte : mark) byte = static_cast<std::byte>(random());
  for (std::size_t at = 0; at < buffers_.send.size(); at += mark.size())
    std::ranges::copy(mark, buffers_.send.begin() + static_cast<std::ptrdiff_t>(at));
  ScheduleBuilder builder("test", 2);
  builder.send(1, 0, {BufferId::send, 0, layout});
  pool_ = rig_->pool(builder.commit());
  rig_->provider().fail_in_post(1, kSend, "broken");
  run_ = &rig_->start(*pool_, buffers_);
  const auto packed = [&](const core::PlannedOperation& part) {
    const std::span<const iovec> pieces = run_->memory(part);
    EXPECT_EQ(pieces.size(), 1u);
    const std::span bytes(static_cast<const std::byte*>(pieces[0].iov_base), pieces[0].iov_len);
    return std::search(bytes.begin(), bytes.end(), mark.begin(), mark.end()) != bytes.end();
  };
  ASSERT_EQ(pool_->plan().messages(0).size(), 4u);
  EXPECT_TRUE(packed(pool_->plan().messages(0)[0]));
  for (const std::size_t later : {1u, 2u, 3u}) EXPECT_FALSE(packed(pool_->plan().messages(0)[later])) << later;
}

TEST_F(PlannedMessage, LongOnesTravelInTwoParts) {
  const Layout layout = Layout::contiguous(kHead + 1);
  post(layout, with_iov(4));
  ASSERT_EQ(parts(kSend), 2u);
  ASSERT_EQ(parts(kRecv), 2u);
  for (const OperationKind kind : {kSend, kRecv}) {
    EXPECT_EQ(posted(kind, 0).bytes(), kHead);
    EXPECT_EQ(posted(kind, 0).bytes() + posted(kind, 1).bytes(), kHead + 1 + core::frame_bytes(1));
  }
  EXPECT_EQ(posted(kSend, 0).tag & ~rig_->context().tags().framed(), posted(kRecv, 0).tag & ~posted(kRecv, 0).ignore);
  EXPECT_NE(posted(kSend, 0).tag & ~posted(kRecv, 0).ignore, posted(kSend, 1).tag & ~posted(kRecv, 0).ignore);
}

TEST_F(PlannedMessage, OneOfExactlyTheLengthOfAHeadTravelsInOnePart) {
  post(Layout::contiguous(kHead), with_iov(4));
  EXPECT_EQ(parts(kSend), 1u);
  EXPECT_EQ(parts(kRecv), 1u);
  EXPECT_EQ(posted(kSend).bytes(), kHead);
}

TEST_F(PlannedMessage, CheckedOnesCarryAFrame) {
  post(Layout::contiguous(10), with_iov(4), true);
  EXPECT_EQ(posted(kSend).bytes(), 10u + core::frame_bytes(1));
  EXPECT_EQ(posted(kSend).tag & rig_->context().tags().framed(), rig_->context().tags().framed());
}

TEST(PlanLimits, AreNamed) {
  RecordingRig::Options options;
  options.capabilities.max_message_bytes = 1000;
  RecordingRig rig(options);
  expect_error(Errc::no_resources,
               {"test: a message of 1001 bytes to or from rank 2; the provider carries at most 1000"},
               [&] { (void)rig.pool(exchange_with({2}, 1001)); });
  EXPECT_NO_THROW((void)rig.pool(exchange_with({2}, 1000)));
  expect_error(Errc::no_resources, {"test: 257 messages between this rank and rank 2; at most 256 are possible"},
               [&] { (void)rig.pool(exchange_with({2}, 1, 257)); });
  EXPECT_NO_THROW((void)rig.pool(exchange_with({2}, 1, 256)));
}

}  // namespace
}  // namespace fab::test
