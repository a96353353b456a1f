// Messages between the ranks of a job whose launcher serves no values.
#pragma once

#include <optional>
#include <string>

#include "fab/topology.h"

namespace fab {

/// One thread at a time calls it, and no function blocks. Each throws an std::exception where it fails; only meet() is
/// called afterwards.
class Carrier {
 public:
  struct Arrived {
    Rank from = 0;
    std::string message{};
  };

  virtual ~Carrier() = default;

  /// Keeps the message until it has left.
  virtual void send(Rank to, std::string message) = 0;
  /// The next message, if one has come; in any order.
  [[nodiscard]] virtual std::optional<Arrived> receive() = 0;
  /// The first call tells that this rank has come to the job's meeting, which is at its end. Returns true, once, when
  /// all ranks have come.
  [[nodiscard]] virtual bool meet() = 0;
};

}  // namespace fab
