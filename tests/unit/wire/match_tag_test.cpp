#include "core/wire/match_tag.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "unit/support/expect_error.h"

namespace fab::core {
namespace {

using test::expect_error;

std::uint64_t mask_of(unsigned bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

Capabilities capabilities(bool directed_receive, unsigned tag_bits) {
  Capabilities result;
  result.directed_receive = directed_receive;
  result.tag_mask = mask_of(tag_bits);
  return result;
}

unsigned bits_for(int job_size) { return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(job_size - 1))); }

/// Bits that the format cannot do without: three flags, owner, perhaps source, slot, and at least 6 of the sequence, 6
/// of the number and 3 of the part.
unsigned least_bits(bool directed_receive, int job_size) {
  return 3 + bits_for(job_size) * (directed_receive ? 1 : 2) + 8 + 6 + 6 + 3;
}

/// One of the values that a field of `count` values can have, the ends more often than others.
std::uint64_t pick(std::uint64_t count, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return count - 1;
    default:
      return random() % count;
  }
}

/// A provider and a job.
struct Case {
  int job_size;
  bool directed_receive;
  unsigned tag_bits;

  bool fits() const { return least_bits(directed_receive, job_size) <= tag_bits; }
  TagFormat format() const { return {capabilities(directed_receive, tag_bits), job_size}; }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int job_size : {1, 2, 3, 4, 5, 16, 1000, 1 << 12, 1 << 16, 1 << 20})
    for (const bool directed_receive : {false, true})
      for (const unsigned tag_bits : {64u, 63u, 60u, 48u, 43u, 34u, 32u, 30u, 28u})
        cases.push_back({job_size, directed_receive, tag_bits});
  return cases;
}

/// Calls `body` for every case that a tag is wide enough for.
template <class Body>
void for_each_format(Body body) {
  for (const Case& each : all_cases()) {
    if (!each.fits()) continue;
    SCOPED_TRACE(testing::Message() << each.job_size << " ranks, directed receive " << each.directed_receive << ", "
                                    << each.tag_bits << " bits");
    body(each, each.format());
  }
}

TEST(TagFormat, TooNarrowTagsAreRefused) {
  int refused = 0;
  for (const Case& each : all_cases()) {
    if (each.fits()) continue;
    ++refused;
    const std::string bits = "a tag of " + std::to_string(each.tag_bits) + " bits";
    const std::string job = "a job of " + std::to_string(each.job_size) + " ranks";
    const std::string needed = std::to_string(least_bits(each.directed_receive, each.job_size)) + " bits are needed";
    expect_error(Errc::no_resources, {bits.c_str(), job.c_str(), needed.c_str()}, [&] { each.format(); });
  }
  EXPECT_GT(refused, 0);
}

TEST(TagFormat, EveryFieldIsWideEnough) {
  for_each_format([](const Case&, const TagFormat& tags) {
    EXPECT_EQ(tags.slots(), 256u);
    EXPECT_GE(tags.sequences(), 64u);
    EXPECT_LE(tags.sequences(), 1u << 24);
    EXPECT_GE(tags.numbers(), 64u);
    EXPECT_LE(tags.numbers(), 1u << 16);
    EXPECT_EQ(tags.max_in_flight(), tags.sequences() / 2);
  });
}

TEST(TagFormat, TagsOf32BitsServeSmallJobs) {
  const TagFormat tags(capabilities(false, 32), 8);
  EXPECT_GE(tags.numbers(), 64u);
  EXPECT_GE(tags.max_in_flight(), 32u);
}

TEST(TagFormat, TagsStayWithinTheMask) {
  for_each_format([](const Case& its, const TagFormat& tags) {
    const std::uint64_t all = tags.context({its.job_size - 1, static_cast<std::uint32_t>(tags.numbers() - 1)}) |
                              tags.sequence(tags.sequences() - 1) | tags.message(its.job_size - 1, 255) |
                              tags.framed() | tags.last(~0ull) | tags.last(1) |
                              (tags.middle_parts() > 0 ? tags.middle(tags.middle_parts() - 1) : 0);
    EXPECT_EQ(all & ~mask_of(its.tag_bits), 0u);
  });
}

