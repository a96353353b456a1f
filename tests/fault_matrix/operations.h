// The operations of the ranks in a fault case, and the check of their data.
#pragma once

#include <functional>
#include <memory>

#include "fab/fab.h"
#include "fault_matrix/case.h"

namespace fab::test {

class Operation {
 public:
  virtual ~Operation() = default;
  /// The step-th time. Calls `moment` where a fault is to strike. Returns whether the data was right. Throws Error.
  virtual bool run(int step, const std::function<void()>& moment) = 0;
};

[[nodiscard]] std::unique_ptr<Operation> make_operation(const Case& which, const Communicator& ring);

}  // namespace fab::test
