// Chooses the congestion control of libfabric's TCP connections, and sets it.
//
// BBR paces: a timer of the kernel's decides when each segment may leave, also on the loopback interface and between
// hosts of one switch. Two blocks of 128 KiB took 70 us or 190 us in one and the same program, by how fast BBR believed
// the way to be, and 512 KiB twice as long as without pacing (docs/lab/tcp.md).
#pragma once

#include <string>
#include <string_view>

namespace fab::ofi {

/// What FAB_TCP_CONGESTION asks for: a name, or empty for the kernel's default. `automatic` keeps that unless it paces,
/// and then takes one of those that each user may take.
[[nodiscard]] std::string wanted_congestion_control(std::string_view configured);

/// What `automatic` takes where the kernel's default, and those that each user may take (separated by blanks), are
/// these.
[[nodiscard]] std::string choose_congestion_control(std::string_view kernel_default, std::string_view allowed);

/// Sockets that libfabric opens from now on have it, and so have the connections that they accept. False: they stay as
/// they are, since libfabric's calls could not be found, or the process has asked for another one before. Throws
/// Error(configuration) if the kernel refuses the name.
bool use_congestion_control(const std::string& name);

}  // namespace fab::ofi
