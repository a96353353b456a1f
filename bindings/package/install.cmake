# Installs headers, libraries, tools, documentation, the pkg-config files and the CMake package. Components: runtime
# (the libraries), development, mpich (all that only MPICH's programs need), tools and debug (what debuggers read,
# beside each binary in a folder .debug).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fab)
set(template_dir ${CMAKE_CURRENT_LIST_DIR})

# What libraries load, or fab_run has loaded.
set(modules)
foreach(module fab_libfabric fab_scotch fab_heap)
  if(TARGET ${module})
    list(APPEND modules ${module})
  endif()
endforeach()

# `cmake --install` by itself builds nothing. Where only a part has been built, as bench/run does, it would fail.
add_custom_target(fab_installed DEPENDS ${libraries} ${modules} ${fab_stand_ins} ${tools})
set(needed_files ${libraries} ${modules} ${fab_stand_ins} ${tools})
list(TRANSFORM needed_files REPLACE "(.+)" "$<TARGET_FILE:\\1>")
if(FAB_TOOLS)
  add_dependencies(fab_installed fab_manual)
  list(APPEND needed_files ${man_pages})
endif()
if(fab_fortran_modules)
  include(${template_dir}/install_fortran.cmake)
endif()
install(CODE "
  foreach(file ${needed_files})
    if(NOT EXISTS \${file})
      execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --config $<CONFIG> --target fab_installed
        COMMAND_ERROR_IS_FATAL ANY)
      break()
    endif()
  endforeach()" ALL_COMPONENTS)

# The tree may be moved: binaries find libfab relative to themselves.
file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
if(FAB_TOOLS)
  set_target_properties(${tools} PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS ${tools} COMPONENT tools)
  install(FILES ${networks} DESTINATION ${fab_networks} COMPONENT tools)
  foreach(tool ${tools})  # bash looks for a file of the program's name
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/man/${tool}.1
      DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
    install(FILES ${template_dir}/completion.bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions
      RENAME ${tool} COMPONENT tools)
  endforeach()
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/man/fab.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT development)
endif()

# Export sets of their own, because only the components mpi and mpi_mpich may ask for MPI.
set(exports fabTargets)
if(FAB_MPI)
  list(APPEND exports fabMpiTargets)
endif()
if(FAB_MPICH)
  list(APPEND exports fabMpichTargets)
endif()
foreach(library ${libraries})
  set(export fabMpiTargets)
  set(component runtime)
  set(link_component development)
  if(library STREQUAL "fab")
    set(export fabTargets)
  elseif(library MATCHES "_mpich$")
    set(export fabMpichTargets)
    set(component mpich)
    set(link_component mpich)
  endif()
  install(TARGETS ${library} EXPORT ${export}
    LIBRARY COMPONENT ${component} NAMELINK_COMPONENT ${link_component} ARCHIVE COMPONENT development)
endforeach()
foreach(module ${modules})
  # In the build folder, too, where CMake would else keep room for it with empty entries: the current folder.
  set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN/.." BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH_USE_LINK_PATH ON)  # a libfabric in a folder of its own
  install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fab COMPONENT runtime)
endforeach()
if(fab_stand_ins)
  install(TARGETS ${fab_stand_ins} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fab/stand_ins COMPONENT runtime)
endif()
foreach(export ${exports})
  set(component development)
  if(export STREQUAL "fabMpichTargets")
    set(component mpich)
  endif()
  install(EXPORT ${export} NAMESPACE fab:: DESTINATION ${package_dir} COMPONENT ${component})
endforeach()
include(${template_dir}/split_debug.cmake)

set(include_dirs core/include bindings/native/include)
if(FAB_MPI)
  list(APPEND include_dirs bindings/mpi/include bindings/nbc/include)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/include/fab/mpi_library.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fab COMPONENT development)
endif()
foreach(include_dir ${include_dirs})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${include_dir}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

# The CMake package. A static libfab is linked with what it needs, a shared one knows it.
set(fab_is_static OFF)
if(kind STREQUAL "STATIC")
  set(fab_is_static ON)
  target_link_libraries(fab INTERFACE $<INSTALL_INTERFACE:fab::dependencies>)
endif()
set(fab_fmoddir ${CMAKE_INSTALL_LIBDIR}/fab/fortran)
configure_package_config_file(${template_dir}/fabConfig.cmake.in fabConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS fab_fmoddir)
write_basic_package_version_file(fabConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fabConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/fabConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

include(${template_dir}/pkg_config.cmake)
if(PROJECT_IS_TOP_LEVEL)
  include(${template_dir}/debian.cmake)
endif()
