// The registered memory of messages that are in flight, where the provider asks for it (FI_MR_LOCAL).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/provider.h"

struct fid_mr;

namespace fab::ofi {

/// Each message has a share of its regions until it has ended. Entries of messages that have are kept for later ones,
/// so that nothing is allocated once as many have been in flight as ever will be.
class RegionsInFlight {
 public:
  using Regions = std::vector<std::shared_ptr<fid_mr>>;

  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// To be filled. What the message, or the part of it before, had is let go of.
  Regions& begin(const Completion& message);
  /// No effect on a message that has none.
  void end(const Completion& message);
  void end_all() { all_.clear(); }
  template <class Visit>
  void for_each_message(Visit visit) const {
    for (const auto& [message, regions] : all_) visit(*message);
  }

 private:
  using All = std::unordered_map<const Completion*, Regions>;

  All all_;
  std::vector<All::node_type> spare_;
};

}  // namespace fab::ofi
