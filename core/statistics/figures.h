// Every figure of statistics, once: pages, JSON, performance variables of MPI's tool interface and fab_info --counters
// take name, unit and meaning from here.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fab/statistics.h"

namespace fab::core {

enum class FigureUnit : std::uint8_t { count, bytes, ns };
/// "", "bytes", "ns"
[[nodiscard]] const char* to_string(FigureUnit unit) noexcept;

/// In which pages show bytes and nanoseconds.
namespace page_units {
inline constexpr double kMiB = 1024.0 * 1024.0;
inline constexpr double kUs = 1e3;
inline constexpr double kMs = 1e6;
inline constexpr double kS = 1e9;
}  // namespace page_units

/// How a page shows a figure of each rank.
struct PageRow {
  const char* title = nullptr;  ///< null: not at all
  double unit = 1;              ///< it is divided by this
  int decimals = 0;
};

struct Figure {
  const char* path;  ///< in its object of Statistics::json: "sent/bytes"
  FigureUnit unit;
  const char* meaning;
  const char* variable = nullptr;  ///< of MPI_T, behind "fab_"; null: none
  bool largest = false;            ///< of the values that are put together, which otherwise are added up
  PageRow page{};
};

/// A figure of an object of statistics. Where `at` is null, JSON has it alone: it follows from others.
template <class Of>
struct FigureOf : Figure {
  std::uint64_t& (*at)(Of&) = nullptr;

  [[nodiscard]] std::uint64_t value(const Of& object) const { return at(const_cast<Of&>(object)); }
};

// In the order of pages.

[[nodiscard]] std::span<const FigureOf<OperationStatistics>> operation_figures() noexcept;
[[nodiscard]] std::span<const FigureOf<PeerStatistics>> peer_figures() noexcept;
[[nodiscard]] std::span<const FigureOf<WayStatistics>> way_figures() noexcept;
/// Of an operation's ways: those of way_figures(), with meanings of their own.
[[nodiscard]] std::span<const FigureOf<WayStatistics>> operation_way_figures() noexcept;
/// Statistics::counters, in their order. Their paths are their names.
[[nodiscard]] std::span<const Figure> counter_figures() noexcept;

/// "fab_sent_bytes". Precondition: it has one.
[[nodiscard]] std::string variable_name(const Figure& figure);

/// Calls `visit(figure, value, is_counter)` for each figure that a rank has one of: the sums of its operations, and its
/// counters.
template <class Visit>
void visit_rank_figures(const Statistics& rank, Visit&& visit) {
  const OperationStatistics totals = rank.totals();
  for (const FigureOf<OperationStatistics>& figure : operation_figures())
    if (figure.at != nullptr) visit(static_cast<const Figure&>(figure), figure.value(totals), false);
  for (const Figure& figure : counter_figures()) visit(figure, rank.counter(figure.path), true);
}

}  // namespace fab::core
