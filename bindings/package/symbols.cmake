# The libraries export the names in libfab.symbols and libfab_mpi.symbols, and checks.symbols compares both.
#
# libfab.so: those of libfab.symbols, one a line as c++filt writes it, have the version FAB_1: they are the
# binary interface. All others of fab's are for libfab_mpi, the tools and the tests of the same build, and their version
# says so: they cannot be hidden, because all libraries of a process share one core. Everything else is local.
set(symbol_list ${CMAKE_CURRENT_LIST_DIR}/libfab.symbols)
set(version_script ${CMAKE_CURRENT_BINARY_DIR}/libfab.map)
set(c_symbols "")
set(cxx_symbols "")
file(STRINGS ${symbol_list} symbols)
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "^fab_[a-z_]+$")
    string(APPEND c_symbols "    ${symbol};\n")
  else()
    string(APPEND cxx_symbols "      \"${symbol}\";\n")
  endif()
endforeach()
string(CONCAT script
  "FAB_1 {\n  global:\n${c_symbols}    extern \"C++\" {\n${cxx_symbols}    };\n};\n"
  "FAB_PRIVATE_${PROJECT_VERSION} {\n  global:\n    extern \"C++\" {\n      *fab::*;\n    };\n  local:\n    *;\n};\n")
file(CONFIGURE OUTPUT ${version_script} CONTENT "${script}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${symbol_list})
target_link_options(fab PRIVATE LINKER:--version-script=${version_script})
set_property(TARGET fab APPEND PROPERTY LINK_DEPENDS ${version_script})

# libfab_mpi.so and libfab_dropin.so: C and Fortran names alone. They have no version, as MPI's have none: the order of
# libraries alone decides which definition of a name a process reaches (bindings/mpi/interception). A name that fits and
# is not listed is exported, and checks.symbols tells of it.
if(FAB_MPI)
  set(mpi_version_script ${CMAKE_CURRENT_BINARY_DIR}/libfab_mpi.map)
  file(CONFIGURE OUTPUT ${mpi_version_script} CONTENT "{
  global:
    MPI_*; PMPI_*; MPIX_*; PMPIX_*; mpi_*; pmpi_*; NBC_*; nbc_*; fab_*;
  local:
    *;
};
")
  foreach(library fab_mpi fab_dropin ${mpich_libraries})
    target_link_options(${library} PRIVATE LINKER:--version-script=${mpi_version_script})
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${mpi_version_script})
  endforeach()
endif()
