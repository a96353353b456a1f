// MPI's functions of performance variables: fab's variables stand behind MPI's. Those that MPI adds later come behind
// fab's, for the number of a variable may not change.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/tool_interface/handles.h"
#include "bindings/mpi/tool_interface/next_pvars.h"

namespace fab::mpi {

namespace {

int own_count() noexcept { return static_cast<int>(performance_variables().size()); }

/// How many variables MPI had when a tool first asked. Precondition: MPI_T is initialized.
int first_own() noexcept {
  static const int first = [] {
    int count = 0;
    return next_pmpi_pvars.get_num(&count) == MPI_SUCCESS ? count : 0;
  }();
  return first;
}

/// MPI_T is initialized, and the number of fab's first variable is settled.
int prepare() noexcept {
  int count = 0;
  const int code = next_pmpi_pvars.get_num(&count);
  if (code == MPI_SUCCESS) static_cast<void>(first_own());
  return code;
}

/// Null if it is one of MPI's.
const PerformanceVariable* own_variable(int index) noexcept {
  const int own = index - first_own();
  return own >= 0 && own < own_count() ? &performance_variables()[static_cast<std::size_t>(own)] : nullptr;
}

int to_mpi(int index) noexcept { return index < first_own() ? index : index - own_count(); }
int from_mpi(int index) noexcept { return index < first_own() ? index : index + own_count(); }

int class_of(const PerformanceVariable& variable) noexcept {
  return variable.figure->largest ? MPI_T_PVAR_CLASS_HIGHWATERMARK : MPI_T_PVAR_CLASS_COUNTER;
}

/// As MPI returns text: what fits, and the length of all, with the null character.
void give(const char* text, char* out, int* length) noexcept {
  const auto bytes = static_cast<int>(std::strlen(text)) + 1;
  if (length == nullptr) return;
  if (out != nullptr && *length > 0) {
    const auto copied = static_cast<std::size_t>(std::min(*length, bytes) - 1);
    std::memcpy(out, text, copied);
    out[copied] = '\0';
  }
  *length = bytes;
}

template <class Value>
void give(Value value, Value* out) noexcept {
  if (out != nullptr) *out = value;
}

/// Where a tool may put what it asks for; each may be null.
struct Info {
  char* name;
  int* name_length;
  int* verbosity;
  int* var_class;
  MPI_Datatype* datatype;
  MPI_T_enum* enumtype;
  char* description;
  int* description_length;
  int* bind;
  int* readonly;
  int* continuous;
  int* atomic;
};

void describe(const PerformanceVariable& variable, const Info& info) noexcept {
  give(variable.name.c_str(), info.name, info.name_length);
  give(variable.figure->meaning, info.description, info.description_length);
  give(int{MPI_T_VERBOSITY_USER_BASIC}, info.verbosity);
  give(class_of(variable), info.var_class);
  give(MPI_Datatype{MPI_UNSIGNED_LONG_LONG}, info.datatype);
  give(MPI_T_enum{MPI_T_ENUM_NULL}, info.enumtype);
  give(int{MPI_T_BIND_NO_OBJECT}, info.bind);
  give(1, info.readonly);
  give(1, info.continuous);
  give(0, info.atomic);
}

// The calls, each of which has two names. `next` is the next definition behind that name.

inline int get_num(const NextPvars& next, int* count) {
  if (const int code = prepare(); code != MPI_SUCCESS) return code;
  const int code = next.get_num(count);
  if (code == MPI_SUCCESS) *count += own_count();
  return code;
}

inline int get_info(const NextPvars& next, int index, const Info& info) {
  if (const int code = prepare(); code != MPI_SUCCESS) return code;
  if (const PerformanceVariable* variable = own_variable(index)) {
    describe(*variable, info);
    return MPI_SUCCESS;
  }
  return next.get_info(to_mpi(index), info.name, info.name_length, info.verbosity, info.var_class, info.datatype,
                       info.enumtype, info.description, info.description_length, info.bind, info.readonly,
                       info.continuous, info.atomic);
}

inline int get_index(const NextPvars& next, const char* name, int var_class, int* index) {
  if (const int code = prepare(); code != MPI_SUCCESS) return code;
  const auto variables = performance_variables();
  for (std::size_t i = 0; name != nullptr && index != nullptr && i < variables.size(); ++i)
    if (variables[i].name == name && class_of(variables[i]) == var_class) {
      *index = first_own() + static_cast<int>(i);
      return MPI_SUCCESS;
    }
  const int code = next.get_index(name, var_class, index);
  if (code == MPI_SUCCESS) *index = from_mpi(*index);
  return code;
}

inline int get_category(const NextPvars& next, int category, int count, int indices[]) {
  if (const int code = prepare(); code != MPI_SUCCESS) return code;
  int all = 0;
  // How many of the places MPI fills in: as many as the category has.
  if (PMPI_T_category_get_info(category, nullptr, nullptr, nullptr, nullptr, nullptr, &all, nullptr) != MPI_SUCCESS)
    all = 0;
  const int code = next.get_category(category, count, indices);
  if (code == MPI_SUCCESS)
    for (int i = 0; i < std::min(count, all); ++i) indices[i] = from_mpi(indices[i]);
  return code;
}

inline int handle_alloc(const NextPvars& next, MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count) {
  if (const int code = prepare(); code != MPI_SUCCESS) return code;
  const PerformanceVariable* variable = own_variable(index);
  if (variable == nullptr) return next.handle_alloc(session, to_mpi(index), object, handle, count);
  return guarded("MPI_T_pvar_handle_alloc", MPI_COMM_NULL, [&] {
    *handle = make_pvar_handle(*variable);
    *count = 1;
  });
}

inline int handle_free(const NextPvars& next, MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  if (handle == nullptr || variable_of(*handle) == nullptr) return next.handle_free(session, handle);
  free_pvar_handle(*handle);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

inline int read(const NextPvars& next, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value) {
  const PerformanceVariable* variable = variable_of(handle);
  if (variable == nullptr) return next.read(session, handle, value);
  return guarded("MPI_T_pvar_read", MPI_COMM_NULL, [&] {
    const unsigned long long number = variable->read();
    std::memcpy(value, &number, sizeof(number));
  });
}

/// A variable that is read only, or runs all the time, refuses the rest.
template <class Function, class... Arguments>
int refuse_own(int refusal, Function next, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
               Arguments... arguments) {
  return variable_of(handle) != nullptr ? refusal : next(session, handle, arguments...);
}

}  // namespace

}  // namespace fab::mpi

using fab::mpi::Info;
using fab::mpi::next_mpi_pvars;
using fab::mpi::next_pmpi_pvars;
using fab::mpi::refuse_own;

// Each function by both of its names: FAB_BOTH(name, (parameters), function of fab's, arguments behind `next`).
#define FAB_BOTH(name, parameters, expression) \
  int MPI_##name parameters {                  \
    const auto& next = next_mpi_pvars;         \
    return expression;                         \
  }                                            \
  int PMPI_##name parameters {                 \
    const auto& next = next_pmpi_pvars;        \
    return expression;                         \
  }

