#include "realspace/canvas.h"

#include <fmt/core.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "core/base/quoted.h"

namespace realspace {

Canvas::Canvas(int width_px, int height_px)
    : width_px_(width_px),
      height_px_(height_px),
      pixels_(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px)) {}

// Blends `color` into the pixels of the box where outside_px, the distance out of the shape, is below half a pixel.
template <class Distance>
void Canvas::fill(const Pixel& low, const Pixel& high, Distance outside_px, const Color& color, double opacity) {
  const auto clamp = [](double value, int size) { return static_cast<int>(std::clamp(value, 0.0, size - 1.0)); };
  for (int y = clamp(low[1] - 1, height_px_); y <= clamp(high[1] + 1, height_px_); ++y) {
    for (int x = clamp(low[0] - 1, width_px_); x <= clamp(high[0] + 1, width_px_); ++x) {
      const double alpha = opacity * std::clamp(0.5 - outside_px(x, y), 0.0, 1.0);
      for (std::size_t k = 0; k < 3; ++k) at(x, y)[k] += alpha * (color[k] - at(x, y)[k]);
    }
  }
}

void Canvas::draw_disc(const Pixel& center, double radius_px, const Color& color, double opacity) {
  const auto outside_px = [&](int x, int y) { return std::hypot(x - center[0], y - center[1]) - radius_px; };
  fill({center[0] - radius_px, center[1] - radius_px}, {center[0] + radius_px, center[1] + radius_px}, outside_px,
       color, opacity);
}

void Canvas::draw_ring(const Pixel& center, double radius_px, double line_px, const Color& color, double opacity) {
  const double outer_px = radius_px + line_px / 2;
  const auto outside_px = [&](int x, int y) {
    return std::abs(std::hypot(x - center[0], y - center[1]) - radius_px) - line_px / 2;
  };
  fill({center[0] - outer_px, center[1] - outer_px}, {center[0] + outer_px, center[1] + outer_px}, outside_px, color,
       opacity);
}

void Canvas::draw_line(const Pixel& from, const Pixel& to, double line_px, const Color& color, double opacity) {
  const double dx = to[0] - from[0], dy = to[1] - from[1];
  const double length_squared = std::max(dx * dx + dy * dy, 1e-12);
  const auto outside_px = [&](int x, int y) {
    const double along = std::clamp(((x - from[0]) * dx + (y - from[1]) * dy) / length_squared, 0.0, 1.0);
    return std::hypot(x - from[0] - along * dx, y - from[1] - along * dy) - line_px / 2;
  };
  fill({std::min(from[0], to[0]) - line_px, std::min(from[1], to[1]) - line_px},
       {std::max(from[0], to[0]) + line_px, std::max(from[1], to[1]) + line_px}, outside_px, color, opacity);
}

void Canvas::save_png(const std::string& path) const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(pixels_.size() * 3);
  for (const Color& color : pixels_) {
    for (double value : color)
      bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width_px_);
  image.height = static_cast<png_uint_32>(height_px_);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path.c_str(), 0, bytes.data(), 0, nullptr) == 0) {
    throw std::runtime_error(fmt::format("cannot write the picture {}: {}", fab::in_quotes(path), image.message));
  }
}

}  // namespace realspace
