// A candidate: a libfabric provider on one device or interface, and the reasons for and against it.
#pragma once

#include <string>

struct fi_info;

namespace fab::ofi {

struct Candidate {
  std::string provider;   ///< libfabric's name: "net", "tcp;ofi_rxm", "verbs;ofi_rxm"
  std::string domain;     ///< libfabric's name of the device or interface
  std::string interface;  ///< network interface of its address; empty when it has none
  std::string address;    ///< for people
  std::string reason;     ///< why it stands at its place, or why it is no choice
  bool writes = false;    ///< persistent exchanges write into the peer's memory
  std::string writes_reason;
  bool usable = true;  ///< false: FAB_PROVIDER or FAB_IFACE exclude it, or it does not reach all nodes
  fi_info* info = nullptr;
};

}  // namespace fab::ofi
