#include "bindings/mpi/interception/reach.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/interception/call_graph.h"
#include "bindings/mpi/interception/loaded_objects.h"
#include "bindings/mpi/interception/mpi_progress.h"
#include "core/base/ticks.h"

namespace fab::mpi {

namespace {

/// Some 10 us: no object can be loaded in that time, so what was found out that long ago still holds.
constexpr std::uint64_t kTicksOfALoad = 30'000;

std::string own_file() {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<void*>(&read_call_graph), &info) != 0 && info.dli_fname != nullptr;
  return found ? info.dli_fname : "libfab_mpi.so";
}

/// What is known about this process.
class Reach {
 public:
  static Reach& instance() {
    static Reach& reach = *new Reach;  // MPI may call until the process ends
    return reach;
  }

  /// Empty: nothing. Otherwise why calls pass fab by.
  [[nodiscard]] std::string completion_detour() {
    const std::lock_guard lock(mutex_);
    refresh();
    return graph_.completion ? graph_.completion->what : std::string();
  }
  [[nodiscard]] std::string op_free_detour() {
    const std::lock_guard lock(mutex_);
    refresh();
    return graph_.op_free ? graph_.op_free->what : std::string();
  }

  /// Without a lock: whether completion calls were found to reach fab a moment ago.
  [[nodiscard]] bool is_fresh() const noexcept {
    return reached_.load(std::memory_order_relaxed) &&
           core::ticks() - looked_at_.load(std::memory_order_relaxed) < kTicksOfALoad;
  }

  /// Once in the process.
  void say(const std::string& detour) {
    if (said_.exchange(true)) return;
    process_context().log().write(
        LogLevel::warn,
        "{}: MPI completes fab's requests in this process, which is slower, and persistent exchanges are refused. "
        "Remedy: name libfab_mpi before the MPI library when linking, or set LD_PRELOAD={}",
        detour, own_file());
  }

 private:
  void refresh() {
    const std::uint64_t loads = count_loads();
    if (!read_ || loads != loads_) graph_ = read_call_graph();
    read_ = true;
    loads_ = loads;
    looked_at_.store(core::ticks(), std::memory_order_relaxed);
    reached_.store(!graph_.completion, std::memory_order_relaxed);
  }

  std::mutex mutex_;
  CallGraph graph_;
  bool read_ = false;
  std::uint64_t loads_ = 0;
  std::atomic<std::uint64_t> looked_at_{0};
  std::atomic<bool> reached_{false};
  std::atomic<bool> said_{false};
};

[[noreturn]] void refuse(const std::string& detour, std::string_view what) {
  throw Failure(MPI_ERR_OTHER,
                fmt::format("{}: {}. Remedy: name libfab_mpi before the MPI library when linking, or set "
                            "LD_PRELOAD={}",
                            detour, what, own_file()));
}

Requests configured() { return process_context().config().requests; }

/// Empty where fab completes.
std::string why_mpi_completes() {
  if (configured() == Requests::fab) return {};
  if (configured() == Requests::mpi) return "FAB_REQUESTS is mpi";
  return Reach::instance().completion_detour();
}

}  // namespace

CompletedBy who_completes() {
  if (configured() == Requests::automatic && Reach::instance().is_fresh()) return CompletedBy::fab;
  const std::string detour = why_mpi_completes();
  if (detour.empty()) return CompletedBy::fab;
  if (!mpi_polls_fab()) refuse(detour, "it would complete fab's requests too early, and this MPI offers no way out");
  if (configured() == Requests::automatic) Reach::instance().say(detour);
  return CompletedBy::mpi;
}

bool can_complete_persistent() {
  return (configured() == Requests::automatic && Reach::instance().is_fresh()) || why_mpi_completes().empty();
}

void require_completion_by_fab() {
  const std::string detour = why_mpi_completes();
  if (!detour.empty()) refuse(detour, "a persistent exchange could not be started");
}

bool hears_of_freed_operations() { return Reach::instance().op_free_detour().empty(); }

void require_freeing_of_operations_by_fab() {
  const std::string detour = Reach::instance().op_free_detour();
  if (!detour.empty()) refuse(detour, "an operation of the user's could be freed while fab uses it");
}

}  // namespace fab::mpi
