// A context: one rank's part in a job, as the layers above the core see it.
#pragma once

#include <memory>

#include "core/job/runtime.h"
#include "core/point/point_to_point.h"

namespace fab::core {

/// What stands under all calls, and the messages from rank to rank.
class Context final : public Runtime {
 public:
  /// Opens the providers and publishes this rank's addresses; talks to no other rank.
  static std::shared_ptr<Context> open(const Config& config, std::unique_ptr<Store> store,
                                       const TransportFactory& make);
  [[nodiscard]] std::shared_ptr<Context> shared_from_this() {
    return std::static_pointer_cast<Context>(Runtime::shared_from_this());
  }
  /// Closes without meeting the other ranks, if close() was not called.
  ~Context();

  /// This context for 0, then those of add_engine.
  [[nodiscard]] Context& of_engine(int number) noexcept {
    return number == 0 ? *this : static_cast<Context&>(*further_engines()[static_cast<std::size_t>(number - 1)]);
  }
  [[nodiscard]] int engines() const noexcept { return static_cast<int>(further_engines().size()) + 1; }
  /// From its first call on this rank listens for messages.
  [[nodiscard]] PointToPoint& point_to_point() FAB_REQUIRES(engine_lock);
  /// Null before that.
  [[nodiscard]] PointToPoint* messages() noexcept FAB_REQUIRES(engine_lock) { return point_to_point_.get(); }
  [[nodiscard]] std::uint64_t strangers() const noexcept override FAB_REQUIRES(engine_lock);

 private:
  /// For the last owner.
  struct End {
    void operator()(Context* context) const noexcept;
  };

  Context(const Config& config, std::unique_ptr<Store> store, const TransportFactory& make);

  std::unique_ptr<PointToPoint> point_to_point_ FAB_GUARDED_BY(engine_lock);  ///< from the first message on
};

}  // namespace fab::core
