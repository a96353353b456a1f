// Draws an interval of a timeline.
#pragma once

#include <string>

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

struct PictureRequest {
  Interval time{};
  Rank first_rank = 0;
  Rank last_rank = 0;
  int width = 1200;  ///< pixels
  std::string title{};
};

/// The time from the first start to the last end of those steps of the operation of that name, on any communicator.
/// Throws Error(invalid_argument) that tells what there is, if there are none.
[[nodiscard]] Interval time_of_steps(const Timeline& timeline, const std::string& operation, std::uint64_t first,
                                     std::uint64_t last);
/// All of it.
[[nodiscard]] Interval whole_time(const Timeline& timeline);

/// One SVG without other files: ranks as lanes with bars for starts, waits hatched, the progress thread as a line while
/// it is awake, messages as arrows.
[[nodiscard]] std::string to_svg(const Timeline& timeline, const PictureRequest& request);

}  // namespace fab::tools
