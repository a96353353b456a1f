#include "bindings/tools/trace/timeline_picture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/tools/trace/trace_report.h"
#include "bindings/tools/trace/tracks.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

// Pixels.
constexpr double kLeft = 96;  // of the plot: room for names of ranks
constexpr double kRight = 24;
constexpr double kBar = 20;  // a start
constexpr double kBarGap = 3;
constexpr double kWaitBar = 8;
constexpr double kThreadLine = 3;
constexpr double kLaneGap = 26;  // between ranks, for arrows
constexpr double kLegendRow = 20;
constexpr double kCharacter = 6.4;  // of text of 12 pixels

// Colours that people tell apart who see few (M. Okabe, K. Ito), and lighter ones for bars.
constexpr std::string_view kBarColours[] = {"#8ecae6", "#ffd08a", "#a8dcc4", "#e6b8d4",
                                            "#f2e8a0", "#b9c3e6", "#f0b8a0", "#cfcfcf"};
constexpr std::string_view kArrowColours[] = {"#555555", "#0072b2", "#d55e00", "#009e73",
                                              "#cc79a7", "#7a5c00", "#56308c", "#b00020"};
constexpr std::size_t kMostHeads = 3000;  ///< arrows with heads

std::string xml(std::string_view text) {
  std::string safe;
  for (const char character : text) {
    switch (character) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
    }
  }
  return safe;
}

/// A step of 1, 2 or 5 by a power of ten, about a tenth of that.
Time tick_of(Time span) {
  Time power = 1;
  while (power * 10 <= span / 5) power *= 10;
  for (const Time factor : {1, 2, 5})
    if (power * factor * 12 >= span) return power * factor;
  return power * 10;
}

struct Unit {
  const char* name;
  double ns;
};

