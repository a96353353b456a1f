// Context: one rank's runtime, which the program opens and closes. core::Context does the work.
#include "fab/context.h"

#include <exception>

#include "bindings/native/access.h"
#include "bindings/native/open_context.h"
#include "core/communicator/communicator.h"
#include "core/progress/engine.h"

namespace fab {

namespace {

constexpr double kCloseTimeoutS = 10;

}  // namespace

Context::Context(std::shared_ptr<core::Context> core)
    : core_(std::move(core)),
      world_(std::make_unique<Communicator>(Access::communicator(core::Communicator::world(core_)))) {}

Context Context::open() { return Context(open_context()); }

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
  const core::Lock lock(engine);
  return engine.completion_fd();
}

void Context::clear_events() const noexcept { core_->engine().clear_completions(); }

Statistics Context::statistics() const { return core_->engine().halted() ? Statistics{} : core_->statistics(); }

void Context::close() { core_->close(kCloseTimeoutS); }

}  // namespace fab
