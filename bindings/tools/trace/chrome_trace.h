// A timeline in the trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing show.
#pragma once

#include <functional>
#include <string_view>

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

/// One process per rank, with tracks for its waits, its progress thread, and each operation (several, where its starts
/// overlap). Arrows lead from sends to receives. Writes by pieces. Precondition: align_clocks().
void write_chrome_trace(const Timeline& timeline, const std::function<void(std::string_view)>& write);

}  // namespace fab::tools
