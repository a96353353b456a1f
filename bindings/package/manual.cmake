# Man pages, out of what the tools say of themselves: a page for each tool, and fab(7) with every variable.
set(man_pages)
set(page_writer ${CMAKE_CURRENT_SOURCE_DIR}/package/man_page.cmake)
list(TRANSFORM tools APPEND .1 OUTPUT_VARIABLE tool_pages)
foreach(page fab.7 ${tool_pages})
  string(REGEX REPLACE "\\.[0-9]$" "" program ${page})
  if(program STREQUAL "fab")
    set(program fab_info)
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/man/${page})
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D PROGRAM=$<TARGET_FILE:${program}> -D VERSION=${PROJECT_VERSION}
      -D FILE=${file} -P ${page_writer}
    DEPENDS ${program} ${page_writer} COMMENT "Writing the man page ${page}" VERBATIM)
  list(APPEND man_pages ${file})
endforeach()
set(all ALL)
if(FAB_SANITIZE)
  set(all)
endif()
add_custom_target(fab_manual ${all} DEPENDS ${man_pages})
