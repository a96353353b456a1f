// Layout::to_string: prints the tree of a layout for messages and logs.
#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/layout/tree.h"

namespace fab {
namespace {

/// Irregular index lists have as many nodes as blocks; beyond this many a description only counts them.
constexpr std::size_t kNodesShown = 32;

void describe(Trees trees, fmt::memory_buffer& text) {
  const char* separator = "";
  for_each_tree(trees, [&](const LayoutNode& root, Trees children) {
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{}", std::exchange(separator, ", "));
    if (root.count > 1) fmt::format_to(out, "{} x ", root.count);
    if (children.empty()) {
      fmt::format_to(out, "{} B", root.bytes);
    } else {
      fmt::format_to(out, "{{");
      describe(children, text);
      fmt::format_to(out, "}}");
    }
    fmt::format_to(out, " at {}", root.offset);
    if (root.count > 1) fmt::format_to(out, " every {}", root.stride);
  });
}

}  // namespace

std::string Layout::to_string() const {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{} B in {} piece(s), lower bound {}, extent {}", size(), piece_count(),
                 lower_bound(), extent());
  if (nodes().size() > kNodesShown) {
    fmt::format_to(std::back_inserter(text), ": {} nodes", nodes().size());
  } else if (!nodes().empty()) {
    fmt::format_to(std::back_inserter(text), ": ");
    describe(nodes(), text);
  }
  return fmt::to_string(text);
}

}  // namespace fab
