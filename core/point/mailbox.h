// Which message meets which receive, on one communicator.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "core/point/operations.h"

namespace fab::core {

/// A message that no receive has taken yet.
struct Unexpected {
  Correspondent* correspondent = nullptr;
  Envelope envelope;
  std::unique_ptr<std::byte[]> bytes;  ///< of an eager one
};

/// MPI's rules (MPI-4.1, 3.5): of the receives that match a message, the one that was posted first takes it; of the
/// messages that match a receive, the one that came first is taken. Who calls this keeps the messages of each sender in
/// order.
class Mailbox {
 public:
  /// A receive for a message that has come: forgotten here from now on. Null: there is none.
  [[nodiscard]] ReceiveOperation* match(const Envelope& envelope);
  /// Keeps a message that no receive has matched; tells the probes.
  void keep(Unexpected message);
  /// A message for a receive.
  [[nodiscard]] std::optional<Unexpected> take(const ReceiveOperation& receive);
  /// Null: there is none.
  [[nodiscard]] const Envelope* find(Source from) const;
  void post(ReceiveOperation& receive) { posted_.push_back(&receive); }
  void forget(const ReceiveOperation& receive) { std::erase(posted_, &receive); }

 private:
  std::vector<ReceiveOperation*> posted_;  ///< in the order of their posts
  std::list<Unexpected> unexpected_;       ///< in the order in which they came
};

}  // namespace fab::core
