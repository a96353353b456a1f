# fab_add_mpi_test(NAME SOURCES ... [RANKS n ...] [PROVIDERS p ...] [ARGUMENTS ...] [ENVIRONMENT ...] [TIME_LIMIT_S s])
# fab_add_native_test(the same)
#   One executable, and one ctest test per number of ranks and provider: NAME.<provider>.<ranks>, labelled with the
#   provider. GoogleTest's main() comes from tests/mpi/support or tests/native/support. PROVIDERS are libfabric's
#   names with "+" for ";", or "local" for shared memory; "writes-" ahead of a name has persistent exchanges write
#   into their peers' memory. TIME_LIMIT_S (default 120) is for each test: see time_limits.cmake.

set(fab_test_ranks 1 2 3 4 5 8)
set(fab_test_providers local net tcp+ofi_rxm shm)
# What fab chooses by itself nowhere where there is something else; slow to start, and when ranks share processors.
set(fab_test_rare_providers tcp+ofi_rxm shm)
set(fab_test_few_ranks 2 5)

# Open MPI refuses to run as root, as in a container, without these two.
# Waits go to sleep soon, so that most tests see threads that sleep and are woken.
set(fab_test_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 FAB_POLL_US=50)
# Its launchers share a folder of host and user. One that ends removes it if it is empty, at times just when another has
# found it there and needs it. So it is never empty.
set(sessions ${PROJECT_BINARY_DIR}/tests/sessions)
cmake_host_system_information(RESULT host QUERY HOSTNAME)
string(REGEX REPLACE "\\..*" "" host ${host})
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY ${sessions}/ompi.${host}.${user}/kept)
list(APPEND fab_test_environment OMPI_MCA_orte_tmpdir_base=${sessions})
# No card, no use for Open MPI's components of cards, whose libraries sleep 0.2 s in each process when they are loaded.
# And its launcher need not look for graphics cards, which is half of the time that it takes. Only fab_launch's tests do
# without: all others leave Open MPI as it is.
set(fab_without_cards OMPI_MCA_mtl=^psm,psm2,ofi OMPI_MCA_btl=^ofi,openib,usnic OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx
  HWLOC_COMPONENTS=-gl,-opencl,-pci,-linuxio)
if(FAB_SANITIZE)
  set(fab_test_ranks 2)
  set(fab_test_few_ranks 2)
  set(fab_test_providers local net)
  # Libraries without frame pointers keep memory; the suppressions need their names, which takes the slow unwinder, and
  # all callers that it finds: libraries that were unloaded have lost theirs.
  list(APPEND fab_test_environment ASAN_OPTIONS=detect_stack_use_after_return=1:fast_unwind_on_malloc=0)
endif()

function(fab_add_mpi_test name)
  _fab_add_launched_test(${name} mpi ${ARGN})
endfunction()

function(fab_add_native_test name)
  _fab_add_launched_test(${name} native ${ARGN})
endfunction()

