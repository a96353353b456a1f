// Discoveries of the C API.
#include "fab/discover.h"

#include "bindings/native/c/handles.h"

struct fab_sources {
  fab::Discovered<std::byte> found;
};

#pragma GCC visibility push(default)
extern "C" {

fab_error fab_discover(const fab_comm* comm, size_t destinations, const int destination_ranks[], const void* blocks,
                       size_t block_bytes, fab_sources** found) {
  return fab::c::guarded([&] {
    fab_sources*& made = fab::c::given(found, "found");
    const auto ranks = fab::c::array_of(destination_ranks, destinations, "destination_ranks");
    // fab::discover refuses blocks whose bytes cannot be counted before it reads any.
    const std::span bytes(static_cast<const std::byte*>(blocks), destinations * block_bytes);
    made = new fab_sources{fab::discover(fab::c::given(comm, "comm").communicator, ranks, bytes, block_bytes)};
  });
}

size_t fab_sources_count(const fab_sources* sources) { return sources == nullptr ? 0 : sources->found.sources.size(); }

const int* fab_sources_ranks(const fab_sources* sources) {
  return sources == nullptr ? nullptr : sources->found.sources.data();
}

const void* fab_sources_blocks(const fab_sources* sources) {
  return sources == nullptr ? nullptr : sources->found.blocks.data();
}

void fab_sources_free(fab_sources* sources) { delete sources; }

}  // extern "C"
#pragma GCC visibility pop
