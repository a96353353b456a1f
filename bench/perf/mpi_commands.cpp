// The subcommands of a program that is built with an MPI library that fab was not built with.
#include <array>

#include "perf/command.h"

namespace perf {
namespace {

constexpr std::array kCommands = {
    Command{"neighbor", "Time of a neighbour exchange", add_neighbor},
    Command{"overlap", "How much of an exchange or collective a computation hides", add_overlap},
    Command{"collective", "Time of collectives", add_collective},
};

}  // namespace

const char* program_name() { return "mpich_perf"; }

std::span<const Command> commands() { return kCommands; }

}  // namespace perf
