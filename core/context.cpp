#include "core/context.h"

#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fab::core {

namespace {

/// Threads that end contexts. The process's exit waits for them.
class Closings {
 public:
  ~Closings() {
    for (std::thread& each : threads_) each.join();
  }
  /// Where no thread is to be had, the context stays until the process ends.
  void end(Context* context) noexcept try {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([context] { delete context; });
  } catch (const std::exception& error) {
    context->log().write(LogLevel::warn, "a context stays open that no one uses any more: {}", error.what());
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace

// A run that its user let go keeps its context until it ends, perhaps on the progress thread, which cannot wait for its
// own end.
void Context::End::operator()(Context* context) const noexcept {
  if (!context->engine().is_own_thread()) return delete context;
  static Closings closings;
  closings.end(context);
}

Context::Context(const Config& config, std::unique_ptr<Store> store, const TransportFactory& make)
    : Runtime(config, std::move(store), make, [this]() -> Refusals::Courier& {
        engine_lock.assert_held();
        return point_to_point();
      }) {}

std::shared_ptr<Context> Context::open(const Config& config, std::unique_ptr<Store> store,
                                       const TransportFactory& make) {
  const std::shared_ptr<Context> context(new Context(config, std::move(store), make), End());
  context->begin();
  return context;
}

Context::~Context() { end(); }

PointToPoint& Context::point_to_point() {
  if (point_to_point_ != nullptr) return *point_to_point_;
  point_to_point_ = std::make_unique<PointToPoint>(*this);
  losses().set_listener(point_to_point_.get());
  point_to_point_->listen();
  return *point_to_point_;
}

std::uint64_t Context::strangers() const noexcept {
  const std::uint64_t count = Runtime::strangers();
  return point_to_point_ == nullptr ? count : count + point_to_point_->misfits();
}

}  // namespace fab::core
