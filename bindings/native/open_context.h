// The one place where a context gets its parts: launcher, configuration and the providers that exist.
#pragma once

#include <memory>

#include "core/context.h"

namespace fab {

/// From the environment and the launcher. Throws what Context::open throws.
[[nodiscard]] std::shared_ptr<core::Context> open_context();
/// With a given configuration and store (several ranks in one process).
[[nodiscard]] std::shared_ptr<core::Context> open_context(const Config& config, std::unique_ptr<Store> store);

}  // namespace fab
