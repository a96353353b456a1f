// The provider through which fab reaches the other ranks of this job.
#pragma once

#include <string>

namespace bench {

struct FabPath {
  std::string name;      ///< for people: "net on lo"
  std::string provider;  ///< "local", "net" or "local+net"
  std::string domain;    ///< libfabric's, if it is used
  int nodes = 1;
};

}  // namespace bench
