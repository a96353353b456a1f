// A context of fab's whose threads have a communicator each.
#pragma once

#include <deque>
#include <utility>

#include "fab/fab.h"
#include "support/exchange_options.h"

namespace bench {

class FabWorlds {
 public:
  /// Collective over all ranks.
  explicit FabWorlds(const ThreadOptions& threads = {}) : context_(fab::Context::open({.engines = threads.engines})) {
    for (int thread = 0; thread < threads.count; ++thread)
      worlds_.push_back(context_.world(thread % threads.engines).duplicate());
  }

  [[nodiscard]] const fab::Context& context() const { return context_; }
  /// Of all ranks, a duplicate on the thread's engine, which no other thread uses.
  [[nodiscard]] const fab::Communicator& of_thread(int thread) const {
    return worlds_[static_cast<std::size_t>(thread)];
  }

 private:
  fab::Context context_;
  std::deque<fab::Communicator> worlds_;
};

}  // namespace bench