extern "C" {
FAB_BOTH(T_pvar_get_num, (int* count), fab::mpi::get_num(next, count))
FAB_BOTH(T_pvar_get_info,
         (int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
          MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous, int* atomic),
         fab::mpi::get_info(next, index,
                            Info{name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len, bind,
                                 readonly, continuous, atomic}))
FAB_BOTH(T_pvar_get_index, (const char* name, int var_class, int* index),
         fab::mpi::get_index(next, name, var_class, index))
FAB_BOTH(T_category_get_pvars, (int category, int count, int indices[]),
         fab::mpi::get_category(next, category, count, indices))
FAB_BOTH(T_pvar_handle_alloc,
         (MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle, int* count),
         fab::mpi::handle_alloc(next, session, index, object, handle, count))
FAB_BOTH(T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle* handle),
         fab::mpi::handle_free(next, session, handle))
FAB_BOTH(T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
         refuse_own(MPI_T_ERR_PVAR_NO_STARTSTOP, next.start, session, handle))
FAB_BOTH(T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
         refuse_own(MPI_T_ERR_PVAR_NO_STARTSTOP, next.stop, session, handle))
FAB_BOTH(T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value),
         fab::mpi::read(next, session, handle, value))
FAB_BOTH(T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* value),
         refuse_own(MPI_T_ERR_PVAR_NO_WRITE, next.write, session, handle, value))
FAB_BOTH(T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
         refuse_own(MPI_T_ERR_PVAR_NO_WRITE, next.reset, session, handle))
FAB_BOTH(T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value),
         refuse_own(MPI_T_ERR_PVAR_NO_ATOMIC, next.readreset, session, handle, value))
}  // extern "C"
