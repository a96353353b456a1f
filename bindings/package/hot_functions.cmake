# The functions that run in every call lie side by side, in the order of hot_functions.ld, which bench/hot_functions
# writes. Linkers that cannot add to their own script, and libraries of a build with sanitizers, do without.
include(CheckLinkerFlag)
set(hot_functions ${CMAKE_CURRENT_LIST_DIR}/hot_functions.ld)
check_linker_flag(CXX "LINKER:-T,${hot_functions}" FAB_LINKER_ORDERS_FUNCTIONS)
if(FAB_LINKER_ORDERS_FUNCTIONS AND NOT FAB_SANITIZE)
  foreach(library ${all_libraries})
    target_link_options(${library} PRIVATE LINKER:-T,${hot_functions})
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${hot_functions})
  endforeach()
endif()