Unit unit_of(Time tick) {
  if (tick >= 1'000'000'000) return {"s", 1e9};
  if (tick >= 1'000'000) return {"ms", 1e6};
  if (tick >= 1'000) return {"us", 1e3};
  return {"ns", 1};
}

bool meet(const Interval& one, const Interval& other) { return one.begin <= other.end && one.end >= other.begin; }

/// Where a rank is drawn.
struct Lane {
  const RankTimeline* rank = nullptr;
  double top = 0;
  std::size_t rows = 1;
  std::map<std::size_t, std::size_t> row_of{};  ///< of exchanges in the picture

  [[nodiscard]] double bar(std::size_t exchange) const {
    const auto found = row_of.find(exchange);
    return top + (kBar + kBarGap) * static_cast<double>(found == row_of.end() ? 0 : found->second);
  }
  [[nodiscard]] double waits() const { return top + (kBar + kBarGap) * static_cast<double>(rows); }
  [[nodiscard]] double thread() const { return waits() + kWaitBar + kBarGap; }
  [[nodiscard]] double bottom() const { return thread() + kThreadLine; }
};

class Picture {
 public:
  Picture(const Timeline& timeline, const PictureRequest& request)
      : timeline_(timeline),
        request_(request),
        plot_(request.width - kLeft - kRight),
        scale_(plot_ / static_cast<double>(std::max<Time>(request.time.end - request.time.begin, 1))) {}

  std::string draw() {
    find_names();
    const std::string legend = draw_legend();
    add_lanes();
    for (const Lane& lane : lanes_) draw_lane(lane);
    const std::string arrows = draw_arrows();
    const double bottom = lanes_.empty() ? top_ : lanes_.back().bottom() + kLaneGap / 2;
    const double height = bottom + 44;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<defs>\n"
        "<pattern id=\"wait\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fbe3df\"/><rect width=\"2\" "
        "height=\"5\" fill=\"#c8553d\"/></pattern>\n{2}"
        "<clipPath id=\"plot\"><rect x=\"{3}\" y=\"0\" width=\"{4:.1f}\" height=\"{1:.0f}\"/></clipPath>\n</defs>\n"
        "<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n"
        "<text x=\"{3}\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{5}</text>\n{6}{7}{8}{9}</svg>\n",
        request_.width, height, heads(), kLeft, plot_, xml(request_.title), legend, draw_axis(bottom), lanes_text_,
        arrows);
  }

 private:
  [[nodiscard]] double x(Time time) const { return kLeft + scale_ * static_cast<double>(time - request_.time.begin); }
  [[nodiscard]] bool shown(const RankTimeline& rank) const {
    return rank.rank >= request_.first_rank && rank.rank <= request_.last_rank;
  }

  void find_names() {
    for (const RankTimeline& rank : timeline_.of_rank) {
      if (!shown(rank)) continue;
      for (const Exchange& exchange : rank.exchanges)
        if (meet(time_of(rank, exchange), request_.time)) colour_of(rank, exchange);
      for (const MessageEnd& send : rank.sends)
        if (is_drawn(send)) way_colour(way_of(rank, send));
    }
  }
  std::size_t colour_of(const RankTimeline& rank, const Exchange& exchange) {
    return operations_.emplace(name_of(rank.operations[exchange.operation]), operations_.size()).first->second;
  }
  std::size_t way_colour(const std::string& way) { return ways_.emplace(way, ways_.size()).first->second; }
  [[nodiscard]] bool is_drawn(const MessageEnd& send) const {
    if (send.other == kNone) return false;
    const RankTimeline& receiver = *timeline_.find(send.peer);
    return shown(receiver) && meet({send.posted, receiver.receives[send.other].done}, request_.time);
  }

  std::string draw_legend() {
    struct Item {
      std::string sign;  ///< of 22 by 12 pixels
      std::string text;
    };
    std::vector<Item> items;
    const auto in_order = [](const std::map<std::string, std::size_t>& names) {
      std::vector<std::string> ordered(names.size());
      for (const auto& [name, place] : names) ordered[place] = name;
      return ordered;
    };
    for (const std::string& name : in_order(operations_))
      items.push_back(
          {fmt::format("<rect width=\"22\" height=\"12\" rx=\"2\" fill=\"{}\"/>", bar_colour(operations_.at(name))),
           name});
    items.push_back({"<rect y=\"2\" width=\"22\" height=\"8\" fill=\"url(#wait)\"/>", "a caller waits"});
    items.push_back({"<rect y=\"5\" width=\"22\" height=\"3\" fill=\"#3a7d44\"/>", "progress thread awake"});
    for (const std::string& way : in_order(ways_))
      items.push_back(
          {fmt::format("<path d=\"M0 6H20\" stroke=\"{}\" stroke-width=\"1.5\" marker-end=\"url(#head{})\"/>",
                       arrow_colour(ways_.at(way)), ways_.at(way) % std::size(kArrowColours)),
           way == "unknown" ? "message" : "message, " + way});
    std::string text;
    double left = kLeft;
    double top = 34;
    for (const Item& item : items) {
      const double width = 28 + kCharacter * static_cast<double>(item.text.size()) + 18;
      if (left + width > request_.width - kRight && left > kLeft) {
        left = kLeft;
        top += kLegendRow;
      }
      text += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}<text x=\"28\" y=\"10\">{}</text></g>\n", left,
                          top, item.sign, xml(item.text));
      left += width;
    }
    top_ = top + kLegendRow + 14;
    return text;
  }

  void add_lanes() {
    double top = top_;
    for (const RankTimeline& rank : timeline_.of_rank) {
      if (!shown(rank)) continue;
      Lane lane{.rank = &rank, .top = top};
      std::vector<std::size_t> exchanges;
      std::vector<Interval> times;
      for (std::size_t i = 0; i < rank.exchanges.size(); ++i) {
        const Interval time = time_of(rank, rank.exchanges[i]);
        if (!meet(time, request_.time)) continue;
        exchanges.push_back(i);
        times.push_back(time);
      }
      const std::vector<std::size_t> rows = rows_of(times);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        lane.row_of[exchanges[i]] = rows[i];
        lane.rows = std::max(lane.rows, rows[i] + 1);
      }
      top = lane.bottom() + kLaneGap;
      lanes_.push_back(std::move(lane));
    }
  }

  void draw_lane(const Lane& lane) {
    const RankTimeline& rank = *lane.rank;
    lanes_text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#f6f7f9\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" font-weight=\"bold\">rank {}</text>\n",
        kLeft, lane.top - 3, plot_, lane.bottom() - lane.top + 6, kLeft - 8, lane.top + 14, rank.rank);
    if (lane.row_of.empty() || !rank.host.empty())
      lanes_text_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" font-size=\"9\" fill=\"#777\">{}</text>\n",
                      kLeft - 8, lane.top + 27, xml(std::string_view(rank.host).substr(0, 16)));
    lanes_text_ += "<g clip-path=\"url(#plot)\">\n";
    for (const auto& [number, row] : lane.row_of) draw_exchange(lane, number);
    for (const Wait& wait : rank.waits)
      if (meet(wait.time, request_.time)) draw_box(wait.time, lane.waits(), kWaitBar, "url(#wait)");
    for (std::size_t i = 1; i < rank.sleeps.size(); ++i)
      if (const Interval time{rank.sleeps[i - 1].end, rank.sleeps[i].begin}; meet(time, request_.time))
        draw_box(time, lane.thread(), kThreadLine, "#3a7d44");
    lanes_text_ += "</g>\n";
  }

  void draw_box(const Interval& time, double y, double height, std::string_view fill) {
    lanes_text_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                               x(time.begin), y, std::max(x(time.end) - x(time.begin), 0.5), height, fill);
  }

  void draw_exchange(const Lane& lane, std::size_t number) {
    const RankTimeline& rank = *lane.rank;
    const Exchange& exchange = rank.exchanges[number];
    const Interval time = time_of(rank, exchange);
    const double y = lane.bar(number);
    const std::string name = name_of(rank.operations[exchange.operation]);
    lanes_text_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\" stroke=\"{}\" "
        "stroke-width=\"0.7\"><title>{}, step {}: {:.3f} us{}</title></rect>\n",
        x(time.begin), y, std::max(x(time.end) - x(time.begin), 0.8), kBar, bar_colour(operations_.at(name)),
        exchange.failed ? "#b00020" : "#5a6b7a", xml(name), exchange.step,
        static_cast<double>(time.end - time.begin) / 1e3, exchange.failed ? ", failed" : "");
    for (const Time round : exchange.rounds)
      lanes_text_ += fmt::format("<path d=\"M{:.2f} {:.1f}v{:.1f}\" stroke=\"#fff\"/>\n", x(round), y, kBar);
    draw_label(time, y, fmt::format("{} {}", rank.operations[exchange.operation].operation, exchange.step),
               fmt::to_string(exchange.step));
  }

  /// In what is seen of the bar, if there is room.
  void draw_label(const Interval& time, double y, const std::string& text, const std::string& shorter) {
    const double left = std::max(x(time.begin), kLeft);
    const double room = std::min(x(time.end), kLeft + plot_) - left - 8;
    for (const std::string& label : {text, shorter}) {
      if (kCharacter * static_cast<double>(label.size()) > room) continue;
      lanes_text_ +=
          fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\">{}</text>\n", left + 4, y + 14, xml(label));
      return;
    }
  }

  std::string draw_arrows() {
    std::string text;
    std::size_t count = 0;
    for (const Lane& lane : lanes_)
      for (const MessageEnd& send : lane.rank->sends) {
        if (!is_drawn(send) || send.peer == lane.rank->rank) continue;
        const auto to = std::ranges::find(lanes_, send.peer, [](const Lane& each) { return each.rank->rank; });
        const MessageEnd& receive = to->rank->receives[send.other];
        const bool down = to->top > lane.top;
        const std::size_t colour = ways_.at(way_of(*lane.rank, send));
        const std::string head =
            ++count > kMostHeads ? "" : fmt::format(" marker-end=\"url(#head{})\"", colour % std::size(kArrowColours));
        text += fmt::format(
            "<path d=\"M{:.2f} {:.1f}L{:.2f} {:.1f}\" stroke=\"{}\"{}><title>rank {} to {}: {} bytes, {}, {:.3f} "
            "us</title></path>\n",
            x(send.posted), lane.bar(send.exchange) + (down ? kBar : 0), x(receive.done),
            to->bar(receive.exchange) + (down ? 0 : kBar), arrow_colour(colour), head, lane.rank->rank, send.peer,
            send.bytes, xml(way_of(*lane.rank, send)), static_cast<double>(receive.done - send.posted) / 1e3);
      }
    return "<g clip-path=\"url(#plot)\" fill=\"none\" stroke-width=\"1.2\" stroke-opacity=\"0.85\">\n" + text +
           "</g>\n";
  }

  [[nodiscard]] std::string draw_axis(double bottom) const {
    const Time span = request_.time.end - request_.time.begin;
    const Time tick = tick_of(span);
    const Unit unit = unit_of(tick);
    std::string lines;
    std::string labels;
    for (Time time = 0; time <= span; time += tick) {
      const double at = x(request_.time.begin + time);
      lines += fmt::format("M{:.2f} {:.1f}V{:.1f}", at, top_ - 8, bottom + 4);
      labels += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n", at, bottom + 18,
                            static_cast<double>(time) / unit.ns);
    }
    return fmt::format(
        "<path d=\"{}\" stroke=\"#dde1e6\" fill=\"none\"/>\n{}<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" "
        "fill=\"#777\">{} after {:.6f} s</text>\n",
        lines, labels, request_.width - kRight, bottom + 34, unit.name, static_cast<double>(request_.time.begin) / 1e9);
  }

  static std::string_view bar_colour(std::size_t number) { return kBarColours[number % std::size(kBarColours)]; }
  static std::string_view arrow_colour(std::size_t number) { return kArrowColours[number % std::size(kArrowColours)]; }
  static std::string heads() {
    std::string text;
    for (std::size_t i = 0; i < std::size(kArrowColours); ++i)
      text += fmt::format(
          "<marker id=\"head{}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" "
          "orient=\"auto\"><path d=\"M0 0.5L8 4L0 7.5z\" fill=\"{}\"/></marker>\n",
          i, kArrowColours[i]);
    return text;
  }

  const Timeline& timeline_;
  const PictureRequest& request_;
  double plot_;
  double scale_;
  double top_ = 0;
  std::map<std::string, std::size_t> operations_;
  std::map<std::string, std::size_t> ways_;
  std::vector<Lane> lanes_;
  std::string lanes_text_;
};

}  // namespace

