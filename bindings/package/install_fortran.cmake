# The modules, for the compiler that made them, their sources for others, and fabf.h once more: Fortran's INCLUDE looks
# into folders that are named, and pkg-config does not name /usr/include.
list(APPEND needed_files ${fab_fortran_modules})
add_dependencies(fab_installed fab_fortran_modules)
install(FILES ${fab_fortran_modules} ${PROJECT_SOURCE_DIR}/bindings/mpi/include/fabf.h
  ${PROJECT_SOURCE_DIR}/bindings/nbc/include/nbcf.h DESTINATION ${CMAKE_INSTALL_LIBDIR}/fab/fortran COMPONENT development)
install(FILES ${fab_fortran_sources} DESTINATION ${CMAKE_INSTALL_DATADIR}/fab/fortran COMPONENT development)
