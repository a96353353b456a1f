#include <array>

#include "perf/command.h"

namespace perf {
namespace {

constexpr std::array kCommands = {
    Command{"neighbor", "Time of a neighbour exchange", add_neighbor},
    Command{"halo", "Time to fill the halo of a two- or three-dimensional block", add_halo},
    Command{"overlap", "How much of an exchange or collective a computation hides", add_overlap},
    Command{"collective", "Time of collectives", add_collective},
    Command{"start", "Time of fab's own for a start, without a network", add_start},
    Command{"rate", "Messages per second, of one thread or several", add_rate},
    Command{"p2p", "Latency and bandwidth of messages between two ranks", add_p2p},
    Command{"discover", "Time in which ranks find out who will send to them", add_discover},
    Command{"first", "Time of the first exchange of a process, opening included", add_first},
    Command{"footprint", "Processor time and memory that an open context of fab takes, without MPI", add_footprint},
    Command{"reduce", "Speed of fab's reductions of arrays, against a plain loop", add_reduce},
    Command{"limits", "What two processes of this machine can exchange, without a library", add_limits},
};

}  // namespace

const char* program_name() { return "fab_perf"; }

std::span<const Command> commands() { return kCommands; }

}  // namespace perf
