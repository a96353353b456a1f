// Random nested layouts against the brute-force type map.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "fab/layout.h"
#include "unit/layout/type_map.h"

namespace fab {
namespace {

using test::TypeMap;

constexpr int kCases = 5000;
constexpr std::size_t kMaxBytes = 3000;
constexpr std::int64_t kMaxReach = 8000;

/// The same shape built twice, by the library and byte by byte.
struct Twin {
  Layout layout;
  TypeMap map;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  /// A nest of at most `depth` constructors that stays small enough to be listed byte by byte.
  Twin make(int depth) {
    Twin twin = depth == 0 ? leaf() : compose(depth);
    const bool small = twin.map.bytes.size() <= kMaxBytes && twin.map.high() - twin.map.low() <= kMaxReach;
    return small ? twin : leaf();
  }

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::size_t size(std::int64_t high) { return static_cast<std::size_t>(pick(0, high)); }

 private:
  Twin compose(int depth) {
    switch (pick(0, 7)) {
      case 0:
        return leaf();
      case 1:
        return vector(make(depth - 1));
      case 2:
        return indexed(make(depth - 1));
      case 3:
        return subarray(make(depth - 1));
      case 4:
        return structure(depth);
      case 5:
        return resized(make(depth - 1));
      case 6:
        return repeated(make(depth - 1));
      default:
        return shifted(make(depth - 1));
    }
  }

  /// Seldom 0: an empty part mostly makes the whole empty.
  std::size_t count(std::int64_t high) { return pick(0, 19) == 0 ? 0 : static_cast<std::size_t>(pick(1, high)); }

  Twin leaf() {
    static constexpr std::array<std::size_t, 12> kSizes{1, 2, 3, 4, 4, 8, 8, 8, 16, 24, 40, 64};
    const std::size_t bytes = pick(0, 29) == 0 ? 0 : kSizes[size(kSizes.size() - 1)];
    return {Layout::contiguous(bytes), TypeMap::contiguous(bytes)};
  }

  /// Often a multiple of the extent, so that blocks touch; sometimes anything.
  std::int64_t stride(const TypeMap& map) { return pick(0, 2) > 0 ? pick(-3, 5) * map.extent() : pick(-60, 90); }

  Twin vector(const Twin& element) {
    const std::size_t blocks = count(4);
    const std::size_t length = count(3);
    const std::int64_t distance = stride(element.map);
    std::vector<std::int64_t> at;
    for (std::size_t i = 0; i < blocks; ++i) {
      for (std::size_t j = 0; j < length; ++j) {
        at.push_back(static_cast<std::int64_t>(i) * distance + static_cast<std::int64_t>(j) * element.map.extent());
      }
    }
    return {Layout::vector(blocks, length, distance, element.layout), element.map.at(at)};
  }

  Twin indexed(const Twin& element) {
    std::vector<std::size_t> lengths(count(6));
    std::vector<std::ptrdiff_t> displacements(lengths.size());
    std::vector<std::int64_t> at;
    const std::int64_t step = stride(element.map);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      lengths[i] = pick(0, 1) > 0 ? 1 : count(3);
      displacements[i] = pick(0, 3) > 0 ? static_cast<std::int64_t>(i) * step : stride(element.map);
      for (std::size_t j = 0; j < lengths[i]; ++j) {
        at.push_back(displacements[i] + static_cast<std::int64_t>(j) * element.map.extent());
      }
    }
    return {Layout::indexed(lengths, displacements, element.layout), element.map.at(at)};
  }

  Twin subarray(const Twin& element) {
    const std::size_t dimensions = size(3);
    std::vector<std::size_t> sizes(dimensions), subsizes(dimensions), starts(dimensions);
    std::int64_t whole = element.map.extent();
    for (std::size_t d = 0; d < dimensions; ++d) {
      sizes[d] = count(4);
      subsizes[d] = sizes[d] == 0 ? 0 : count(static_cast<std::int64_t>(sizes[d]));
      starts[d] = size(static_cast<std::int64_t>(sizes[d] - subsizes[d]));
      whole *= static_cast<std::int64_t>(sizes[d]);
    }
    TypeMap map = element.map.at(box(sizes, subsizes, starts, element.map.extent()));
    map.lower = 0;
    map.upper = whole;
    return {Layout::subarray(sizes, subsizes, starts, element.layout), map};
  }

