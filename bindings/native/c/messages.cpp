// Messages of the C API.
#include "bindings/native/c/handles.h"
#include "fab/point_to_point.h"

namespace fab::c {

static_assert(FAB_ANY_SOURCE == kAnySource && Tag{FAB_ANY_TAG} == kAnyTag && FAB_NO_RANK == kNoRank);

namespace {

// A null pointer is refused by the call that they are for.
std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}
std::span<std::byte> room_at(void* data, std::size_t bytes) { return {static_cast<std::byte*>(data), bytes}; }

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_send(const fab_comm* comm, const void* data, size_t bytes, int rank, int tag) {
  return guarded([&] { send(given(comm, "comm").communicator, bytes_at(data, bytes), {rank, Tag{tag}}); });
}

fab_error fab_recv(const fab_comm* comm, void* data, size_t bytes, int rank, int tag, fab_message* message) {
  return guarded([&] {
    tell(message, recv(given(comm, "comm").communicator, room_at(data, bytes), Source{rank, Tag{tag}}));
  });
}

fab_error fab_isend(const fab_comm* comm, const void* data, size_t bytes, int rank, int tag, fab_request* request) {
  return guarded([&] {
    check_idle(request);
    put(request, isend(given(comm, "comm").communicator, bytes_at(data, bytes), {rank, Tag{tag}}));
  });
}

fab_error fab_irecv(const fab_comm* comm, void* data, size_t bytes, int rank, int tag, fab_request* request) {
  return guarded([&] {
    check_idle(request);
    put(request, irecv(given(comm, "comm").communicator, room_at(data, bytes), Source{rank, Tag{tag}}));
  });
}

fab_error fab_probe(const fab_comm* comm, int rank, int tag, fab_message* message) {
  return guarded([&] { tell(message, probe(given(comm, "comm").communicator, {rank, Tag{tag}})); });
}

fab_error fab_iprobe(const fab_comm* comm, int rank, int tag, int* found, fab_message* message) {
  return guarded([&] {
    int& there = given(found, "found");
    const std::optional<MessageInfo> info = iprobe(given(comm, "comm").communicator, {rank, Tag{tag}});
    there = info ? 1 : 0;
    if (info) tell(message, *info);
  });
}

fab_error fab_sendrecv(const fab_comm* comm, const void* out, size_t out_bytes, int to, int to_tag, void* in,
                       size_t in_bytes, int from, int from_tag, fab_message* message) {
  return guarded([&] {
    tell(message, sendrecv(given(comm, "comm").communicator, bytes_at(out, out_bytes), {to, Tag{to_tag}},
                           room_at(in, in_bytes), {from, Tag{from_tag}}));
  });
}

fab_error fab_isendrecv(const fab_comm* comm, const void* out, size_t out_bytes, int to, int to_tag, void* in,
                        size_t in_bytes, int from, int from_tag, fab_request* request) {
  return guarded([&] {
    check_idle(request);
    put(request, isendrecv(given(comm, "comm").communicator, bytes_at(out, out_bytes), {to, Tag{to_tag}},
                           room_at(in, in_bytes), {from, Tag{from_tag}}));
  });
}

fab_error fab_sendrecv_replace(const fab_comm* comm, void* data, size_t bytes, int to, int to_tag, int from,
                               int from_tag, fab_message* message) {
  return guarded([&] {
    tell(message, sendrecv_replace(given(comm, "comm").communicator, room_at(data, bytes), {to, Tag{to_tag}},
                                   {from, Tag{from_tag}}));
  });
}

fab_error fab_isendrecv_replace(const fab_comm* comm, void* data, size_t bytes, int to, int to_tag, int from,
                                int from_tag, fab_request* request) {
  return guarded([&] {
    check_idle(request);
    put(request, isendrecv_replace(given(comm, "comm").communicator, room_at(data, bytes), {to, Tag{to_tag}},
                                   {from, Tag{from_tag}}));
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
