// Context: one rank's runtime, which the program opens and closes. core::Context does the work.
#include "fab/context.h"

#include <fmt/core.h>

#include <exception>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "core/communicator/communicator.h"
#include "core/progress/engine.h"

namespace fab {

namespace {

constexpr double kCloseTimeoutS = 10;

std::unique_ptr<Communicator[]> worlds_of(core::Context& context) {
  std::unique_ptr<Communicator[]> worlds = Access::communicators(static_cast<std::size_t>(context.engines()));
  for (int engine = 0; engine < context.engines(); ++engine)
    worlds[static_cast<std::size_t>(engine)] =
        Access::communicator(core::Communicator::world(context.of_engine(engine).shared_from_this()));
  return worlds;
}

void check_engine(const char* call, const char* argument, int value, int least, int most) {
  if (value < least || value > most)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: {} is {}; valid is {} to {}", call, argument, value, least, most));
}

}  // namespace

Context::Context(std::shared_ptr<core::Context> core) : core_(std::move(core)), world_(worlds_of(*core_)) {}

Context Context::open() { return Context(open_context()); }

Context Context::open(const ContextOptions& options) {
  check_engine("open", "engines", options.engines, 1, kMostEngines);
  return Context(open_context(options.engines));
}

int Context::engines() const noexcept { return core_->engines(); }

const Communicator& Context::world(int engine) const {
  check_engine("world", "engine", engine, 0, engines() - 1);
  return world_[static_cast<std::size_t>(engine)];
}

Context::~Context() {
  // A rank that leaves by an exception waits for no other rank, and no other rank shall wait for it.
  if (core_ == nullptr) return;
  core_->close(std::uncaught_exceptions() == 0 ? kCloseTimeoutS : 0);
  if (!core_->engine().halted()) core_->leave_launcher();
}

Rank Context::rank() const noexcept { return core_->job().rank; }

int Context::size() const noexcept { return core_->job().size; }

const std::string& Context::transport() const noexcept { return core_->transport(); }

int Context::event_fd() const {
  core::Engine& engine = core_->engine();
  if (engine.halted())
    throw Error(Errc::cancelled,
                "event_fd: the parent process opened the context before fork(), and only the parent can use it");
  if (!engine.has_thread())
    throw Error(
        Errc::configuration,
        "event_fd: FAB_PROGRESS=caller leaves out the progress thread, which would notice the end of operations");
  int fd = -1;
  {
    const core::Lock lock(engine);
    fd = engine.completion_fd();
  }
  for (const std::shared_ptr<core::Runtime>& further : core_->further_engines()) {
    const core::Lock lock(further->engine());
    further->engine().share_completions(fd);
  }
  return fd;
}

void Context::clear_events() const noexcept { core_->engine().clear_completions(); }

Statistics Context::statistics() const { return statistics_by_way(); }

StatisticsByWay Context::statistics_by_way() const {
  return core_->engine().halted() ? StatisticsByWay{} : core_->statistics();
}

void Context::close() { core_->close(kCloseTimeoutS); }

}  // namespace fab
