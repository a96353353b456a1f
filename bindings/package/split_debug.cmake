# Installed binaries keep their symbols. Debug data, of which there is far more than of all else, goes into a file of
# its own in the folder .debug beside the binary (component debug): debuggers look there, wherever the tree is moved.

# fab_split_debug(TARGET FOLDER COMPONENT)
function(fab_split_debug target folder component)
  set(debug_file ${CMAKE_CURRENT_BINARY_DIR}/debug/$<TARGET_FILE_NAME:${target}>.debug)
  # Both components may be installed alone, and both need it.
  set(make_debug_file "
    file(MAKE_DIRECTORY \"${CMAKE_CURRENT_BINARY_DIR}/debug\")
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --only-keep-debug \"$<TARGET_FILE:${target}>\" \"${debug_file}\"
      COMMAND_ERROR_IS_FATAL ANY)")
  install(CODE "${make_debug_file}
    execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-debug --remove-section=.gnu_debuglink
      \"--add-gnu-debuglink=${debug_file}\"
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\"
      COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
  install(CODE "${make_debug_file}
    file(INSTALL \"${debug_file}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}/.debug\")" COMPONENT debug)
endfunction()

if(NOT CMAKE_OBJCOPY)
  message(WARNING "no objcopy: debug data will be installed within the binaries")
  return()
endif()
foreach(target ${libraries})
  if(kind STREQUAL "SHARED")
    set(component runtime)
    if(target MATCHES "_mpich$")
      set(component mpich)
    endif()
    fab_split_debug(${target} ${CMAKE_INSTALL_LIBDIR} ${component})
  else()  # an archive has no place to name the other file
    install(CODE "
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --strip-debug
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${target}>\"
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
  endif()
endforeach()
foreach(target ${modules})
  fab_split_debug(${target} ${CMAKE_INSTALL_LIBDIR}/fab runtime)
endforeach()
foreach(target ${tools})
  fab_split_debug(${target} ${CMAKE_INSTALL_BINDIR} tools)
endforeach()
