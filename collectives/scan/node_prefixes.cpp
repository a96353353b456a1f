#include "collectives/scan/node_prefixes.h"

#include "collectives/hierarchy/levels.h"

namespace fab::collectives {

namespace {

/// One rank's part.
class NodePrefixes {
 public:
  NodePrefixes(ScheduleBuilder& builder, const CollectiveCall& call, Prefix prefix)
      : builder_(builder),
        call_(call),
        levels_(call),
        within_(levels_.within(builder)),
        inclusive_(prefix == Prefix::inclusive),
        is_last_(levels_.index() + 1 == levels_.node_size()),
        own_(packed(builder, call.input())),
        result_(room_for(builder, call.output())) {}

  void build() {
    const Vector total = prefixes_in_node();
    const bool has_lower = levels_.node() > 0;
    const Vector lower = has_lower ? scratch_vector(builder_, call_.bytes) : Vector{};
    if (is_last_) last_ranks().exscan(total, lower);
    if (has_lower) {
      within_.bcast(levels_.node_size() - 1, lower);
      put_before(lower);
    }
    if (has_prefix() || has_lower) unpack(builder_, result_, call_.output());
  }

 private:
  [[nodiscard]] bool has_prefix() const { return inclusive_ || levels_.index() > 0; }

  /// To the result; returns what the last rank has of its node altogether.
  Vector prefixes_in_node() {
    if (inclusive_) {
      within_.scan(own_, result_);
      return result_;
    }
    // The result may take the place of the rank's own.
    const Vector total = is_last_ ? scratch_vector(builder_, call_.bytes) : Vector{};
    if (is_last_) {
      builder_.copy(own_.block(), total.block());
      builder_.round();
    }
    within_.exscan(own_, result_);
    if (is_last_ && has_prefix()) reduce(result_, total);
    builder_.round();
    return total;
  }

  [[nodiscard]] Subgroup last_ranks() const {
    return levels_.across(builder_, [](int size) { return size - 1; });
  }

  void put_before(const Vector& lower) {
    if (has_prefix())
      reduce(lower, result_);
    else
      builder_.copy(lower.block(), result_.block());
    builder_.round();
  }

  void reduce(const Vector& from, const Vector& into) {
    builder_.reduce(call_.operation.reduction, call_.operation.element_bytes, from.block(), into.block());
  }

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  const Levels levels_;
  Subgroup within_;
  const bool inclusive_;
  const bool is_last_;
  const Vector own_;
  const Vector result_;
};

}  // namespace

void scan_of_nodes(ScheduleBuilder& builder, const CollectiveCall& call, Prefix prefix) {
  NodePrefixes(builder, call, prefix).build();
}

}  // namespace fab::collectives
