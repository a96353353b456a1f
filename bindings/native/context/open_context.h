// Assembles a context from its parts: launcher, configuration and providers. No other place does.
#pragma once

#include <memory>

#include "core/context.h"
#include "fab/api.h"

namespace fab {

/// From the environment and the launcher, with as many engines as FAB_ENGINES says. Throws what Context::open throws.
/// The MPI binding calls it, too.
[[nodiscard]] FAB_API std::shared_ptr<core::Context> open_context();
/// With so many engines, 1 to kMostEngines.
[[nodiscard]] std::shared_ptr<core::Context> open_context(int engines);
/// With a given configuration and store (several ranks in one process).
[[nodiscard]] FAB_API std::shared_ptr<core::Context> open_context(const Config& config, std::unique_ptr<Store> store);

/// Loads libfabric, which opening does where a network is needed. Throws Error(configuration).
FAB_API void load_network_library();
/// For as long as the result lives, others load and unload libfabric's libraries without waiting for cards that this
/// machine does not have.
[[nodiscard]] FAB_API std::shared_ptr<void> hold_off_card_libraries();

}  // namespace fab
