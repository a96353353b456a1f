#include "core/context.h"

#include <utility>

namespace fab::core {

Context::Context(const Config& config, std::unique_ptr<Store> store, const TransportFactory& make)
    : Runtime(config, std::move(store), make, [this]() -> Refusals::Courier& {
        engine_lock.assert_held();
        return point_to_point();
      }) {}

std::shared_ptr<Context> Context::open(const Config& config, std::unique_ptr<Store> store,
                                       const TransportFactory& make) {
  const std::shared_ptr<Context> context(new Context(config, std::move(store), make));
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
