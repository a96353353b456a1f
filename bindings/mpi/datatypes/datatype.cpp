#include "bindings/mpi/datatypes/datatype.h"

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/handles.h"
#include "bindings/mpi/base/private_comm.h"
#include "bindings/mpi/datatypes/flatten.h"
#include "core/base/hash.h"

namespace fab::mpi {

namespace {

/// The layouts of predefined types: a hash table that is read without a lock, because entries never go.
class PredefinedLayouts {
 public:
  [[nodiscard]] const Layout* find(MPI_Datatype type) const noexcept {
    for (std::size_t i = home(type);; ++i) {
      const Entry* entry = places_[i % kPlaces].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->type == type) return &entry->layout;
    }
  }

  const Layout& add(MPI_Datatype type) {
    const std::lock_guard lock(mutex_);
    if (const Layout* found = find(type)) return *found;
    // One place stays empty, so that every search ends.
    if (entries_.size() + 1 == kPlaces) throw Failure(MPI_ERR_INTERN, "more predefined types than expected");
    const Entry& entry = *entries_.emplace_back(std::make_unique<Entry>(Entry{type, named_layout(type)}));
    std::size_t i = home(type);
    while (places_[i % kPlaces].load() != nullptr) ++i;
    places_[i % kPlaces].store(&entry, std::memory_order_release);
    return entry.layout;
  }

 private:
  static constexpr std::size_t kPlaces = 512;
  struct Entry {
    MPI_Datatype type;
    Layout layout;
  };

  static std::size_t home(MPI_Datatype type) noexcept {
    return core::hash_of(std::uint64_t{std::hash<MPI_Datatype>{}(type)});
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::array<std::atomic<const Entry*>, kPlaces> places_{};
};

PredefinedLayouts& predefined() {
  static PredefinedLayouts& layouts = *new PredefinedLayouts;  // as long as the process, like the types
  return layouts;
}

int keyval = MPI_KEYVAL_INVALID;  // written once, before fab is open

int delete_layout(MPI_Datatype, int, void* layout, void*) noexcept {
  delete static_cast<Layout*>(layout);
  return MPI_SUCCESS;
}

// MPI has no question for it, but refuses such a type in communication; a message to MPI_PROC_NULL costs nothing, and
// reads nothing. MPICH looks at the type of one element or more only.
void check_committed(MPI_Datatype type) {
  const char nothing = 0;
  const int code = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, private_comm());
  if (code != MPI_SUCCESS) throw BadArgument(MPI_ERR_TYPE, "the datatype is not committed");
}

const Layout& add_derived(MPI_Datatype type) {
  check_committed(type);
  auto layout = std::make_unique<Layout>(flatten(type));
  require(PMPI_Type_set_attr(type, keyval, layout.get()), "MPI_Type_set_attr");
  return *layout.release();  // delete_layout's from now on
}

}  // namespace

void require_datatype(MPI_Datatype type) {
  if (is_datatype(type)) return;
  throw BadArgument(MPI_ERR_TYPE, type == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                            : "the datatype is no handle of a datatype");
}

const Layout& layout_of(MPI_Datatype type) {
  require_datatype(type);
  if (const Layout* layout = predefined().find(type)) return *layout;
  void* layout = nullptr;
  int found = 0;
  require(PMPI_Type_get_attr(type, keyval, &layout, &found), "MPI_Type_get_attr");
  if (found != 0) return *static_cast<const Layout*>(layout);
  return is_predefined(type) ? predefined().add(type) : add_derived(type);
}

bool is_permanent(MPI_Datatype type) noexcept {
  return predefined().find(type) != nullptr || (is_datatype(type) && is_predefined(type));
}

void open_datatypes() {
  require(PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_layout, &keyval, nullptr), "MPI_Type_create_keyval");
}

}  // namespace fab::mpi
