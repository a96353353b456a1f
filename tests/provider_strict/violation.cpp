#include "violation.h"

#include <cstdio>
#include <cstdlib>

namespace strict {

void end_with(std::string_view message) noexcept {
  const char* profile = std::getenv("FI_STRICT_PROFILE");
  std::fprintf(stderr, "provider strict (%s): %.*s\n", profile == nullptr ? "harsh" : profile,
               static_cast<int>(message.size()), message.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace strict
