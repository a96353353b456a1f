// Stand-ins for libraries of network cards that this machine does not have.
//
// Distributions link libfabric with libpsm2 and libpsm_infinipath, for Omni-Path and InfiniPath cards. When they are
// loaded they sleep for a fifth of a second, to calibrate a clock. Without a card all that they can do afterwards is to
// say so. A stand-in (stand_ins.cmake) has the same name and the same functions, each of which reports a failure. The
// loader takes libraries by their names, so libfabric, and MPI's components for these cards, get the one that is loaded
// already.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/config.h"

namespace fab::ofi {

/// Names of the libraries, as the loader knows them, whose cards are neither in `root`/dev nor in
/// `root`/sys/class/infiniband. None if the environment asks for one of their providers, which can also work without
/// cards.
[[nodiscard]] std::vector<std::string_view> libraries_without_cards(const std::filesystem::path& root,
                                                                    const Environment& environment);

/// The stand-ins that this process loads.
class StandIns {
 public:
  /// Loads those of libraries_without_cards() on this machine, unless the real ones are loaded already.
  [[nodiscard]] static StandIns load();

  /// Unloads them. Returns whether there was one.
  bool unload() noexcept;
  [[nodiscard]] bool empty() const noexcept { return modules_.empty(); }

 private:
  std::vector<void*> modules_;
};

/// For as long as it lives, others that load libfabric, or those libraries, do not wait for cards: stand-ins are
/// loaded, and libfabric with them, to see that it can do with them. Where the machine has the cards, nothing is.
class NoWaitForCards {
 public:
  NoWaitForCards();
  ~NoWaitForCards();
  NoWaitForCards(const NoWaitForCards&) = delete;
  NoWaitForCards& operator=(const NoWaitForCards&) = delete;

 private:
  StandIns stand_ins_;
  void* libfabric_ = nullptr;
};

}  // namespace fab::ofi
