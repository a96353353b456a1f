// Waiting for the first of several operations in the C API.
#include "fab/wait_any.h"

#include <fmt/core.h>

#include "bindings/native/base/short_list.h"
#include "bindings/native/c/handles.h"

namespace fab::c {

namespace {

template <class Object>
const Object& object_of(const fab_waitable& waitable) {
  return *static_cast<const Object*>(waitable.object);
}

Waitable waitable_of(const fab_waitable& waitable, std::size_t index, const char* call) {
  if (waitable.object == nullptr)
    throw Error(Errc::invalid_argument, fmt::format("{}: waitables[{}].object is a null pointer", call, index));
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
              fmt::format("{}: waitables[{}].kind is {}; valid are 0 to {}", call, index,
                          static_cast<int>(waitable.kind), static_cast<int>(FAB_WAITABLE_HALO)));
}

void add(native::ShortList<Waitable>& all, const fab_waitable waitables[], std::size_t count, const char* call) {
  if (waitables == nullptr && count > 0)
    throw Error(Errc::invalid_argument, fmt::format("{}: waitables is a null pointer", call));
  for (std::size_t i = 0; i < count; ++i) all.push_back(waitable_of(waitables[i], i, call));
}

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_wait_any(size_t count, const fab_waitable waitables[], size_t* index) {
  return guarded([&] {
    std::size_t& complete = given(index, "wait_any: index");
    native::ShortList<Waitable> all(count);
    add(all, waitables, count, "wait_any");
    complete = wait_any(all);
  });
}

fab_error fab_wait_any_for(size_t count, const fab_waitable waitables[], double seconds, size_t* index, int* found) {
  return guarded([&] {
    std::size_t& complete = given(index, "wait_any_for: index");
    int& there = given(found, "wait_any_for: found");
    native::ShortList<Waitable> all(count);
    add(all, waitables, count, "wait_any_for");
    const std::span<const Waitable> these(all.data(), all.size());
    const std::optional<std::size_t> first = wait_any_for(these, seconds_of(seconds));
    there = first ? 1 : 0;
    if (first) complete = *first;
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