  /// Displacements of the elements of a box, found by looking at every element of the array.
  static std::vector<std::int64_t> box(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& subsizes,
                                       const std::vector<std::size_t>& starts, std::int64_t extent) {
    std::size_t elements = 1;
    for (const std::size_t size : sizes) elements *= size;
    std::vector<std::int64_t> at;
    for (std::size_t index = 0; index < elements; ++index) {
      bool inside = true;
      std::size_t rest = index;
      for (std::size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) {
        const std::size_t coordinate = rest % sizes[d];
        inside = inside && coordinate >= starts[d] && coordinate < starts[d] + subsizes[d];
      }
      if (inside) at.push_back(static_cast<std::int64_t>(index) * extent);
    }
    return at;
  }

  Twin structure(int depth) {
    std::vector<Layout::Field> fields(count(4));
    TypeMap map;
    bool started = false;
    for (Layout::Field& field : fields) {
      const Twin element = make(depth - 1);
      field = {.count = count(3), .displacement = pick(-100, 200), .element = element.layout};
      for (std::size_t j = 0; j < field.count; ++j) {
        map.place(element.map, field.displacement + static_cast<std::int64_t>(j) * element.map.extent(), started);
      }
    }
    return {Layout::structure(fields), map};
  }

  Twin resized(Twin element) {
    const std::int64_t lower = pick(-20, 20);
    const std::int64_t extent = pick(0, 3) > 0 ? pick(0, 80) : pick(-40, -1);
    element.map.lower = lower;
    element.map.upper = lower + extent;
    return {element.layout.resized(lower, extent), element.map};
  }

  Twin repeated(const Twin& element) {
    const std::size_t copies = count(4);
    std::vector<std::int64_t> at;
    for (std::size_t j = 0; j < copies; ++j) at.push_back(static_cast<std::int64_t>(j) * element.map.extent());
    return {element.layout.repeated(copies), element.map.at(at)};
  }

  Twin shifted(Twin element) {
    const std::int64_t distance = pick(-50, 50);
    for (std::int64_t& byte : element.map.bytes) byte += distance;
    element.map.lower += distance;
    element.map.upper += distance;
    return {element.layout.shifted(distance), element.map};
  }

  std::mt19937 random_;
};

std::vector<std::byte> random_bytes(std::size_t count, Generator& generator) {
  std::vector<std::byte> bytes(count);
  auto state = static_cast<std::uint64_t>(generator.pick(0, 1 << 30));  // Knuth's MMIX generator: quick
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56U);
  }
  return bytes;
}

void check_description(const Twin& twin) {
  const Layout& layout = twin.layout;
  const std::vector<Piece> pieces = twin.map.pieces();
  ASSERT_EQ(layout.size(), twin.map.bytes.size());
  ASSERT_EQ(layout.lower_bound(), twin.map.lower);
  ASSERT_EQ(layout.extent(), twin.map.extent());
  ASSERT_EQ(layout.true_lower_bound(), twin.map.low());
  ASSERT_EQ(layout.true_upper_bound(), twin.map.high());
  ASSERT_EQ(layout.piece_count(), pieces.size());
  ASSERT_EQ(piece_count(layout.nodes()), pieces.size());
  ASSERT_EQ(layout.is_contiguous(), pieces.size() <= 1);
  ASSERT_EQ(layout.nodes().empty(), pieces.empty());
  ASSERT_TRUE(pieces.size() != 1 || layout.nodes().size() == 1);
}

/// Nodes that break what LayoutNode promises would not show in the bytes.
void check_nodes(std::span<const LayoutNode> nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const LayoutNode& node = nodes[i];
    ASSERT_GT(node.count, 0U);
    ASSERT_LE(i + node.nodes, nodes.size());
    std::uint64_t bytes = 0;
    std::uint32_t children = 0;
    for (std::size_t child = i + 1; child < i + node.nodes; child += nodes[child].nodes, ++children) {
      bytes += nodes[child].count * nodes[child].bytes;
    }
    ASSERT_EQ(node.children, children);
    ASSERT_TRUE(children == 0 || (node.bytes == bytes && nodes[i + 1].offset == 0));
    ASSERT_TRUE(node.count > 1 || (children == 0 && node.stride == 0));
  }
}

