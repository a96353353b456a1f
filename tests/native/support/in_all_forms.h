// An operation in each of its forms.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "fab/fab.h"

namespace fab::test {

/// Performs an operation with the same arguments in each form; `check` is given the form's name, looks at the result,
/// and takes it away again.
template <class Check, class Operation, class... Arguments>
void in_all_forms(Check&& check, const Operation& operation, const Communicator& communicator,
                  Arguments&&... arguments) {
  operation(communicator, arguments...);
  check("blocking");
  operation.start(communicator, arguments...).wait();
  check("non-blocking");
  const Status status = operation.try_perform(communicator, arguments...);
  EXPECT_TRUE(status.ok()) << status.message;
  check("blocking without exceptions");
  Result<Request> request = operation.try_start(communicator, arguments...);
  ASSERT_TRUE(request.ok()) << request.status().message;
  EXPECT_TRUE(request->wait_status().ok());
  check("non-blocking without exceptions");
  PersistentExchange exchange = operation.persistent(communicator, arguments...);
  for (int start = 0; start < 3; ++start) {
    exchange.start();
    exchange.wait();
    check("persistent");
  }
  Result<PersistentExchange> made = operation.try_persistent(communicator, arguments...);
  ASSERT_TRUE(made.ok()) << made.status().message;
  made->start();
  made->wait();
  check("persistent without exceptions");
}

}  // namespace fab::test
