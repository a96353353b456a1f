// Finds the objects of the process whose calls of MPI functions reach fab, and those whose calls do not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fab::mpi {

/// Why calls pass fab by.
struct Detour {
  std::string what;  ///< a clause: "MPI_Wait, as FILE calls it, is FILE's"
};

/// Where calls of completion functions, and of MPI_Op_free, lead.
struct CallGraph {
  std::optional<Detour> completion;
  std::optional<Detour> op_free;
};

/// Looks at all objects that are loaded now, but for MPI's own. A completion function that no object calls by its name
/// counts as passing by: then an object has asked the linker for its address, and got the one it wanted.
[[nodiscard]] CallGraph read_call_graph();

}  // namespace fab::mpi