void check_pieces(const Twin& twin, Generator& generator) {
  std::vector<Piece> expected = twin.map.pieces();
  const Piece guard{-12345, 54321};
  const std::size_t room = generator.pick(0, 1) > 0 ? expected.size() : generator.size(8);
  std::vector<Piece> listed(room + 1, guard);
  const std::size_t written = list_pieces(twin.layout.nodes(), std::span(listed).first(room));
  ASSERT_EQ(written, std::min(room, expected.size()));
  for (std::size_t i = written; i < listed.size(); ++i) ASSERT_EQ(listed[i], guard);
  listed.resize(written);
  expected.resize(written);
  ASSERT_EQ(listed, expected);
}

/// Copies between buffers that are exactly as long as the data, or have guard bytes around them: the address sanitizer
/// sees an access outside the former, this test itself one outside the latter.
void check_copies(const Twin& twin, Generator& generator, std::size_t guard) {
  const auto& map = twin.map;
  const std::int64_t low = map.low();
  const auto reach = static_cast<std::size_t>(map.high() - low);
  std::vector<std::byte> user = random_bytes(reach + 2 * guard, generator);
  const auto position = [&](std::int64_t byte) { return static_cast<std::size_t>(byte - low) + guard; };
  const auto base = [&] { return user.data() + guard - low; };

  const std::vector<std::byte> fill = random_bytes(map.bytes.size() + 2 * guard, generator);
  std::vector<std::byte> expected = fill;
  for (std::size_t i = 0; i < map.bytes.size(); ++i) expected[guard + i] = user[position(map.bytes[i])];
  std::vector<std::byte> packed = fill;
  twin.layout.pack(base(), packed.data() + guard);
  ASSERT_EQ(packed, expected);

  expected = user;
  for (std::size_t i = 0; i < map.bytes.size(); ++i) expected[position(map.bytes[i])] = fill[guard + i];
  twin.layout.unpack(fill.data() + guard, base());
  if (map.overlaps()) {  // which of several values a byte gets is left open; that no other byte changes is not
    for (const std::int64_t byte : map.bytes) expected[position(byte)] = user[position(byte)];
  }
  ASSERT_EQ(user, expected);
}

/// The same, a range at a time.
void check_ranges(const Twin& twin, Generator& generator) {
  const auto& map = twin.map;
  const std::int64_t low = map.low();
  const auto reach = static_cast<std::size_t>(map.high() - low);
  const std::vector<std::byte> user = random_bytes(reach, generator);
  std::vector<std::byte> whole(map.bytes.size());
  twin.layout.pack(user.data() - low, whole.data());
  std::vector<std::byte> parts(map.bytes.size());
  std::vector<std::byte> unpacked(reach);
  std::vector<std::byte> expected(reach);
  twin.layout.unpack(whole.data(), expected.data() - low);
  for (std::uint64_t first = 0; first < parts.size();) {
    const PackedRange range{first, 1 + generator.size(static_cast<std::int64_t>(parts.size() - first - 1))};
    pack(twin.layout.nodes(), user.data() - low, range, parts.data() + first);
    unpack(twin.layout.nodes(), range, whole.data() + first, unpacked.data() - low);
    first += range.bytes;
  }
  ASSERT_EQ(parts, whole);
  if (!map.overlaps()) {
    ASSERT_EQ(unpacked, expected);
  }
}

TEST(LayoutRandomTest, AgreesWithTheTypeMap) {
  Generator generator(20240611);
  int in_pieces = 0;
  int disjoint = 0;
  for (int i = 0; i < kCases; ++i) {
    const Twin twin = generator.make(1 + i % 5);
    SCOPED_TRACE("case " + std::to_string(i) + ": " + twin.layout.to_string());
    check_description(twin);
    check_nodes(twin.layout.nodes());
    check_pieces(twin, generator);
    check_copies(twin, generator, 0);
    check_copies(twin, generator, 32);
    check_ranges(twin, generator);
    if (HasFatalFailure()) return;
    if (twin.layout.piece_count() > 1) ++in_pieces;
    if (twin.layout.piece_count() > 1 && !twin.map.overlaps()) ++disjoint;
  }
  // The generator must not have drifted into trivial shapes.
  EXPECT_GT(in_pieces, kCases / 3);
  EXPECT_GT(disjoint, kCases / 6);
}

}  // namespace
}  // namespace fab