TEST(TagFormat, DifferentMessagesHaveDifferentTags) {
  using Fields = std::tuple<Rank, std::uint32_t, std::uint64_t, Rank, std::uint32_t, bool>;
  for_each_format([](const Case& its, const TagFormat& tags) {
    const auto ranks = static_cast<std::uint64_t>(its.job_size);
    std::mt19937_64 random(7);
    std::map<std::uint64_t, Fields> seen;
    for (int i = 0; i < 5000; ++i) {
      const ContextId id{static_cast<Rank>(pick(ranks, random)),
                         static_cast<std::uint32_t>(pick(tags.numbers(), random))};
      const std::uint64_t sequence = pick(tags.sequences(), random);
      // With directed receives the source is no part of the tag.
      const Rank source = its.directed_receive ? 0 : static_cast<Rank>(pick(ranks, random));
      const auto slot = static_cast<std::uint32_t>(pick(tags.slots(), random));
      const bool framed = random() % 2 == 0;
      const std::uint64_t tag =
          tags.context(id) | tags.sequence(sequence) | tags.message(source, slot) | (framed ? tags.framed() : 0);
      const Fields fields{id.owner, id.number, sequence, source, slot, framed};
      const auto [entry, fresh] = seen.try_emplace(tag, fields);
      ASSERT_TRUE(fresh || entry->second == fields) << "tag " << tag << " stands for two messages";
    }
  });
}

TEST(TagFormat, LaterPartsOfAMessageMeetNoFirstPart) {
  for_each_format([](const Case&, const TagFormat& tags) {
    for (const std::uint32_t slot : {0u, 255u}) {
      for (const std::uint64_t bytes : {0ull, 1ull, 40000ull, 1ull << 40, ~0ull})
        EXPECT_NE((tags.message(0, slot) | tags.last(bytes)) & ~tags.framed(), tags.message(0, slot)) << bytes;
      for (std::uint32_t i = 0; i < tags.middle_parts(); ++i)
        EXPECT_NE((tags.message(0, slot) | tags.middle(i)) & ~tags.framed(), tags.message(0, slot)) << i;
    }
  });
}

TEST(TagFormat, PartsInTheMiddleMeetOnlyThoseOfTheirNumber) {
  for_each_format([](const Case& its, const TagFormat& tags) {
    std::set<std::uint64_t> marks;
    for (std::uint32_t i = 0; i < tags.middle_parts(); ++i) marks.insert(tags.middle(i));
    EXPECT_EQ(marks.size(), tags.middle_parts());
    for (std::uint64_t bytes = 65536; bytes < 65536 + 10'000; ++bytes) EXPECT_EQ(marks.count(tags.last(bytes)), 0u);
    EXPECT_LE(tags.middle_parts(), 256u);
    if (its.tag_bits == 64 && its.job_size <= 16) {
      EXPECT_GE(tags.middle_parts(), 64u);
    }
  });
}

TEST(TagFormat, LastPartsOfMessagesOfDifferentLengthSeldomMeet) {
  for_each_format([](const Case&, const TagFormat& tags) {
    constexpr std::uint64_t kFirst = 32769;
    int meetings = 0;
    for (std::uint64_t bytes = kFirst + 1; bytes < kFirst + 4096; ++bytes)
      meetings += tags.last(bytes) == tags.last(kFirst) ? 1 : 0;
    EXPECT_LE(meetings, 4096 / 16 * 2) << "at least three bits of a hash should tell them apart";
  });
}

TEST(TagFormat, SequenceWraps) {
  const TagFormat tags(capabilities(true, 64), 4);
  EXPECT_EQ(tags.sequence(tags.sequences()), tags.sequence(0));
  EXPECT_EQ(tags.sequence(~0ull), tags.sequence(tags.sequences() - 1));
  EXPECT_NE(tags.sequence(0), tags.sequence(tags.sequences() - 1));
}

TEST(TagFormat, SourceIsPartOfTheTagOnlyWithoutDirectedReceive) {
  const TagFormat directed(capabilities(true, 64), 8);
  const TagFormat undirected(capabilities(false, 64), 8);
  EXPECT_EQ(directed.message(3, 5), directed.message(4, 5));
  EXPECT_NE(undirected.message(3, 5), undirected.message(4, 5));
}

TEST(TagFormat, OnlyTheLowestUnbrokenBitsOfAMaskCount) {
  Capabilities broken;
  broken.directed_receive = true;
  broken.tag_mask = mask_of(48) | 0xff00'0000'0000'0000ull;
  EXPECT_EQ(TagFormat(broken, 4).framed(), TagFormat(capabilities(true, 48), 4).framed());
  broken.tag_mask = ~1ull;
  expect_error(Errc::no_resources, {"a tag of 0 bits"}, [&] { TagFormat(broken, 4); });
}

}  // namespace
}  // namespace fab::core
