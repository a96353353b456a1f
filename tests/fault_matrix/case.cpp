#include "fault_matrix/case.h"

#include <array>

namespace fab::test {

namespace {

constexpr std::array kDoings = {Doing::exchange,  Doing::nonblocking, Doing::persistent, Doing::one_sided, Doing::parts,
                                Doing::allreduce, Doing::bcast,       Doing::messages,   Doing::discover};
constexpr std::array<std::size_t, 3> kSizes = {8, 64 << 10, 4 << 20};
constexpr std::array kWays = {Way::node, Way::net, Way::rxm, Way::two_hosts};
constexpr std::array kFaults = {Fault::killed,       Fault::stopped,       Fault::stopped_for_ever,
                                Fault::machine_gone, Fault::never_started, Fault::exits};

constexpr std::array kDoingNames = {"exchange",  "nonblocking", "persistent", "one_sided", "parts",
                                    "allreduce", "bcast",       "messages",   "discover"};
constexpr std::array kWayNames = {"node", "net", "rxm", "two_hosts"};
constexpr std::array kFaultNames = {"killed", "stopped", "stopped_for_ever", "machine_gone", "never_started", "exits"};

bool makes_sense(const Case& which) {
  if (which.fault == Fault::machine_gone) return which.way == Way::two_hosts;  // there is only one machine otherwise
  return true;
}

}  // namespace

std::string Case::name() const {
  return std::string(kDoingNames.at(static_cast<std::size_t>(doing))) + "." + std::to_string(bytes) + "." +
         kWayNames.at(static_cast<std::size_t>(way)) + "." + kFaultNames.at(static_cast<std::size_t>(fault));
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Way way : kWays)
    for (const Fault fault : kFaults)
      for (const Doing doing : kDoings)
        for (const std::size_t bytes : kSizes)
          if (const Case each{doing, bytes, way, fault}; makes_sense(each)) cases.push_back(each);
  return cases;
}

}  // namespace fab::test
