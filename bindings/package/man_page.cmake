# cmake -D PAGE=fab_sim.1 -D PROGRAM=path -D VERSION=v -D FILE=out -P man_page.cmake
#   A page of section 1 from `PROGRAM --help`; fab.7 from `PROGRAM --variables --json`, PROGRAM being fab_info.
cmake_minimum_required(VERSION 3.25)
string(REGEX MATCH "^(.*)\\.([0-9])$" page "${PAGE}")
set(name ${CMAKE_MATCH_1})
set(section ${CMAKE_MATCH_2})

function(run output)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Text as roff shows it unchanged.
function(escape output text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# What separates or groups a list's elements in CMake would take help texts apart.
string(ASCII 1 semicolon)
string(ASCII 2 opening)
string(ASCII 3 closing)
function(lines output text)
  string(REPLACE ";" "${semicolon}" text "${text}")
  string(REPLACE "[" "${opening}" text "${text}")
  string(REPLACE "]" "${closing}" text "${text}")
  string(REPLACE "\n" ";" text "${text}")
  set(${output} "${text}" PARENT_SCOPE)
endfunction()
function(plain output line)
  string(REPLACE "${semicolon}" ";" line "${line}")
  string(REPLACE "${opening}" "[" line "${line}")
  string(REPLACE "${closing}" "]" line "${line}")
  set(${output} "${line}" PARENT_SCOPE)
endfunction()

# example(COMMAND TEXT): what a page's EXAMPLES have.
set(examples "")
function(example command text)
  escape(command "${command}")
  escape(text "${text}")
  set(examples "${examples}.TP\n.B ${command}\n${text}\n" PARENT_SCOPE)
endfunction()
if(name STREQUAL "fab_info")
  example("fab_info" "The choice of provider and interface on this machine, with reasons, and every variable.")
  example("mpirun -n 2 --map-by node fab_info --statistics" "Exchanges between two nodes, and what they counted.")
  example("fab_info --choose allreduce -n 4096 --ppn 64 -b 8,64k" "The algorithms of two calls, and the rules that choose them.")
  example("fab_info --map 16x16 --nodes 16x16 --svg map.svg" "A grid of 256 ranks on 16 nodes of 16, before and after.")
elseif(name STREQUAL "fab_run")
  example("mpirun -n 4 fab_run ./program" "The program; fab carries the collectives that FAB_DROPIN selects.")
  example("mpirun -n 4 fab_run --carry all --stats ./program" "All that fab can, and a table at the end.")
elseif(name STREQUAL "fab_sim")
  example("fab_sim bcast -n 16,1k,1M -b 8,64k" "Every algorithm of a broadcast, for three numbers of ranks and two sizes.")
  example("fab_sim --print-network > network.json" "A network file to change, for --network.")
  example("fab_sim allreduce -n 4096 --ppn 64 --network infiniband-edr" "64 ranks on each node share a card of 100 Gbit/s.")
  example("fab_sim bcast -a binary -n 64 --goal bcast.goal" "The schedules of one algorithm, for LogGOPSim.")
elseif(name STREQUAL "fab_trace")
  example("FAB_TRACE=trace mpirun -n 4 ./program" "The ranks write trace.0 to trace.3.")
  example("fab_trace report trace" "Overlap of each operation, and the longest waits with their reasons.")
  example("fab_trace merge trace -o trace.json" "All ranks in one file for ui.perfetto.dev.")
  example("fab_trace otf2 archive trace" "An archive of OTF2 in the folder archive, for Vampir.")
  example("fab_trace svg trace --operation neighbor_xchg --steps 10:12 -o steps.svg" "A picture of three exchanges.")
elseif(name STREQUAL "fab_tune")
  example("fab_tune simulate --network infiniband-ndr --ppn 128 -o rules.json" "Rules for nodes of 128 ranks with cards of 400 Gbit/s.")
  example("FAB_RULES=rules.json mpirun -n 1024 ./program" "A program that uses them.")
endif()

# CLI11's help: a description, "Usage: ...", then groups ("Options:") of lines "  -n,--name TEXT   what it does". A
# name too long for its column has the rest on a line of its own.
# help_body(OUTPUT DESCRIPTION ARGUMENT...): the sections of `PROGRAM ARGUMENT...`, and the names of its subcommands in
# `subcommands`.
function(help_body output description_output)
  run(help ${ARGN})
  lines(help "${help}")
  set(description "")
  set(body "")
  set(title "")
  set(subcommands "")
  foreach(line IN LISTS help)
    plain(line "${line}")
    if(line STREQUAL "")
      continue()
    elseif(line MATCHES "^Usage: ([^ ]+) ?(.*)$")
      escape(arguments "${CMAKE_MATCH_2}")
      string(STRIP "${description}" description)
      string(APPEND body ".SH SYNOPSIS\n.B ${CMAKE_MATCH_1}\n${arguments}\n.SH DESCRIPTION\n${description}\n")
    elseif(line MATCHES "^([A-Z][A-Za-z ]*):$")
      string(TOUPPER "${CMAKE_MATCH_1}" title)
      string(APPEND body ".SH ${title}\n")
    elseif(line MATCHES "^  ([^ ].*[^ ])   *([^ ].*)$")
      set(names "${CMAKE_MATCH_1}")
      set(text "${CMAKE_MATCH_2}")
      if(names MATCHES "^(.*) Needs: (.*)$")
        set(names "${CMAKE_MATCH_1}")
        string(APPEND text " (with ${CMAKE_MATCH_2})")
      endif()
      if(title STREQUAL "SUBCOMMANDS")
        list(APPEND subcommands ${names})
      endif()
      escape(names "${names}")
      escape(text "${text}")
      string(APPEND body ".TP\n.B ${names}\n${text}\n")
    elseif(line MATCHES "^  ([^ ].*)$")
      escape(names "${CMAKE_MATCH_1}")
      string(APPEND body ".TP\n.B ${names}\n")
    else()
      string(STRIP "${line}" line)
      escape(line "${line}")
      if(body STREQUAL "")
        string(APPEND description "${line}\n")
      else()
        string(APPEND body "${line}\n")
      endif()
    endif()
  endforeach()
  string(STRIP "${description}" description)
  set(${output} "${body}" PARENT_SCOPE)
  set(${description_output} "${description}" PARENT_SCOPE)
  set(subcommands "${subcommands}" PARENT_SCOPE)
endfunction()

# The options of a subcommand stand under its name; those that print help are the tool's.
function(tool_page output)
  help_body(body description --help)
  set(all ${subcommands})
  foreach(subcommand IN LISTS all)
    help_body(of_it what ${subcommand} --help)
    string(REGEX REPLACE "^.*\n\\.SH OPTIONS\n" "" of_it "${of_it}")
    string(REGEX REPLACE "^\\.TP\n\\.B [^\n]*help\n[^\n]*\n" "" of_it "${of_it}")
    string(TOUPPER "${subcommand}" title)
    string(APPEND body ".SH OPTIONS OF ${title}\n${of_it}")
  endforeach()
  if(NOT examples STREQUAL "")  # a help text may have its own
    string(PREPEND examples ".SH EXAMPLES\n")
  endif()
  string(REGEX REPLACE "\\.(\n.*)?$" "" summary "${description}")
  string(REPLACE "\n" " " summary "${summary}")
  set(${output} ".SH NAME\n${name} \\- ${summary}\n${body}${examples}.SH EXIT STATUS\n0, or another number after an error, which standard error tells.\n.SH SEE ALSO\n.BR fab (7)\n" PARENT_SCOPE)
endfunction()

function(variables_page output)
  run(json --variables --json)
  set(body "")
  string(JSON count LENGTH "${json}")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    foreach(field name default help)
      string(JSON text GET "${json}" ${i} ${field})
      escape(${field} "${text}")
    endforeach()
    string(APPEND body ".TP\n.BR ${name} \" (default: ${default})\"\n${help}\n")
  endforeach()
  string(REPLACE "(default: )" "(default: empty)" body "${body}")
  set(${output} ".SH NAME
fab \\- exchanges along known patterns between the processes of a parallel program, on libfabric
.SH SYNOPSIS
.nf
c++ \\-std=c++20 program.cpp $(pkg\\-config \\-\\-cflags \\-\\-libs fab)
mpicc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs fab\\-mpi)
mpirun \\-n 4 ./a.out
.fi
.SH DESCRIPTION
The library libfab has the functions of namespace fab (fab/fab.h); libfab_mpi has those of fab/mpi.h and nbc.h for
programs that use MPI. The contracts are in the headers, the rest in the folder doc/fab beside that of these pages.
.SH ENVIRONMENT
Variables are read once, when a context is opened.
.BR fab_info (1)
prints their values, and which network and interface they lead to.
${body}.SH SEE ALSO
.BR fab_info (1),
.BR fab_perf (1),
.BR fab_run (1),
.BR fab_sim (1),
.BR fab_trace (1),
.BR fab_tune (1)
" PARENT_SCOPE)
endfunction()

if(section EQUAL 7)
  variables_page(body)
else()
  tool_page(body)
endif()
string(TOUPPER ${name} title)
file(WRITE ${FILE} ".TH ${title} ${section} \"\" \"fab ${VERSION}\" \"fab\"\n${body}")
