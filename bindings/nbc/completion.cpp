// Waiting for and testing operations (NBC_Wait, NBC_Test and the calls on arrays of handles).
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/idle.h"
#include "bindings/nbc/instance.h"
#include "core/run/wait.h"
#include "core/run/watch.h"

namespace fab::nbc {

namespace {

/// After a progress, if something is in flight.
bool is_done(NBC_Handle& handle) {
  const Instance* const instance = instance_of(handle);
  if (instance == nullptr || instance->done()) return true;
  mpi::progress_once();
  if (!instance->done()) core::watch_tested(*instance->run());
  return instance->done();
}

int test(const char* call, NBC_Handle* handle) noexcept {
  return guarded(call, [&] {
    check_handle(handle);
    return is_done(*handle) ? finish(*handle) : NBC_CONTINUE;
  });
}

/// The handles of a call, and what is in flight.
class Handles {
 public:
  Handles(int count, NBC_Handle handles[], const char* name) {
    if (count < 0) throw Failure(MPI_ERR_COUNT, std::string(name) + " is negative");
    if (count > 0 && handles == nullptr) throw Failure(MPI_ERR_ARG, "handles is a null pointer");
    handles_ = {handles, static_cast<std::size_t>(count)};
    pending_.resize(handles_.size());
    for (std::size_t i = 0; i < handles_.size(); ++i)
      if (const Instance* instance = instance_of(handles_[i]))
        pending_[i] = instance->done() ? nullptr : instance->run();
  }

  [[nodiscard]] std::size_t size() const noexcept { return handles_.size(); }
  [[nodiscard]] bool any_active() const noexcept {
    return std::any_of(handles_.begin(), handles_.end(), [](NBC_Handle& each) { return instance_of(each) != nullptr; });
  }
  /// The first active one that is done, from that index on; size() if there is none.
  [[nodiscard]] std::size_t find_done(std::size_t from = 0) const noexcept {
    const auto done = [](NBC_Handle& each) {
      const Instance* const instance = instance_of(each);
      return instance != nullptr && instance->done();
    };
    return static_cast<std::size_t>(
        std::find_if(handles_.begin() + static_cast<std::ptrdiff_t>(from), handles_.end(), done) - handles_.begin());
  }
  [[nodiscard]] bool all_done() const noexcept {
    return std::all_of(handles_.begin(), handles_.end(), [](NBC_Handle& each) {
      const Instance* const instance = instance_of(each);
      return instance == nullptr || instance->done();
    });
  }
  /// Returns when some active one is done. Precondition: there are active ones.
  void wait_for_one() const {
    if (find_done() == size()) static_cast<void>(core::wait_any(pending_, mpi::next_idle_hook()));
  }
  /// One progress unless an active one is done.
  void test() const {
    if (find_done() == size()) mpi::progress_once();
    core::watch_tested(pending_);
  }
  [[nodiscard]] int finish(std::size_t i) const { return nbc::finish(handles_[i]); }

 private:
  static constexpr std::size_t kBytesOnStack = 1024;

