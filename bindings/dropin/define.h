// Defines a collective under all of its names, MPI_ and PMPI_, in all of its forms.
#pragma once

#include "bindings/dropin/carry.h"
#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/shapes.h"

#define FAB_UNPACK(...) __VA_ARGS__

// `parameters` and `arguments` are MPI's, in parentheses, the last of them comm. `next` has what is behind the name
// that the program called: both names of a function share its code.
#define FAB_DEFINE_SHARED(name, Name, parameters, arguments, outline, call)                                   \
  namespace fab::dropin {                                                                                     \
  namespace {                                                                                                 \
  [[gnu::noinline]] int name##_named(const NextCalls& next, FAB_UNPACK parameters) {                          \
    return blocking(                                                                                          \
        Function::name, "MPI_" #Name, comm, [&] { return outline; }, [&] { return call; },                    \
        [&] { return next.name(FAB_UNPACK arguments); });                                                     \
  }                                                                                                           \
  [[gnu::noinline]] int i##name##_named(const NextCalls& next, FAB_UNPACK parameters, MPI_Request* request) { \
    return non_blocking(                                                                                      \
        Function::name, "MPI_I" #name, comm, request, [&] { return outline; }, [&] { return call; },          \
        [&] { return next.i##name(FAB_UNPACK arguments, request); });                                         \
  }                                                                                                           \
  }                                                                                                           \
  }

#define FAB_DEFINE_UNDER(p, next, name, Name, parameters, arguments)                       \
  int p##MPI_##Name(FAB_UNPACK parameters) {                                               \
    return fab::dropin::name##_named(fab::dropin::next, FAB_UNPACK arguments);             \
  }                                                                                        \
  int p##MPI_I##name(FAB_UNPACK parameters, MPI_Request* request) {                        \
    return fab::dropin::i##name##_named(fab::dropin::next, FAB_UNPACK arguments, request); \
  }

#if FAB_HAS_PERSISTENT
#define FAB_STRING_OF(text) #text
#define FAB_NAME_OF(text) FAB_STRING_OF(text)
#define FAB_DEFINE_PERSISTENT(name, Name, parameters, arguments, outline, call)                                    \
  namespace fab::dropin {                                                                                          \
  namespace {                                                                                                      \
  [[gnu::noinline]] int name##_init_named(const NextCalls& next, FAB_UNPACK parameters, MPI_Info info,             \
                                          MPI_Request* request) {                                                  \
    return persistent(                                                                                             \
        Function::name, FAB_NAME_OF(FAB_INIT(Name)), comm, request, [&] { return outline; }, [&] { return call; }, \
        [&] { return next.name##_init(FAB_UNPACK arguments, info, request); });                                    \
  }                                                                                                                \
  }                                                                                                                \
  }                                                                                                                \
  FAB_DEFINE_PERSISTENT_UNDER(FAB_INIT(Name), next_mpi_calls, name, parameters, arguments)                         \
  FAB_DEFINE_PERSISTENT_UNDER(FAB_PINIT(Name), next_pmpi_calls, name, parameters, arguments)
#define FAB_DEFINE_PERSISTENT_UNDER(Function_name, next, name, parameters, arguments)              \
  int Function_name(FAB_UNPACK parameters, MPI_Info info, MPI_Request* request) {                  \
    return fab::dropin::name##_init_named(fab::dropin::next, FAB_UNPACK arguments, info, request); \
  }
#else
#define FAB_DEFINE_PERSISTENT(name, Name, parameters, arguments, outline, call)
#endif

#define FAB_DEFINE(name, Name, parameters, arguments, outline, call)      \
  FAB_DEFINE_SHARED(name, Name, parameters, arguments, outline, call)     \
  FAB_DEFINE_UNDER(, next_mpi_calls, name, Name, parameters, arguments)   \
  FAB_DEFINE_UNDER(P, next_pmpi_calls, name, Name, parameters, arguments) \
  FAB_DEFINE_PERSISTENT(name, Name, parameters, arguments, outline, call)
