#include "collectives/calls/words.h"

#include <fmt/core.h>

#include <functional>
#include <iterator>

namespace fab::collectives {

namespace {

bool has_root(Collective collective) noexcept {
  switch (collective) {
    case Collective::bcast:
    case Collective::reduce:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
      return true;
    default:
      return false;
  }
}

bool is_reduction(const CollectiveCall& call) noexcept { return call.operation.element_bytes > 0; }

std::string words_of(const Operator& operation) {
  if (operation.reduction.op != ReduceOp::user) return to_string(operation.reduction);
  return fmt::format("a function of the caller's that {}, on elements of {} bytes",
                     operation.commutative ? "commutes" : "does not commute", operation.element_bytes);
}

template <class List, class Number>
std::string joined(const List& list, Number&& number_of) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : "+", number_of(list[i]));
  return text;
}

/// Of calls in which all ranks know the blocks of all.
std::string block_sizes(const BlockList& blocks) {
  return joined(blocks, [](const BlockView& block) { return block.bytes(); });
}

std::string amount(const CollectiveCall& call) {
  if (call.collective == Collective::barrier || call.bytes == kUnknownBytes) return {};
  if (call.collective == Collective::allgatherv) return block_sizes(call.recv) + " bytes";
  if (!call.counts.empty()) return joined(call.counts, std::identity{}) + " elements";
  if (is_reduction(call)) return fmt::format("{} elements", call.bytes / call.operation.element_bytes);
  return fmt::format("{} bytes", call.bytes);
}

}  // namespace

std::string words_of(const CollectiveCall& call, std::string_view algorithm) {
  std::string text;
  const auto add = [&text](const std::string& what) {
    if (!what.empty()) text += (text.empty() ? "" : ", ") + what;
  };
  if (has_root(call.collective)) add(fmt::format("root {}", call.root));
  if (is_reduction(call)) add(words_of(call.operation));
  add(amount(call));
  add(fmt::format("by {}", algorithm));
  if (call.nodes != nullptr) add(fmt::format("on {} nodes", call.nodes->nodes()));
  return fmt::format("{}({})", to_string(call.collective), text);
}

}  // namespace fab::collectives
