// Collectives of fab. A program built with an MPI library that fab was not built with has none: no_fab_forms.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/collective_case.h"
#include "support/contestant.h"
#include "support/fab_forms.h"
#include "support/nonblocking_call.h"

namespace bench {

/// By which rules fab chooses algorithms: its own, or those of them that know nothing of nodes.
enum class FabRules { own, flat };

class FabCollectives {
 public:
  /// Collective. Throws std::runtime_error when rules cannot be handed to fab, and for several engines in a build
  /// without fab.
  explicit FabCollectives(FabRules rules = FabRules::own, const ThreadOptions& threads = {});
  ~FabCollectives();
  FabCollectives(const FabCollectives&) = delete;
  FabCollectives& operator=(const FabCollectives&) = delete;

  /// None in a build without fab.
  [[nodiscard]] std::optional<FabPath> path() const;
  /// Which one fab itself takes for it.
  [[nodiscard]] std::string algorithm(const CollectiveCase& one) const;
  /// Library "fab", or "flat", the native API: blocking and non-blocking. Of the case's thread. None in a build without
  /// fab, as below.
  [[nodiscard]] std::vector<Contestant> contestants(CollectiveCase& one);
  [[nodiscard]] std::optional<NonblockingCall> nonblocking(CollectiveCase& one);
  /// Runs `calls`, which are of that collective and of those above: the ways that its messages took on any rank, as the
  /// statistics count them. Collective.
  [[nodiscard]] std::set<std::string> ways_during(Collective collective, const std::function<void()>& calls) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench
