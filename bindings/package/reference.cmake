# fab_reference: pages of the public headers, by Doxygen, whose warnings are errors. Not a part of `all`.
find_program(DOXYGEN_EXECUTABLE NAMES doxygen)
if(NOT DOXYGEN_EXECUTABLE)
  return()
endif()
set(reference_dir ${CMAKE_CURRENT_BINARY_DIR}/reference)
set(reference_folders core/include bindings/native/include bindings/mpi/include bindings/nbc/include)
list(TRANSFORM reference_folders REPLACE "(.+)" "\"${PROJECT_SOURCE_DIR}/\\1\"")
list(JOIN reference_folders " " reference_folders)
configure_file(${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in ${reference_dir}/Doxyfile @ONLY)
add_custom_target(fab_reference COMMAND ${DOXYGEN_EXECUTABLE} ${reference_dir}/Doxyfile
  COMMENT "Writing ${reference_dir}/html/index.html" VERBATIM)
