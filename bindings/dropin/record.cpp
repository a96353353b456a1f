#include "bindings/dropin/record.h"

#include <algorithm>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/group.h"
#include "bindings/mpi/base/handles.h"
#include "bindings/mpi/lifecycle/whereabouts.h"

namespace fab::dropin {

using mpi::require;

namespace {

/// The communicator that a thread used last, for as long as none has been freed since: spares asking MPI.
struct Latest {
  MPI_Comm comm{};
  Record* record = nullptr;
  std::uint64_t deletions = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Latest latest;

int delete_record(MPI_Comm, int, void* record, void*) noexcept {
  deletions.fetch_add(1);
  delete static_cast<Record*>(record);
  return MPI_SUCCESS;
}

/// MPI frees it with the last communicator that has a record.
int make_keyval() {
  int keyval = MPI_KEYVAL_INVALID;
  require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_record, &keyval, nullptr), "MPI_Comm_create_keyval");
  return keyval;
}

Record& look_up(MPI_Comm comm) {
  static const int keyval = make_keyval();
  void* value = nullptr;
  int found = 0;
  require(PMPI_Comm_get_attr(comm, keyval, &value, &found), "MPI_Comm_get_attr");
  if (found != 0) return *static_cast<Record*>(value);
  auto record = std::make_unique<Record>();
  require(PMPI_Comm_set_attr(comm, keyval, record.get()), "MPI_Comm_set_attr");
  return *record.release();
}

bool are_in_world(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return true;
  const std::vector<int> ranks = mpi::Group(comm).ranks_in(mpi::Group(MPI_COMM_WORLD));
  return std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end();
}

}  // namespace

Record* find_record(MPI_Comm comm) {
  if (!mpi::is_communicator(comm)) return nullptr;
  const bool is_latest = latest.record != nullptr && latest.comm == comm;
  if (is_latest && latest.deletions == deletions.load(std::memory_order_acquire)) return latest.record;
  if (!mpi::mpi_is_usable()) return nullptr;
  Record& record = look_up(comm);
  latest = {comm, &record, deletions.load()};
  return &record;
}

void look_at(MPI_Comm comm, Record& record) {
  int inter = 0;
  require(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  require(PMPI_Comm_size(comm, &record.ranks), "MPI_Comm_size");
  const bool usable = inter == 0 && are_in_world(comm);
  record.kind = usable ? Record::Kind::usable : Record::Kind::unusable;
  record.one_node = mpi::ranks_share_memory();
}

}  // namespace fab::dropin
