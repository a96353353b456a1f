// Pictures of a grid on its nodes. A grid of more than two dimensions is drawn as its layers of the last two.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bindings/tools/map_report.h"

namespace fab::tools {

namespace {

/// A grid as layers of rows of places.
class Layers {
 public:
  explicit Layers(const Cartesian& grid) : grid_(grid) {
    const std::span<const int> dims = grid.dims();
    if (!dims.empty()) columns_ = dims.back();
    if (dims.size() > 1) rows_ = dims[dims.size() - 2];
  }

  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] int rows() const noexcept { return rows_; }
  [[nodiscard]] int count() const noexcept { return grid_.size() / (rows_ * columns_); }
  [[nodiscard]] int place(int layer, int row, int column) const noexcept {
    return (layer * rows_ + row) * columns_ + column;
  }
  /// "2,0,*,*" where there are several; otherwise empty.
  [[nodiscard]] std::string name(int layer) const {
    if (count() == 1) return "";
    std::string text;
    const std::vector<int> coordinates = grid_.coordinates(place(layer, 0, 0));
    for (std::size_t d = 0; d + 2 < coordinates.size(); ++d) text += fmt::format("{},", coordinates[d]);
    return text + "*,*";
  }

 private:
  const Cartesian& grid_;
  int columns_ = 1;
  int rows_ = 1;
};

int node_at(const MapReport& report, const Mapping& mapping, int place) {
  return report.nodes[static_cast<std::size_t>(mapping.ranks()[static_cast<std::size_t>(place)])];
}

/// Hues far apart for successive nodes: steps of the golden angle.
double hue_of(int node) { return (node * 1375 % 3600) / 10.0; }

/// One of the 216 colours of a terminal's cube, bright ones.
int terminal_colour(int node) {
  constexpr int kBright[] = {51, 214, 83, 213, 228, 75, 209, 156, 141, 222, 117, 203, 120, 183, 180, 45};
  return kBright[static_cast<std::size_t>(node) % std::size(kBright)];
}

/// The alphabet starts again after Z and z.
char sign_of(int node) {
  const int number = node % 52;
  return static_cast<char>(number < 26 ? 'A' + number : 'a' + number - 26);
}

std::string draw(const MapReport& report, const Mapping& mapping, bool colours) {
  const Layers layers(report.grid);
  std::string text;
  for (int layer = 0; layer < layers.count(); ++layer) {
    if (layers.count() > 1) text += fmt::format("  {}\n", layers.name(layer));
    for (int row = 0; row < layers.rows(); ++row) {
      text += "  ";
      for (int column = 0; column < layers.columns(); ++column) {
        const int node = node_at(report, mapping, layers.place(layer, row, column));
        text += colours ? fmt::format("\x1b[30;48;5;{}m{} ", terminal_colour(node), sign_of(node))
                        : fmt::format("{} ", sign_of(node));
      }
      if (colours) text += "\x1b[0m";
      text += '\n';
    }
  }
  return text;
}

constexpr int kCell = 24;  // pixels
constexpr int kGap = 40;   // around pictures, with room for a line of text
constexpr int kMostRanksWithNumbers = 4096;

/// A line between two places of different nodes.
std::string svg_border(int x, int y, int to_x, int to_y) {
  return fmt::format("<path d=\"M{} {}L{} {}\"/>", x, y, to_x, to_y);
}

std::string svg_layer(const MapReport& report, const Mapping& mapping, const Layers& layers, int layer, int left,
                      int top) {
  std::string cells;
  std::string borders;
  std::string numbers;
  const auto node = [&](int row, int column) { return node_at(report, mapping, layers.place(layer, row, column)); };
  for (int row = 0; row < layers.rows(); ++row)
    for (int column = 0; column < layers.columns(); ++column) {
      const int x = left + column * kCell;
      const int y = top + row * kCell;
      const int own = node(row, column);
      cells += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"hsl({:.1f},65%,75%)\"/>\n", x, y,
                           kCell, kCell, hue_of(own));
      if (column > 0 && node(row, column - 1) != own) borders += svg_border(x, y, x, y + kCell);
      if (row > 0 && node(row - 1, column) != own) borders += svg_border(x, y, x + kCell, y);
      if (report.grid.size() <= kMostRanksWithNumbers)
        numbers += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", x + kCell / 2, y + kCell * 5 / 8,
                               mapping.ranks()[static_cast<std::size_t>(layers.place(layer, row, column))]);
    }
  return fmt::format(
      "{}<g stroke=\"#000\" stroke-width=\"2\">{}</g>\n<g font-size=\"8\" text-anchor=\"middle\">{}</g>\n", cells,
      borders, numbers);
}

std::string svg_picture(const MapReport& report, const Mapping& mapping, const char* title, int left) {
  const Layers layers(report.grid);
  const Cut its_cut = cut(Traffic::of(report.grid), mapping, report.nodes);
  std::string text =
      fmt::format("<text x=\"{}\" y=\"20\">{}: {} messages between nodes</text>\n", left, title, its_cut.messages);
  for (int layer = 0; layer < layers.count(); ++layer) {
    const int top = kGap + layer * (layers.rows() * kCell + kGap);
    if (layers.count() > 1)
      text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left, top - 6, layers.name(layer));
    text += svg_layer(report, mapping, layers, layer, left, top);
  }
  return text;
}

/// "64 ranks on 4 nodes of 12 to 20".
std::string describe_nodes(const std::vector<int>& nodes) {
  std::map<int, int> sizes;
  for (const int node : nodes) ++sizes[node];
  const auto [least, most] =
      std::minmax_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} ranks on {} {} of {}", nodes.size(), sizes.size(), sizes.size() == 1 ? "node" : "nodes",
                     least->second == most->second ? fmt::to_string(most->second)
                                                   : fmt::format("{} to {}", least->second, most->second));
}

}  // namespace

std::string to_text(const MapReport& report, bool colours) {
  std::string text = fmt::format("{}, {}\n\n{:<14}{:>24}{:>20}{:>24}\n", to_string(Topology(report.grid)),
                                 describe_nodes(report.nodes), "mapping", "messages between nodes", "most of a node",
                                 "dilation on hypercube");
  for (const MapRow& row : report.rows) {
    if (!row.mapping) {
      text += fmt::format("{:<14}  {}\n", row.name, row.reason);
      continue;
    }
    text += fmt::format("{:<14}{:>24}{:>20}{:>24}\n", row.name, row.cut.messages, row.cut.most_messages,
                        row.hypercube_dilation ? fmt::to_string(*row.hypercube_dilation) : "-");
  }
  text += "\nbefore: ranks as they are (row_major)\n" + draw(report, report.before(), colours);
  text += "\nafter: reordered (bricks)\n" + draw(report, report.after(), colours);
  return text;
}

std::string to_svg(const MapReport& report) {
  const Layers layers(report.grid);
  // Titles need some room even where grids are narrow.
  const int panel = std::max(layers.columns() * kCell, 260);
  const int width = 2 * panel + 3 * kGap;
  const int height = kGap + layers.count() * (layers.rows() * kCell + kGap);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n{2}{3}</svg>\n",
      width, height, svg_picture(report, report.before(), "before", kGap),
      svg_picture(report, report.after(), "after", 2 * kGap + panel));
}

}  // namespace fab::tools
