// Contexts, communicators and memory of the C API.
#include <algorithm>
#include <span>
#include <vector>

#include "bindings/native/c/handles.h"
#include "fab/memory.h"

namespace fab::c {

namespace {

/// Of this thread. Its memory is had when something fails first; without any, the code is all there is.
std::string& last_error() noexcept {
  thread_local std::string text;
  return text;
}

static_assert(static_cast<int>(Errc::invalid_argument) == FAB_INVALID_ARGUMENT);
static_assert(static_cast<int>(Errc::truncated) == FAB_TRUNCATED);
static_assert(static_cast<int>(Errc::no_resources) == FAB_NO_RESOURCES);

std::vector<int> copy_of(const int* first, int elements, const char* argument) {
  if (elements < 0)
    throw Error(Errc::invalid_argument,
                std::string("the number of ") + argument + " is " + std::to_string(elements) + "; valid is 0 or more");
  const std::span<const int> given = array_of(first, static_cast<std::size_t>(elements), argument);
  return {given.begin(), given.end()};
}

void hand_over(std::optional<Communicator> communicator, fab_comm** made) {
  given(made, "made") = communicator ? new fab_comm{*std::move(communicator)} : nullptr;
}

Reorder reorder_if(int flag) { return flag != 0 ? Reorder::yes : Reorder::no; }

const Communicator& of(const fab_comm* comm) { return given(comm, "comm").communicator; }

}  // namespace

fab_error keep_failure(Errc code, const char* message) noexcept {
  try {
    last_error() = message;
  } catch (const std::bad_alloc&) {
    last_error().clear();
  }
  return static_cast<fab_error>(code);
}

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

const char* fab_last_error() { return last_error().c_str(); }

fab_error fab_open(fab_context** context) {
  return guarded([&] {
    fab_context*& opened = given(context, "context");
    opened = new fab_context(Context::open());
  });
}

fab_error fab_open_engines(int engines, fab_context** context) {
  return guarded([&] {
    fab_context*& opened = given(context, "context");
    opened = new fab_context(Context::open({.engines = engines}));
  });
}

fab_error fab_close(fab_context* context) {
  return guarded([&] {
    if (context == nullptr) return;
    const std::unique_ptr<fab_context> closed(context);
    closed->context.close();
  });
}

const fab_comm* fab_world(const fab_context* context) { return fab_world_of(context, 0); }

const fab_comm* fab_world_of(const fab_context* context, int engine) {
  if (context == nullptr || engine < 0 || engine >= context->context.engines()) return nullptr;
  return &context->worlds[static_cast<std::size_t>(engine)];
}

int fab_rank(const fab_comm* comm) { return comm == nullptr ? FAB_NO_RANK : comm->communicator.rank(); }

int fab_size(const fab_comm* comm) { return comm == nullptr ? 0 : comm->communicator.size(); }

fab_error fab_duplicate(const fab_comm* comm, fab_comm** made) {
  return guarded([&] { hand_over(of(comm).duplicate(), made); });
}

fab_error fab_subset(const fab_comm* comm, size_t count, const int ranks[], fab_comm** made) {
  return guarded([&] { hand_over(of(comm).subset(array_of(ranks, count, "ranks")), made); });
}

fab_error fab_cartesian(const fab_comm* comm, int dimensions, const int extents[], const int periodic[], int reorder,
                        fab_comm** made) {
  return guarded([&] {
    const std::vector<int> around = copy_of(periodic, dimensions, "periodic");
    hand_over(of(comm).cartesian_if(copy_of(extents, dimensions, "extents"),
                                    std::vector<bool>(around.begin(), around.end()), reorder_if(reorder)),
              made);
  });
}

fab_error fab_graph(const fab_comm* comm, int ranks, const int index[], const int edges[], int reorder,
                    fab_comm** made) {
  return guarded([&] {
    std::vector<int> ends = copy_of(index, ranks, "index");
    const int count = ends.empty() ? 0 : ends.back();
    hand_over(of(comm).graph_if(std::move(ends), copy_of(edges, count, "edges"), reorder_if(reorder)), made);
  });
}

fab_error fab_distributed_graph(const fab_comm* comm, int sources, const int source_ranks[], int destinations,
                                const int destination_ranks[], int reorder, fab_comm** made) {
  return guarded([&] {
    hand_over(
        of(comm).distributed_graph(copy_of(source_ranks, sources, "source_ranks"),
                                   copy_of(destination_ranks, destinations, "destination_ranks"), reorder_if(reorder)),
        made);
  });
}

fab_error fab_distributed_graph_to(const fab_comm* comm, int destinations, const int destination_ranks[], int reorder,
                                   fab_comm** made) {
  return guarded([&] {
    hand_over(of(comm).distributed_graph_to(copy_of(destination_ranks, destinations, "destination_ranks"),
                                            reorder_if(reorder)),
              made);
  });
}

void fab_comm_free(fab_comm* comm) { delete comm; }

fab_error fab_neighbors(const fab_comm* comm, size_t* destinations, size_t* sources) {
  return guarded([&] {
    const Neighborhood& edges = of(comm).neighborhood();
    if (destinations != nullptr) *destinations = edges.destinations.size();
    if (sources != nullptr) *sources = edges.sources.size();
  });
}

fab_error fab_neighbor_ranks(const fab_comm* comm, int destinations[], int sources[]) {
  return guarded([&] {
    const Neighborhood& edges = of(comm).neighborhood();
    if (destinations != nullptr) std::ranges::transform(edges.destinations, destinations, &Edge::peer);
    if (sources != nullptr) std::ranges::transform(edges.sources, sources, &Edge::peer);
  });
}

fab_error fab_event_fd(const fab_context* context, int* fd) {
  return guarded([&] { given(fd, "fd") = given(context, "context").context.event_fd(); });
}

void fab_clear_events(const fab_context* context) {
  if (context != nullptr) context->context.clear_events();
}

fab_error fab_statistics_totals(const fab_context* context, fab_totals* totals) {
  return guarded([&] {
    const OperationStatistics sums = given(context, "context").context.statistics().totals();
    given(totals, "totals") = {.calls = sums.calls,
                               .sent_messages = sums.sent.messages,
                               .sent_bytes = sums.sent.bytes,
                               .received_messages = sums.received.messages,
                               .received_bytes = sums.received.bytes,
                               .waits = sums.waited.waits,
                               .waited_ns = sums.waited.total_ns,
                               .longest_wait_ns = sums.waited.most_ns};
  });
}

fab_error fab_statistics_json(const fab_context* context, char* buffer, size_t size, size_t* needed) {
  return guarded([&] {
    const std::string text = given(context, "context").context.statistics_by_way().json();
    const std::size_t bytes = text.size() + 1;
    if (needed != nullptr) *needed = bytes;
    if (size < bytes)
      throw Error(Errc::no_resources, "fab_statistics_json: " + std::to_string(bytes) + " bytes are needed; size is " +
                                          std::to_string(size));
    std::copy_n(text.c_str(), bytes, &given(buffer, "buffer"));
  });
}

void* fab_buffer_alloc(size_t bytes) {
  void* memory = nullptr;
  return guarded([&] { memory = alloc(bytes); }) == FAB_SUCCESS ? memory : nullptr;
}

fab_error fab_buffer_free(void* memory) {
  return guarded([&] { fab::free(memory); });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