# What each test of a kind includes first is parsed once. Where a library is compiled for any address and a program is
# not, GCC takes none of the other's precompiled headers; so they belong to a program, which does nothing.
function(fab_parse_test_headers kind)
  set(target fab_${kind}_test_headers)
  add_executable(${target} ${PROJECT_SOURCE_DIR}/tests/cmake/nothing.cpp)
  target_link_libraries(${target} PRIVATE fab_${kind}_test_main)
  list(TRANSFORM ARGN REPLACE ".+" "<\\0>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

function(_fab_add_launched_test name kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIME_LIMIT_S" "SOURCES;RANKS;PROVIDERS;ARGUMENTS;ENVIRONMENT")
  set(arg_FEW_RANKS ${arg_RANKS})
  if(NOT arg_RANKS OR FAB_SANITIZE)
    set(arg_RANKS ${fab_test_ranks})
    set(arg_FEW_RANKS ${fab_test_few_ranks})
  endif()
  if(NOT arg_PROVIDERS OR FAB_SANITIZE)
    set(arg_PROVIDERS ${fab_test_providers})
  endif()

  set(target fab_${kind}_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE fab_${kind}_test_main)
  set(in_c ${arg_SOURCES})
  list(FILTER in_c INCLUDE REGEX "\\.c$")
  if(NOT in_c)
    target_precompile_headers(${target} REUSE_FROM fab_${kind}_test_headers)
  endif()
  set(time_limit)
  if(arg_TIME_LIMIT_S)
    set(time_limit TIME_LIMIT_S ${arg_TIME_LIMIT_S})
  endif()
  foreach(provider ${arg_PROVIDERS})
    set(all_ranks ${arg_RANKS})
    if(provider IN_LIST fab_test_rare_providers)
      set(all_ranks ${arg_FEW_RANKS})
    endif()
    foreach(ranks ${all_ranks})
      fab_launch(${kind}.${name}.${provider}.${ranks} TARGET ${target} RANKS ${ranks} PROVIDER ${provider}
        ARGUMENTS ${arg_ARGUMENTS} ENVIRONMENT ${arg_ENVIRONMENT} ${time_limit})
    endforeach()
  endforeach()
endfunction()

# fab_provider_environment(VARIABLE PROVIDER): what makes fab use it, also between the ranks of one node.
function(fab_provider_environment variable provider)
  if(provider STREQUAL "local")
    set(${variable} FAB_LOCAL=on PARENT_SCOPE)
  else()
    string(REGEX REPLACE "^writes-" "" name ${provider})
    string(REPLACE "+" "\\;" name ${name})
    set(one_sided FAB_ONE_SIDED=off)
    if(provider MATCHES "^writes-")
      set(one_sided FAB_ONE_SIDED=on)
    endif()
    set(${variable} "FAB_LOCAL=off;FAB_PROVIDER=${name};${one_sided}" PARENT_SCOPE)
  endif()
endfunction()

# fab_places_of(VARIABLE RANKS): of those that tests/run has for tests at a time, one more than processors. Ranks that
# share a processor yield it to each other all the time, and to every other process that computes; many of them take
# several times as long beside a compiler.
cmake_host_system_information(RESULT fab_test_processors QUERY NUMBER_OF_LOGICAL_CORES)
function(fab_places_of variable ranks)
  math(EXPR most "2 * ${fab_test_processors}")
  set(${variable} 1 PARENT_SCOPE)
  if(ranks GREATER most)
    math(EXPR all "${fab_test_processors} + 1")
    set(${variable} ${all} PARENT_SCOPE)
  endif()
endfunction()

# fab_launch(TEST TARGET t RANKS n PROVIDER p [ARGUMENTS ...] [ENVIRONMENT ...] [TIME_LIMIT_S s])
#   One more ctest test of such an executable.
function(fab_launch test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET;RANKS;PROVIDER;TIME_LIMIT_S" "ARGUMENTS;ENVIRONMENT")
  if(NOT arg_TIME_LIMIT_S)
    set(arg_TIME_LIMIT_S 120)
  endif()
  math(EXPR limit_s "${arg_TIME_LIMIT_S} * ${FAB_TEST_TIME_FACTOR}")
  math(EXPR ctest_limit_s "${limit_s} + 30")
  fab_provider_environment(provider_environment ${arg_PROVIDER})
  fab_places_of(places ${arg_RANKS})
  string(REGEX MATCH "^[a-z]+" kind ${test})
  # timeout(1) ends mpirun, which then ends its ranks; ctest's own limit would leave them behind.
  add_test(NAME ${test} COMMAND timeout --kill-after=10 ${limit_s}
    ${MPIEXEC_EXECUTABLE} -n ${arg_RANKS} --oversubscribe --bind-to none
    $<TARGET_FILE:${arg_TARGET}> --expect-ranks=${arg_RANKS} ${arg_ARGUMENTS})
  set_tests_properties(${test} PROPERTIES
    LABELS "${kind};${arg_PROVIDER}" TIMEOUT ${ctest_limit_s} PROCESSORS ${places}
    ENVIRONMENT "${fab_test_environment};${fab_without_cards};${provider_environment};${arg_ENVIRONMENT}")
endfunction()
