# Installs headers, libraries, tools, the pkg-config files and the CMake package.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fab)
set(template_dir ${CMAKE_CURRENT_LIST_DIR})

# The tree may be moved: binaries find libfab relative to themselves.
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(fab fab_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(fab_info fab_sim PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

foreach(include_dir core/include bindings/native/include bindings/mpi/include bindings/nbc/include)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${include_dir}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(TARGETS fab_info fab_sim)

# Two export sets, because only the component mpi may ask for MPI.
install(TARGETS fab EXPORT fabTargets)
install(TARGETS fab_mpi EXPORT fabMpiTargets)
install(EXPORT fabTargets NAMESPACE fab:: DESTINATION ${package_dir})
install(EXPORT fabMpiTargets NAMESPACE fab:: DESTINATION ${package_dir})
configure_package_config_file(${template_dir}/fabConfig.cmake.in fabConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(fabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fabConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/fabConfigVersion.cmake
  DESTINATION ${package_dir})

# The prefix follows from where the .pc file lies, so that it too survives a move.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_cflags)
list(JOIN mpi_cflags " " mpi_cflags)
list(JOIN MPI_C_LIBRARIES " " mpi_libs)
foreach(package fab fab-mpi)
  configure_file(${template_dir}/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