  std::array<std::byte, kBytesOnStack> stack_;
  std::pmr::monotonic_buffer_resource memory_{stack_.data(), stack_.size()};
  std::span<NBC_Handle> handles_;
  std::pmr::vector<core::Pending*> pending_{&memory_};
};

template <class T>
void check_result(const T* result, const char* name) {
  if (result == nullptr) throw Failure(MPI_ERR_ARG, std::string(name) + " is a null pointer");
}

void tell(MPI_Status statuses[], std::size_t i, int code) noexcept {
  if (statuses == MPI_STATUSES_IGNORE) return;
  mpi::make_empty(&statuses[i]);
  statuses[i].MPI_ERROR = code;
}

int finish_all(const Handles& handles, MPI_Status statuses[]) {
  int first = NBC_OK;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const int code = handles.finish(i);
    tell(statuses, i, code);
    if (first == NBC_OK) first = code;
  }
  return first;
}

/// Precondition: one is done.
int finish_one(const Handles& handles, int* index, MPI_Status* status) {
  const std::size_t found = handles.find_done();
  *index = static_cast<int>(found);
  mpi::make_empty(status);
  return handles.finish(found);
}

int finish_none(int* index, MPI_Status* status) noexcept {
  *index = MPI_UNDEFINED;
  mpi::make_empty(status);
  return NBC_OK;
}

int finish_some(const Handles& handles, int* count, int indices[], MPI_Status statuses[]) {
  int first = NBC_OK;
  std::size_t found = 0;
  for (std::size_t i = handles.find_done(); i < handles.size(); i = handles.find_done(i + 1)) {
    const int code = handles.finish(i);
    indices[found] = static_cast<int>(i);
    tell(statuses, found++, code);
    if (first == NBC_OK) first = code;
  }
  *count = static_cast<int>(found);
  return first;
}

/// The common part of Waitsome and Testsome; `look` finds what is done.
template <class Look>
int complete_some(const Handles& handles, int* count, int indices[], MPI_Status statuses[], Look&& look) {
  check_result(count, "outcount");
  *count = MPI_UNDEFINED;
  if (!handles.any_active()) return NBC_OK;
  check_result(indices, "indices");
  look();
  return finish_some(handles, count, indices, statuses);
}

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;

int NBC_Wait(NBC_Handle* handle) {
  return guarded("NBC_Wait", [&] {
    check_handle(handle);
    return finish(*handle);
  });
}

int NBC_Wait_status(NBC_Handle* handle, MPI_Status* status) {
  const int code = NBC_Wait(handle);
  fab::mpi::make_empty(status);
  return code;
}

int NBC_Test(NBC_Handle* handle) { return test("NBC_Test", handle); }

int NBC_Test_flag(NBC_Handle* handle, int* flag, MPI_Status* status) {
  return guarded("NBC_Test", [&] {
    check_result(flag, "flag");
    const int code = NBC_Test(handle);
    *flag = code == NBC_CONTINUE ? 0 : 1;
    if (*flag == 0) return NBC_OK;
    fab::mpi::make_empty(status);
    return code;
  });
}

int NBC_Testold(NBC_Handle* handle) { return test("NBC_Testold", handle); }

int NBC_Progress(NBC_Handle* handle) { return test("NBC_Progress", handle); }

int NBC_Free(NBC_Handle* handle) {
  return guarded("NBC_Free", [&] {
    check_handle(handle);
    abandon(*handle);
    return NBC_OK;
  });
}

int NBC_Waitall(int count, NBC_Handle handles[], MPI_Status statuses[]) {
  return guarded("NBC_Waitall", [&] { return finish_all(Handles(count, handles, "count"), statuses); });
}

int NBC_Testall(int count, NBC_Handle handles[], int* flag, MPI_Status statuses[]) {
  return guarded("NBC_Testall", [&] {
    const Handles all(count, handles, "count");
    check_result(flag, "flag");
    if (!all.all_done()) fab::mpi::progress_once();
    *flag = all.all_done() ? 1 : 0;
    return *flag != 0 ? finish_all(all, statuses) : NBC_OK;
  });
}

int NBC_Waitany(int count, NBC_Handle handles[], int* index, MPI_Status* status) {
  return guarded("NBC_Waitany", [&] {
    const Handles all(count, handles, "count");
    check_result(index, "index");
    if (!all.any_active()) return finish_none(index, status);
    all.wait_for_one();
    return finish_one(all, index, status);
  });
}

int NBC_Testany(int count, NBC_Handle handles[], int* index, int* flag, MPI_Status* status) {
  return guarded("NBC_Testany", [&] {
    const Handles all(count, handles, "count");
    check_result(index, "index");
    check_result(flag, "flag");
    *flag = 1;
    if (!all.any_active()) return finish_none(index, status);
    all.test();
    if (all.find_done() < all.size()) return finish_one(all, index, status);
    *flag = 0;
    *index = MPI_UNDEFINED;
    return NBC_OK;
  });
}

int NBC_Waitsome(int incount, NBC_Handle handles[], int* outcount, int indices[], MPI_Status statuses[]) {
  return guarded("NBC_Waitsome", [&] {
    const Handles all(incount, handles, "incount");
    return complete_some(all, outcount, indices, statuses, [&] { all.wait_for_one(); });
  });
}

int NBC_Testsome(int incount, NBC_Handle handles[], int* outcount, int indices[], MPI_Status statuses[]) {
  return guarded("NBC_Testsome", [&] {
    const Handles all(incount, handles, "incount");
    return complete_some(all, outcount, indices, statuses, [&] { all.test(); });
  });
}
