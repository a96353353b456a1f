// A picture in memory, drawn with antialiased shapes and saved as PNG.
#ifndef BENCH_APPS_REALSPACE_CANVAS_H
#define BENCH_APPS_REALSPACE_CANVAS_H

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace realspace {

using Color = std::array<double, 3>;  // sRGB, 0 to 1
using Pixel = std::array<double, 2>;  // right and down; (0, 0) is the middle of the first pixel

class Canvas {
 public:
  Canvas(int width_px, int height_px);

  int width_px() const { return width_px_; }
  int height_px() const { return height_px_; }

  void set(int x, int y, const Color& color) { at(x, y) = color; }
  void draw_disc(const Pixel& center, double radius_px, const Color& color, double opacity);
  void draw_ring(const Pixel& center, double radius_px, double line_px, const Color& color, double opacity);
  void draw_line(const Pixel& from, const Pixel& to, double line_px, const Color& color, double opacity);

  // Throws std::runtime_error that names the path and libpng's reason.
  void save_png(const std::string& path) const;

 private:
  Color& at(int x, int y) {
    return pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_px_) + static_cast<std::size_t>(x)];
  }
  template <class Distance>
  void fill(const Pixel& low, const Pixel& high, Distance outside_px, const Color& color, double opacity);

  int width_px_;
  int height_px_;
  std::vector<Color> pixels_;  // row by row
};

}  // namespace realspace

#endif