Interval time_of_steps(const Timeline& timeline, const std::string& operation, std::uint64_t first,
                       std::uint64_t last) {
  std::optional<Interval> time;
  std::map<std::string, Interval> there;  // steps of each operation
  for (const RankTimeline& rank : timeline.of_rank)
    for (const Exchange& exchange : rank.exchanges) {
      const std::string& its = rank.operations[exchange.operation].operation;
      const Time step = static_cast<Time>(exchange.step);
      const auto [known, is_new] = there.emplace(its, Interval{step, step});
      known->second = {std::min(known->second.begin, step), std::max(known->second.end, step)};
      if (its != operation || exchange.step < first || exchange.step > last) continue;
      const Interval its_time = time_of(rank, exchange);
      if (!time) time = its_time;
      *time = {std::min(time->begin, its_time.begin), std::max(time->end, its_time.end)};
    }
  if (time) return *time;
  std::vector<std::string> names;
  for (const auto& [name, steps] : there) names.push_back(fmt::format("{} {}:{}", name, steps.begin, steps.end));
  throw Error(Errc::invalid_argument,
              fmt::format("there are no steps {}:{} of {}; there are {}", first, last, in_quotes(operation),
                          names.empty() ? "none at all" : fmt::to_string(fmt::join(names, ", "))));
}

Interval whole_time(const Timeline& timeline) {
  Interval time{std::numeric_limits<Time>::max(), 0};
  for (const RankTimeline& rank : timeline.of_rank)
    time = {std::min(time.begin, rank.span.begin), std::max(time.end, rank.span.end)};
  return time;
}

std::string to_svg(const Timeline& timeline, const PictureRequest& request) {
  return Picture(timeline, request).draw();
}

}  // namespace fab::tools
