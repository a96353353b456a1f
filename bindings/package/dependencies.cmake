# What fab needs of others. Kept where PkgConfig's and CMake's finders put it, but for MPI.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)  # only headers
pkg_check_modules(libfabric REQUIRED IMPORTED_TARGET libfabric>=1.17)
pkg_check_modules(pmix REQUIRED IMPORTED_TARGET pmix>=4)
find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch REQUIRED)
find_library(SCOTCH_LIBRARY scotch REQUIRED)
find_library(SCOTCH_ERROR_LIBRARY scotcherr REQUIRED)  # prints what is wrong and returns; the other one exits
mark_as_advanced(SCOTCH_INCLUDE_DIR SCOTCH_LIBRARY SCOTCH_ERROR_LIBRARY)
if(FAB_MPICH)
  pkg_check_modules(mpich REQUIRED IMPORTED_TARGET mpich)
elseif(FAB_BENCH OR FAB_TESTS)
  pkg_check_modules(mpich IMPORTED_TARGET mpich)  # to be compared with, and to see that the binding fits it
endif()

# fab_mpi_library: MPI as users of the binding link it. A target of our own, because those of FindMPI are not seen
# outside of the folder that looked for them.
if(FAB_MPI)
  find_package(MPI COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(FATAL_ERROR "libfab_mpi needs an MPI library; -DFAB_MPI=OFF builds without (native programs need none)")
  endif()
  add_library(fab_mpi_library INTERFACE)
  target_include_directories(fab_mpi_library SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
  target_compile_definitions(fab_mpi_library INTERFACE ${MPI_C_COMPILE_DEFINITIONS})
  target_link_libraries(fab_mpi_library INTERFACE ${MPI_C_LIBRARIES})
  if(TARGET PkgConfig::mpich)
    add_library(fab_mpich_library INTERFACE)
    target_link_libraries(fab_mpich_library INTERFACE PkgConfig::mpich)
  endif()
endif()
