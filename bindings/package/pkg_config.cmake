# fab.pc and fab-mpi.pc. The prefix follows from where the file lies, so that it too survives a move. Programs find the
# libraries where they were linked with them, unless that is where the loader looks anyway.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
# With an archive come the libraries that it needs, as they are on this machine: whether its users say --static or not,
# there is no other libfab, and --static would ask for archives of all of those, too.
set(static_libs)
if(fab_is_static)
  list(JOIN libfabric_LDFLAGS " " static_libs)
  foreach(words "${pmix_LDFLAGS}" -lfmt ${SCOTCH_LIBRARY} ${SCOTCH_ERROR_LIBRARY} -lstdc++ -lm -pthread)
    list(JOIN words " " words)
    string(APPEND static_libs " ${words}")
  endforeach()
endif()
set(packages fab)
if(FAB_MPI)
  list(APPEND packages fab-mpi)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_cflags)
  list(JOIN mpi_cflags " " mpi_cflags)
  list(JOIN MPI_C_LIBRARIES " " mpi_libs)
endif()
foreach(package ${packages})
  set(rpath " -Wl,-rpath,\${libdir}")
  configure_file(${template_dir}/${package}.pc.in ${package}.pc @ONLY)
  set(rpath)
  configure_file(${template_dir}/${package}.pc.in system/${package}.pc @ONLY)
  install(CODE "
    set(folder)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      set(folder system/)
    endif()
    file(INSTALL \"${CMAKE_CURRENT_BINARY_DIR}/\${folder}${package}.pc\"
      DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig\")" COMPONENT development)
endforeach()
