#include "bindings/nbc/instance.h"

#include <cstdlib>
#include <list>
#include <memory>
#include <mutex>
#include <new>

#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/requests/idle.h"
#include "core/run/wait.h"

namespace fab::nbc {

namespace {

static_assert(sizeof(Instance) <= sizeof(NBC_Handle::fab_memory) && alignof(Instance) <= alignof(void*));

/// Operations whose handles serve others.
struct Abandoned {
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  struct Entry {
    Instance instance;
    std::unique_ptr<void, Free> tmpbuf;
  };

  static Abandoned& all() {
    static Abandoned& state = *new Abandoned;  // what is in flight when the process ends stays
    return state;
  }

  void add(Entry&& entry) {
    const std::lock_guard lock(mutex);
    entries.remove_if([](const Entry& each) { return each.instance.done(); });
    entries.push_back(std::move(entry));
  }

  std::mutex mutex;
  std::list<Entry> entries;
};

}  // namespace

Instance::~Instance() {
  if (run_ == nullptr || closed()) return;
  const core::Lock lock(attachment_->core->engine());
  run_->let_go();
}

int Instance::finish() {
  if (run_ == nullptr) return NBC_OK;
  if (closed()) {
    mpi::log_error(call_, "was not completed before MPI_Finalize");
    return NBC_INVALID_PARAM;
  }
  const Status status = core::complete(*std::exchange(run_, nullptr), mpi::next_idle_hook());
  if (status.ok()) return NBC_OK;
  mpi::note_failure();
  mpi::log_error(call_, status.message);
  return code_of(mpi::error_class_of(status.errc()));
}

Instance* instance_of(NBC_Handle& handle) noexcept {
  return handle.fab_active == 0 ? nullptr : std::launder(reinterpret_cast<Instance*>(handle.fab_memory));
}

void make_complete(NBC_Handle& handle) noexcept {
  handle.tmpbuf = nullptr;
  handle.fab_active = 0;
}

void hold(NBC_Handle& handle, Instance&& instance) noexcept {
  new (handle.fab_memory) Instance(std::move(instance));
  handle.fab_active = 1;
}

void move_handle(NBC_Handle& from, NBC_Handle& to) noexcept {
  Instance* const instance = instance_of(from);
  if (instance == nullptr) return;
  hold(to, std::move(*instance));
  to.tmpbuf = from.tmpbuf;
  std::destroy_at(instance);
  make_complete(from);
}

int finish(NBC_Handle& handle) {
  Instance* const instance = instance_of(handle);
  if (instance == nullptr) return NBC_OK;
  const int code = instance->finish();
  std::destroy_at(instance);
  std::free(handle.tmpbuf);
  make_complete(handle);
  return code;
}

void abandon(NBC_Handle& handle) {
  Instance* const instance = instance_of(handle);
  if (instance == nullptr) return;
  Abandoned::all().add({std::move(*instance), std::unique_ptr<void, Abandoned::Free>(handle.tmpbuf)});
  std::destroy_at(instance);
  make_complete(handle);
}

void check_handle(const NBC_Handle* handle) {
  if (handle == nullptr) throw Failure(MPI_ERR_ARG, "handle is a null pointer");
}

}  // namespace fab::nbc
