#include "realspace/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace realspace {
namespace {

// Equal steps of lightness (0.11 to 0.97) and of hue (262 to 460 degrees) in the OKLCh space of B. Ottosson (2020),
// where equal distances look equal; the chroma is what sRGB can show, at most about 0.2.
constexpr std::array<std::array<int, 3>, 12> kTable = {{
    {0, 3, 22},
    {16, 0, 68},
    {50, 0, 97},
    {89, 0, 115},
    {133, 0, 119},
    {178, 0, 112},
    {213, 47, 94},
    {236, 91, 78},
    {246, 135, 78},
    {248, 177, 108},
    {246, 215, 158},
    {253, 247, 208},
}};

}  // namespace

Color color_map(double value) {
  const double place = std::clamp(value, 0.0, 1.0) * (kTable.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(place), kTable.size() - 2);
  const double share = place - static_cast<double>(low);
  Color color{};
  for (std::size_t k = 0; k < 3; ++k) color[k] = std::lerp(kTable[low][k], kTable[low + 1][k], share) / 255;
  return color;
}

}  // namespace realspace
