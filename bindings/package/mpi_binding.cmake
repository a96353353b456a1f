# libfab_mpi and libfab_dropin, from the same sources for each MPI that they are built for.

# fab_add_mpi_binding(SUFFIX LIBRARY [DEFINITION...]): for programs of one MPI.
#   SUFFIX       of the targets and of the libraries' names: empty, or _mpich
#   LIBRARY      the MPI, as the targets LIBRARY of this build and fab::LIBRARY of installed trees
#   DEFINITION   of programs, too
function(fab_add_mpi_binding suffix library)
  # libfab_dropin is libfab_mpi and MPI's own collectives: both are made of the same objects.
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS mpi/*.cpp nbc/*.cpp)
  set(objects fab_mpi${suffix}_objects)
  add_library(${objects} OBJECT ${sources})
  add_library(fab_mpi${suffix} ${kind})
  file(GLOB sources CONFIGURE_DEPENDS dropin/*.cpp)
  add_library(fab_dropin${suffix} ${kind} ${sources})
  foreach(name mpi dropin)
    add_library(fab::${name}${suffix} ALIAS fab_${name}${suffix})
    set_target_properties(fab_${name}${suffix} PROPERTIES EXPORT_NAME ${name}${suffix} LINKER_LANGUAGE CXX)
    target_link_libraries(fab_${name}${suffix} PRIVATE $<BUILD_INTERFACE:${objects}>)
  endforeach()
  target_link_libraries(fab_dropin${suffix} PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  foreach(target ${objects} fab_mpi${suffix} fab_dropin${suffix})
    target_link_libraries(${target}
      PUBLIC fab $<BUILD_INTERFACE:${library}> $<INSTALL_INTERFACE:fab::${library}>
      PRIVATE $<BUILD_INTERFACE:fab_build_flags> $<BUILD_INTERFACE:fmt::fmt> $<BUILD_INTERFACE:Threads::Threads>)
    # MPI's removed C++ bindings would drag a second library into every C++ user.
    target_compile_definitions(${target} PUBLIC OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1 ${ARGN})
    target_include_directories(${target} PUBLIC
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/mpi/include>
      $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/nbc/include>
      $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
endfunction()
