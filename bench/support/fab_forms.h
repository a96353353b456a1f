// The exchanges through fab, and beside them the limits of the network it uses. A program built with an MPI library
// that fab was not built with has neither: no_fab_forms.cpp.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/contestant.h"
#include "support/exchange_options.h"
#include "support/fab_path.h"
#include "support/nonblocking_call.h"

namespace bench {

class FabForms {
 public:
  /// Collective; `neighbors` stays with the caller and must live longer. Throws std::runtime_error for several engines
  /// in a build without fab.
  explicit FabForms(const Neighbors& neighbors, const ThreadOptions& threads = {});
  ~FabForms();
  FabForms(const FabForms&) = delete;
  FabForms& operator=(const FabForms&) = delete;

  /// None in a build without fab.
  [[nodiscard]] std::optional<FabPath> path() const;
  /// The ways that messages of so many bytes go to this rank's neighbours (FabTransport::way). Empty in a build without
  /// fab.
  [[nodiscard]] std::set<std::string> ways(std::size_t bytes, MemoryKind memory, Form form, Rewrite rewrite) const;
  /// Makes one more call of halo(), or of a contestant whose library is "native": the ways that this rank's messages
  /// took, as the statistics count them. Empty in a build without fab. Collective.
  [[nodiscard]] std::set<std::string> ways_taken(const Contestant& contestant) const;
  /// Libraries "fab" (the MPI binding; not for faces, whose shapes differ more than its calls can say) and "native",
  /// and, where all blocks go to one peer through the network, all in one message, and there is one thread, "libfabric"
  /// and "TCP". Of the exchange's thread. Collective.
  [[nodiscard]] std::vector<Contestant> contestants(Exchange& exchange);
  /// fab::HaloExchange, of faces, in the memory of the exchange: library "fab", persistent. Not in a build without fab.
  [[nodiscard]] Contestant halo(Exchange& exchange);
  /// MPI_Ineighbor_xchg. None in a build without fab.
  [[nodiscard]] std::optional<NonblockingCall> nonblocking(Exchange& exchange);
  /// Makes one native non-blocking call of the exchange, not of faces: the ways that its messages took on any rank, as
  /// the statistics count them. Statistics are of a context, and that of the MPI binding cannot be asked. Empty in a
  /// build without fab. Collective.
  [[nodiscard]] std::set<std::string> ways_of_native(Exchange& exchange) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bench
