// The disguise of tags, and the proof that a message is from a rank of the job.
#include "providers/ofi/receiver_key.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "unit/support/expect_error.h"

namespace fab::ofi {
namespace {

using test::expect_error;

Capabilities with_tag_bits(unsigned bits) {
  Capabilities result;
  result.tag_mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  return result;
}

ReceiverKey::Room room(unsigned tag_bits, std::size_t data_bytes) {
  return ReceiverKey::room_of(with_tag_bits(tag_bits).closed_tag_bits(), data_bytes);
}

/// What the authors of SipHash publish for the bytes 0 to 7 under the key of the bytes 0 to 15.
static_assert(siphash({0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull}, 0x0706050403020100ull) == 0x93f5f5799a932462ull);

TEST(Permutation, OfFewBitsIsOne) {
  for (const unsigned bits : {2u, 4u, 10u, 16u}) {
    const Permutation permutation({1, bits}, bits);
    std::set<std::uint64_t> images;
    for (std::uint64_t number = 0; number < 1ull << bits; ++number) {
      images.insert(permutation.of(number));
      ASSERT_LT(permutation.of(number), 1ull << bits);
      ASSERT_EQ(permutation.inverse(permutation.of(number)), number);
    }
    EXPECT_EQ(images.size(), 1u << bits);
  }
}

TEST(Permutation, OfNeighboursIsFarApart) {
  for (const unsigned bits : {30u, 46u, 58u, 62u, 64u}) {
    const Permutation permutation({3, 4}, bits);
    double flipped = 0;
    for (unsigned i = 0; i < 1000; ++i)
      flipped += std::popcount(permutation.of(i) ^ permutation.of(i ^ 1ull << i % bits));
    EXPECT_NEAR(flipped / 1000, bits / 2.0, bits / 16.0) << "half of the bits change with any of them";
  }
}

TEST(ReceiverKey, DisguisesTheClosedBitsAlone) {
  std::mt19937_64 random(1);
  for (const unsigned tag_bits : {28u, 32u, 43u, 48u, 60u, 63u, 64u}) {
    const std::uint64_t closed = with_tag_bits(tag_bits).closed_tag_bits();
    const std::uint64_t mask = with_tag_bits(tag_bits).tag_mask;
    const ReceiverKey key(room(tag_bits, 8));
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t tag = random() & mask;
      EXPECT_EQ(key.disguise(tag) & ~closed, tag & ~closed);
      EXPECT_EQ(key.uncover(key.disguise(tag)), tag);
    }
  }
}

TEST(ReceiverKey, OtherRanksHaveOtherKeys) {
  const ReceiverKey one(room(64, 8));
  const ReceiverKey other(room(64, 8));
  EXPECT_NE(one.disguise(1), other.disguise(1));
  EXPECT_NE(one.proof(1), other.proof(1));
  EXPECT_NE(one.disguise_data(1), other.disguise_data(1));
}

TEST(ReceiverKey, TravelsAsText) {
  for (const std::size_t data_bytes : {0u, 4u, 8u}) {
    const ReceiverKey own(room(60, data_bytes));
    const ReceiverKey theirs(room(60, data_bytes), own.text());
    for (const std::uint64_t tag : {0ull, 1ull, 77ull << 20}) {
      EXPECT_EQ(own.uncover(theirs.disguise(tag)), tag);
      EXPECT_EQ(own.proof(tag), theirs.proof(tag));
      if (!own.has_proof()) continue;
      EXPECT_EQ(own.uncover_data(theirs.disguise_data(4711)), 4711u);
    }
  }
}

TEST(ReceiverKey, OfAnotherKindIsRefused) {
  const std::string good = ReceiverKey(room(64, 8)).text();
  for (const std::string& bad :
       std::vector<std::string>{"", "00", good + "0", good.substr(1), 'g' + good.substr(1), good.substr(1) + ' '})
    expect_error(Errc::mismatch, {"no key"}, [&] { ReceiverKey(room(64, 8), bad); });
}

TEST(ReceiverKey, ProofsAreAsWideAsThereIsRoom) {
  EXPECT_FALSE(ReceiverKey(room(64, 0)).has_proof());
  EXPECT_EQ(ReceiverKey(room(64, 4)).proof(5) >> 32, 0u);
  const ReceiverKey wide(room(64, 8));
  std::uint64_t seen = 0;
  for (std::uint64_t tag = 0; tag < 64; ++tag) seen |= wide.proof(tag);
  EXPECT_EQ(seen, ~0ull);
  EXPECT_EQ(room(64, 8).text(), "62+64");
  EXPECT_EQ(room(60, 4).text(), "58+32");
  EXPECT_EQ(room(32, 0).text(), "30+0");
}

TEST(ReceiverKey, DataThatIsGuessedIsRefused) {
  const ReceiverKey key(room(64, 8));
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(key.uncover_data(random())) << "one in 2^32 is taken";
    EXPECT_FALSE(key.uncover_data(static_cast<std::uint64_t>(i))) << "as a stranger would who knows of no key";
  }
  EXPECT_EQ(key.uncover_data(key.disguise_data(0xffff'ffff)), 0xffff'ffffu);
}

}  // namespace
}  // namespace fab::ofi
