# `cpack -G DEB` in a build folder: libfab1, libfab-dev, fab-tools, with FAB_MPICH=ON libfab-mpich, and libfab1-dbg with
# what debuggers read of them.
set(CPACK_PACKAGE_NAME fab)
set(CPACK_PACKAGE_VENDOR "the fab authors")
set(CPACK_PACKAGE_CONTACT "the fab authors <fab@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)
set(CPACK_COMPONENTS_ALL runtime development tools debug)
if(FAB_MPICH)
  list(APPEND CPACK_COMPONENTS_ALL mpich)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)

set(same "(= ${PROJECT_VERSION})")
# fab_debian_package(COMPONENT NAME SECTION SUMMARY DEPENDS): what binaries are linked with is added.
macro(fab_debian_package component name section summary depends)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  # Where Debian looks for a package's licence, and only there.
  install(CODE "
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      file(INSTALL \"${PROJECT_SOURCE_DIR}/LICENSE\" DESTINATION /usr/share/doc/${name} RENAME copyright)
    endif()" COMPONENT ${component})
endmacro()

set(libfab libfab${fab_interface})
set(development_depends "${libfab} ${same}")
if(FAB_MPI)  # mpi.h and the library that programs are linked with
  execute_process(COMMAND dpkg-query --search "${MPI_C_HEADER_DIR}/mpi.h"
    OUTPUT_VARIABLE mpi_package ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(mpi_package MATCHES "^([^:, ]+)")
    string(APPEND development_depends ", ${CMAKE_MATCH_1}")
  endif()
endif()
fab_debian_package(runtime ${libfab} libs "Exchanges along known patterns between processes: libraries" "")
fab_debian_package(development libfab-dev libdevel "Exchanges along known patterns between processes: for programmers"
  "${development_depends}")
fab_debian_package(tools fab-tools utils "What fab does here, and what collectives cost on any network" "${libfab} ${same}")
fab_debian_package(debug ${libfab}-dbg debug "Debug data of fab's libraries and tools" "${libfab} ${same}")
if(FAB_MPICH)
  fab_debian_package(mpich libfab-mpich libs "Exchanges along known patterns between processes: for MPICH's programs"
    "${libfab} ${same}")
  set(CPACK_DEBIAN_MPICH_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_MPICH_PACKAGE_RECOMMENDS "libfab-dev ${same}")  # for those who compile programs
endif()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS openmpi-bin)  # has a launcher with PMIx
include(CPack)
