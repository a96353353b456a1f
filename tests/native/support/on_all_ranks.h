// A context for all tests of a suite, and the ring of its ranks.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "fab/fab.h"

namespace fab::test {

class OnAllRanks : public testing::Test {
 protected:
  static void SetUpTestSuite() { context_ = std::make_unique<Context>(Context::open()); }
  static void TearDownTestSuite() { context_.reset(); }

  static const Context& context() { return *context_; }
  static const Communicator& world() { return context_->world(); }
  static int rank() { return context_->rank(); }
  static int size() { return context_->size(); }
  static Communicator ring() { return world().cartesian({size()}, {true}); }
  static int next() { return (rank() + 1) % size(); }
  static int previous() { return (rank() + size() - 1) % size(); }

 private:
  static inline std::unique_ptr<Context> context_;
};

}  // namespace fab::test
