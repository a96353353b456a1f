// The functions of Scotch that fab calls, in a table.
//
// Most programs never ask for a graph's partition, and to load Scotch takes a third of what loading libfab takes. So
// libfab is not linked with it: the first partition loads the module fab/fab_scotch.so, which is, and has the table. A
// static libfab is linked with Scotch, and has the table itself.
#pragma once

// clang-format off
#include <cstdio>   // scotch.h needs it
#include <scotch.h>
// clang-format on

namespace fab::mapping {

/// A graph as SCOTCH_graphBuild has it, the sizes of the parts, and the part of each vertex.
struct ScotchGraph {
  SCOTCH_Num vertices;
  const SCOTCH_Num* starts;
  SCOTCH_Num edges;
  const SCOTCH_Num* targets;
  const SCOTCH_Num* weights;
  SCOTCH_Num parts;
  const SCOTCH_Num* sizes;
  SCOTCH_Num* placement;
};

/// Scotch does not say more than that it failed.
struct ScotchFailure {
  const char* call = nullptr;  ///< null: none
  int status = 0;
};

struct ScotchFunctions {
  int (*integer_bytes)();
  ScotchFailure (*partition)(const ScotchGraph& graph) noexcept;
};

/// The name of the table, and where the module lies, seen from libfab's folder.
inline constexpr const char* kScotchTable = "fab_scotch";
inline constexpr const char* kScotchModule = "fab/fab_scotch.so";

}  // namespace fab::mapping

extern "C" const fab::mapping::ScotchFunctions fab_scotch;
