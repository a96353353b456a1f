// Persistent messages of the C API.
#include "bindings/native/c/handles.h"

namespace fab::c {

namespace {

PersistentMessage& message_of(fab_persistent_message* persistent) { return given(persistent, "persistent").message; }

/// `describe` takes the communicator.
template <class Describe>
fab_error make(const fab_comm* comm, fab_persistent_message** made, Describe&& describe) {
  return guarded([&] {
    fab_persistent_message*& persistent = given(made, "made");
    persistent = new fab_persistent_message{describe(given(comm, "comm").communicator)};
  });
}

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_persistent_send(const fab_comm* comm, const void* data, size_t bytes, int rank, int tag,
                              fab_persistent_message** made) {
  return make(comm, made, [&](const Communicator& communicator) {
    return persistent_send(communicator, data, Layout::contiguous(bytes), Destination{rank, Tag{tag}});
  });
}

fab_error fab_persistent_recv(const fab_comm* comm, void* data, size_t bytes, int rank, int tag,
                              fab_persistent_message** made) {
  return make(comm, made, [&](const Communicator& communicator) {
    return persistent_recv(communicator, data, Layout::contiguous(bytes), Source{rank, Tag{tag}});
  });
}

fab_error fab_persistent_sendrecv(const fab_comm* comm, const void* out, size_t out_bytes, int to, int to_tag, void* in,
                                  size_t in_bytes, int from, int from_tag, fab_persistent_message** made) {
  return make(comm, made, [&](const Communicator& communicator) {
    return persistent_sendrecv(communicator, out, Layout::contiguous(out_bytes), Destination{to, Tag{to_tag}}, in,
                               Layout::contiguous(in_bytes), Source{from, Tag{from_tag}});
  });
}

fab_error fab_persistent_sendrecv_replace(const fab_comm* comm, void* data, size_t bytes, int to, int to_tag, int from,
                                          int from_tag, fab_persistent_message** made) {
  return make(comm, made, [&](const Communicator& communicator) {
    return persistent_sendrecv_replace(communicator, data, Layout::contiguous(bytes), Destination{to, Tag{to_tag}},
                                       Source{from, Tag{from_tag}});
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
