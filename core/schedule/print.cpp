// Writes schedules as text and as drawings.
#include <fmt/core.h>

#include <iterator>

#include "fab/schedule.h"

namespace fab {

namespace {

std::string describe(const BlockRecord& block, const Schedule& schedule) {
  const std::string pieces =
      block.node_count == 0 ? "" : fmt::format(" in {} pieces", piece_count(schedule.nodes(block)));
  return fmt::format("{}[{}] {} B{}", to_string(block.buffer), block.offset, block.bytes, pieces);
}

std::string describe_blocks(const OperationRecord& operation, const Schedule& schedule) {
  std::string text;
  for (const BlockRecord& block : schedule.blocks(operation))
    text += (text.empty() ? "" : " + ") + describe(block, schedule);
  return text;
}

std::string describe(const OperationRecord& operation, const Schedule& schedule) {
  if (operation.kind == OperationKind::copy) {
    const auto blocks = schedule.blocks(operation);
    return fmt::format("copy {} -> {}", describe(blocks[0], schedule), describe(blocks[1], schedule));
  }
  if (operation.kind == OperationKind::reduce) {
    const auto blocks = schedule.blocks(operation);
    const bool user = operation.reduction.op == ReduceOp::user;
    return fmt::format(
        "reduce {} with {} -> {}", describe(blocks[0], schedule),
        user ? fmt::format("user operation on {} B", operation.element_bytes) : to_string(operation.reduction),
        describe(blocks[1], schedule));
  }
  return fmt::format("{} {} rank {} slot {}: {}", to_string(operation.kind),
                     operation.kind == OperationKind::send ? "to" : "from", schedule.peers()[operation.peer],
                     operation.slot, describe_blocks(operation, schedule));
}

}  // namespace

std::string to_string(BufferId buffer) {
  switch (buffer) {
    case BufferId::send:
      return "send";
    case BufferId::recv:
      return "recv";
    case BufferId::scratch:
      return "scratch";
    default:
      return fmt::format("user{}", static_cast<std::uint32_t>(buffer) - static_cast<std::uint32_t>(BufferId::user));
  }
}

std::string_view to_string(OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::send:
      return "send";
    case OperationKind::recv:
      return "recv";
    case OperationKind::copy:
      return "copy";
    default:
      return "reduce";
  }
}

std::string Schedule::to_string() const {
  std::string text = fmt::format("schedule {}: {} peers, {} rounds, {} operations, {} B scratch\n", name(),
                                 peers().size(), rounds().size(), operations().size(), scratch_bytes());
  for (std::size_t r = 0; r < rounds().size(); ++r) {
    fmt::format_to(std::back_inserter(text), "  round {}\n", r);
    for (const OperationRecord& operation : operations(rounds()[r]))
      fmt::format_to(std::back_inserter(text), "    {}\n", describe(operation, *this));
  }
  return text;
}

std::string Schedule::to_graphviz() const {
  std::string text = fmt::format("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n", name());
  auto out = std::back_inserter(text);
  for (std::size_t r = 0; r < rounds().size(); ++r) {
    fmt::format_to(out, "  subgraph cluster_{} {{\n    label=\"round {}\";\n    r{} [label=\"self\"];\n", r, r, r);
    for (const OperationRecord& operation : operations(rounds()[r])) {
      const std::string label = describe(operation, *this);
      const Rank peer = !is_message(operation.kind) ? -1 : peers()[operation.peer];
      if (peer >= 0) fmt::format_to(out, "    r{}p{} [label=\"rank {}\"];\n", r, peer, peer);
      if (operation.kind == OperationKind::send)
        fmt::format_to(out, "    r{} -> r{}p{} [label=\"{}\"];\n", r, r, peer, label);
      else if (operation.kind == OperationKind::recv)
        fmt::format_to(out, "    r{}p{} -> r{} [label=\"{}\"];\n", r, peer, r, label);
      else
        fmt::format_to(out, "    r{} -> r{} [label=\"{}\"];\n", r, r, label);
    }
    text += "  }\n";
    if (r > 0) fmt::format_to(out, "  r{} -> r{} [style=dashed];\n", r - 1, r);
  }
  return text + "}\n";
}

}  // namespace fab
