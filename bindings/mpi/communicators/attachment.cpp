#include "bindings/mpi/communicators/attachment.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/communicators/dealing.h"
#include "bindings/mpi/communicators/intra_communicator.h"
#include "bindings/mpi/communicators/naming.h"
#include "bindings/mpi/communicators/topology.h"

namespace fab::mpi {

namespace {

/// Owns every attachment, because MPI calls no delete function for communicators that are never freed.
struct Registry {
  std::mutex mutex;
  std::unordered_map<void*, std::shared_ptr<Attachment>> attachments;  ///< by the address of the Attachment
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Group world = MPI_GROUP_NULL;  ///< of MPI_COMM_WORLD
  std::atomic<std::uint64_t> deletions{0};
};

/// The communicator that a thread used last, for as long as none has been freed since: spares asking MPI.
struct Latest {
  MPI_Comm comm{};
  Attachment* attachment = nullptr;
  std::uint64_t deletions = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Latest latest;

Registry& registry() {
  static Registry& state = *new Registry;  // MPI may call back until the process ends
  return state;
}

void free_group(const char* call, MPI_Group& group) noexcept {
  if (group == MPI_GROUP_NULL) return;
  if (PMPI_Group_free(&group) != MPI_SUCCESS) log_error(call, "cannot free a group");
}

std::shared_ptr<Attachment> leave(void* key) {
  const std::lock_guard lock(registry().mutex);
  const auto node = registry().attachments.extract(key);
  return node.empty() ? nullptr : node.mapped();
}

// The core communicator is dropped here or by the last exchange in flight, never under the engine's lock.
int delete_attachment(MPI_Comm, int, void* value, void*) noexcept {
  const std::shared_ptr<Attachment> attachment = leave(value);
  if (attachment == nullptr) return MPI_SUCCESS;
  registry().deletions.fetch_add(1);
  if (attachment->core != nullptr) finish_naming(*attachment->core);
  attachment->comm.store(MPI_COMM_NULL);
  free_group("MPI_Comm_free", attachment->group);
  return MPI_SUCCESS;
}

Rank to_world(MPI_Group group, MPI_Group world, Rank rank) {
  Rank world_rank = MPI_UNDEFINED;
  require(PMPI_Group_translate_ranks(group, 1, &rank, world, &world_rank), "MPI_Group_translate_ranks");
  if (world_rank == MPI_UNDEFINED)
    throw Failure(MPI_ERR_COMM, fmt::format("rank {} of the communicator is not in this process's MPI_COMM_WORLD; fab "
                                            "reaches the processes of one launch only",
                                            rank));
  return world_rank;
}

int choose_engine(MPI_Comm comm, MPI_Group group) {
  const int engines = process_context().engines();
  return engines == 1 ? 0 : engine_of(comm, to_world(group, registry().world, 0), engines);
}

void check_reach(const core::Communicator& communicator) {
  static_cast<void>(communicator.world_rank(0));
  for (const Edge& edge : communicator.neighborhood().destinations)
    static_cast<void>(communicator.world_rank(edge.peer));
  for (const Edge& edge : communicator.neighborhood().sources) static_cast<void>(communicator.world_rank(edge.peer));
}

/// Translates ranks one by one when plans are built, so nothing grows with the communicator. MPI may search its group
/// for each; ranks of MPI_COMM_WORLD need no translation.
std::shared_ptr<core::Communicator> make_core(MPI_Comm comm, MPI_Group group, int engine,
                                              std::optional<Topology> topology) {
  int rank = 0;
  int size = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  require(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  const MPI_Group world = registry().world;
  auto translate = [group, world](Rank of_comm) { return to_world(group, world, of_comm); };
  auto core = std::make_shared<core::Communicator>(
      process_context().of_engine(engine).shared_from_this(),
      comm == MPI_COMM_WORLD ? core::Group::range(0, size) : core::Group::computed(size, std::move(translate)), rank,
      std::nullopt);
  if (topology) core->set_topology(*std::move(topology));
  check_reach(*core);
  return core;
}

void enter(const std::shared_ptr<Attachment>& attachment) {
  const std::lock_guard lock(registry().mutex);
  registry().attachments.emplace(attachment.get(), attachment);
}

std::optional<Topology> usable_topology(MPI_Comm comm) try {
  return read_topology(comm);
} catch (const Failure& failure) {
  if (failure.error_class() != MPI_ERR_TOPOLOGY) throw;
  return std::nullopt;
} catch (const Error& error) {
  if (error.errc() != Errc::invalid_topology) throw;
  return std::nullopt;  // a graph with one-sided edges
}

Attachment& attach(MPI_Comm comm, std::optional<Topology> topology) {
  const auto attachment = std::make_shared<Attachment>();
  attachment->comm.store(comm);
  require(PMPI_Comm_group(comm, &attachment->group), "MPI_Comm_group");
  try {
    const int engine = choose_engine(comm, attachment->group);
    attachment->core = make_core(comm, attachment->group, engine, std::move(topology));
    begin_naming(attachment->core, engine, comm);
  } catch (...) {
    free_group("MPI_Comm_group", attachment->group);
    throw;
  }
  enter(attachment);
  require(PMPI_Comm_set_attr(comm, registry().keyval, attachment.get()), "MPI_Comm_set_attr");
  advance_naming();
  return *attachment;
}

Attachment& remember(MPI_Comm comm, Attachment& attachment) {
  latest = {comm, &attachment, registry().deletions.load()};
  return attachment;
}

/// Null where none was made yet.
Attachment* find_attachment(MPI_Comm comm) {
  require_communicator(comm);
  if (latest.comm == comm && latest.deletions == registry().deletions.load()) return latest.attachment;
  void* value = nullptr;
  int found = 0;
  require(PMPI_Comm_get_attr(comm, registry().keyval, &value, &found), "MPI_Comm_get_attr");
  return found == 0 ? nullptr : &remember(comm, *static_cast<Attachment*>(value));
}

}  // namespace

Attachment& attachment_of(MPI_Comm comm) {
  if (Attachment* attachment = find_attachment(comm)) return *attachment;
  check_communicator(comm);
  return remember(comm, attach(comm, usable_topology(comm)));
}

Attachment& attachment_with_topology(MPI_Comm comm) {
  if (Attachment* attachment = find_attachment(comm); attachment != nullptr && attachment->core->topology() != nullptr)
    return *attachment;
  check_communicator(comm);
  return remember(comm, attach(comm, read_topology(comm)));
}

void open_attachments() {
  require(PMPI_Comm_group(MPI_COMM_WORLD, &registry().world), "MPI_Comm_group");
  require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attachment, &registry().keyval, nullptr),
          "MPI_Comm_create_keyval");
}

void close_attachments() noexcept {
  const std::lock_guard lock(registry().mutex);
  for (auto& [address, attachment] : registry().attachments) {
    attachment->core.reset();
    attachment->comm.store(MPI_COMM_NULL);
    free_group("MPI_Finalize", attachment->group);
  }
  free_group("MPI_Finalize", registry().world);
}

}  // namespace fab::mpi
