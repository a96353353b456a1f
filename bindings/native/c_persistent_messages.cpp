// Persistent messages of the C API.
#include "bindings/native/c_handles.h"

namespace fab::c {

namespace {

PersistentMessage& message_of(fab_persistent_message* persistent) { return given(persistent, "persistent").message; }

/// `describe` takes the communicator and the layout of `bytes` bytes.
template <class Describe>
fab_error make(const fab_comm* comm, std::size_t bytes, fab_persistent_message** made, Describe&& describe) {
  return guarded([&] {
    fab_persistent_message*& persistent = given(made, "made");
    persistent = new fab_persistent_message{describe(given(comm, "comm").communicator, Layout::contiguous(bytes))};
  });
}

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_persistent_send(const fab_comm* comm, const void* data, size_t bytes, int rank, int tag,
                              fab_persistent_message** made) {
  return make(comm, bytes, made, [&](const Communicator& communicator, const Layout& layout) {
    return persistent_send(communicator, data, layout, Destination{rank, Tag{tag}});
  });
}

fab_error fab_persistent_recv(const fab_comm* comm, void* data, size_t bytes, int rank, int tag,
                              fab_persistent_message** made) {
  return make(comm, bytes, made, [&](const Communicator& communicator, const Layout& layout) {
    return persistent_recv(communicator, data, layout, Source{rank, Tag{tag}});
  });
}

fab_error fab_persistent_message_start(fab_persistent_message* persistent) {
  return guarded([&] { message_of(persistent).start(); });
}

fab_error fab_persistent_message_wait(fab_persistent_message* persistent, fab_message* message) {
  return guarded([&] {
    PersistentMessage& its = message_of(persistent);
    its.wait();
    tell(message, its.message());
  });
}

fab_error fab_persistent_message_wait_for(fab_persistent_message* persistent, double seconds, int* complete) {
  return guarded([&] {
    int& over = given(complete, "complete");
    over = message_of(persistent).wait_for(seconds_of(seconds)) ? 1 : 0;
  });
}

fab_error fab_persistent_message_test(fab_persistent_message* persistent, int* complete, fab_message* message) {
  return guarded([&] {
    int& over = given(complete, "complete");
    PersistentMessage& its = message_of(persistent);
    over = its.test() ? 1 : 0;
    if (over != 0) tell(message, its.message());
  });
}

fab_error fab_persistent_message_cancel(fab_persistent_message* persistent) {
  return guarded([&] { message_of(persistent).cancel(); });
}

void fab_persistent_message_free(fab_persistent_message* persistent) { delete persistent; }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
