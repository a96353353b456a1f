// Waiting for the first of several operations in the C API.
#include <fmt/core.h>

#include "bindings/native/c_handles.h"
#include "bindings/native/short_list.h"
#include "fab/wait_any.h"

namespace fab::c {

namespace {

template <class Object>
const Object& object_of(const fab_waitable& waitable) {
  return *static_cast<const Object*>(waitable.object);
}

Waitable waitable_of(const fab_waitable& waitable, std::size_t index) {
  if (waitable.object == nullptr)
    throw Error(Errc::invalid_argument, fmt::format("wait_any: waitables[{}].object is a null pointer", index));
  switch (waitable.kind) {
    case FAB_WAITABLE_REQUEST: {
      const Request* const request = request_in(object_of<fab_request>(waitable));
      return request == nullptr ? Waitable() : Waitable(*request);
    }
    case FAB_WAITABLE_EXCHANGE:
      return object_of<fab_exchange>(waitable).exchange;
    case FAB_WAITABLE_MESSAGE:
      return object_of<fab_persistent_message>(waitable).message;
    case FAB_WAITABLE_HALO:
      return object_of<fab_halo>(waitable).exchange;
  }
  throw Error(Errc::invalid_argument,
              fmt::format("wait_any: waitables[{}].kind is {}; valid are 0 to {}", index,
                          static_cast<int>(waitable.kind), static_cast<int>(FAB_WAITABLE_HALO)));
}

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_wait_any(size_t count, const fab_waitable waitables[], size_t* index) {
  return guarded([&] {
    std::size_t& complete = given(index, "wait_any: index");
    native::ShortList<Waitable> all(count);
    for (const fab_waitable& each : array_of(waitables, count, "wait_any: waitables"))
      all.push_back(waitable_of(each, all.size()));
    complete = wait_any(all);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
