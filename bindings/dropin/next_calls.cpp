#include "bindings/dropin/next_calls.h"

#include <string>

#include "bindings/mpi/interception/find_next.h"

namespace fab::dropin {

namespace {

/// `p` is empty, or "P".
NextCalls find_all(const std::string& p) {
  NextCalls next{};
#define FAB_STRING(text) #text
#define FAB_NAME(text) FAB_STRING(text)
#define FAB_FIND(member, name) next.member = mpi::find_next<decltype(next.member)>(p + FAB_NAME(name))
#define FAB_FIND_FORMS(name, Name) \
  FAB_FIND(name, MPI_##Name);      \
  FAB_FIND(i##name, MPI_I##name);
  FAB_CARRIED(FAB_FIND_FORMS)
#if FAB_HAS_PERSISTENT
#define FAB_FIND_INIT(name, Name) FAB_FIND(name##_init, FAB_INIT(Name));
  FAB_CARRIED(FAB_FIND_INIT)
#undef FAB_FIND_INIT
#endif
  FAB_FIND(alloc_mem, MPI_Alloc_mem);
  FAB_FIND(free_mem, MPI_Free_mem);
  FAB_FIND(finalize, MPI_Finalize);
#undef FAB_FIND_FORMS
#undef FAB_FIND
#undef FAB_NAME
#undef FAB_STRING
  return next;
}

}  // namespace

const NextCalls next_mpi_calls = find_all("");
const NextCalls next_pmpi_calls = find_all("P");

}  // namespace fab::dropin
