#include "core/statistics/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/statistics/figures.h"

namespace fab::core {

namespace {

using namespace page_units;

constexpr std::size_t kMostPeers = 8;

double times(std::uint64_t value, double unit) noexcept { return static_cast<double>(value) / unit; }

// Figures: what each rank has one of.

/// Over the ranks.
struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
  Rank rank_of_most = 0;
};

Spread spread_of(std::vector<std::pair<double, Rank>> values) {
  std::ranges::sort(values);
  return {.least = values.front().first,
          .median = values[values.size() / 2].first,
          .most = values.back().first,
          .rank_of_most = -values.back().second};
}

std::string row(const PageRow& page, const Spread& spread) {
  return fmt::format("{:<24}{:>14.{}f}{:>14.{}f}{:>14.{}f}{:>8}\n", page.title, spread.least, page.decimals,
                     spread.median, page.decimals, spread.most, page.decimals, spread.rank_of_most);
}

/// The sums of operations stand between times of the context and its counts.
enum class Place { times, sums, counts };

std::string figures(std::span<const StatisticsByWay> ranks) {
  std::map<std::pair<Place, std::size_t>, std::pair<const Figure*, std::vector<std::pair<double, Rank>>>> rows;
  for (const Statistics& rank : ranks) {
    std::size_t number = 0;
    visit_rank_figures(rank, [&](const Figure& figure, std::uint64_t value, bool is_counter) {
      const Place place = !is_counter ? Place::sums : figure.unit == FigureUnit::ns ? Place::times : Place::counts;
      auto& [its, values] = rows[{place, number++}];
      its = &figure;
      values.emplace_back(times(value, figure.page.unit), -rank.rank);
    });
  }
  std::string text = fmt::format("{:<24}{:>14}{:>14}{:>14}{:>8}\n", "of each rank", "least", "median", "most", "rank");
  for (const auto& [place, figure_and_values] : rows) {
    const auto& [figure, values] = figure_and_values;
    if (figure->page.title == nullptr) continue;
    const Spread spread = spread_of(values);
    if (spread.most > 0) text += row(figure->page, spread);
  }
  return text;
}

// Operations: of all ranks and communicators together.

struct OperationRow {
  OperationStatistics sums;
  std::uint64_t most_waited_ns = 0;  ///< by one rank
  Rank rank_of_most = 0;
};

OperationRow& row_of(std::vector<OperationRow>& rows, const OperationStatistics& operation) {
  const auto found = std::ranges::find_if(rows, [&](const OperationRow& known) {
    return known.sums.operation == operation.operation && known.sums.algorithm == operation.algorithm;
  });
  if (found != rows.end()) return *found;
  return rows.emplace_back(OperationRow{{.operation = operation.operation, .algorithm = operation.algorithm}});
}

/// Those of one rank first, so that its communicators are together.
std::vector<OperationRow> rows_of(const Statistics& rank) {
  std::vector<OperationRow> rows;
  for (const OperationStatistics& operation : rank.operations) row_of(rows, operation).sums.add(operation);
  return rows;
}

std::vector<OperationRow> rows_of(std::span<const StatisticsByWay> ranks) {
  std::vector<OperationRow> rows;
  for (const Statistics& rank : ranks)
    for (const OperationRow& its : rows_of(rank)) {
      OperationRow& row = row_of(rows, its.sums);
      row.sums.add(its.sums);
      if (its.sums.waited.total_ns <= row.most_waited_ns) continue;
      row.most_waited_ns = its.sums.waited.total_ns;
      row.rank_of_most = rank.rank;
    }
  std::ranges::sort(rows, [](const OperationRow& a, const OperationRow& b) {
    return std::pair(a.sums.waited.total_ns, a.sums.calls) > std::pair(b.sums.waited.total_ns, b.sums.calls);
  });
  return rows;
}

std::string operations(std::span<const StatisticsByWay> ranks) {
  std::string text = fmt::format("\n{:<24}{:<20}{:>10}{:>10}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>6}\n",
                                 "operation, all ranks", "algorithm", "calls", "MiB sent", "packed", "longer", "waited",
                                 "median", "99 % to", "longest", "most");
  text += fmt::format("{:<44}{:>38}{:>10}{:>10}{:>10}{:>10}{:>6}\n", "", "waits", "s", "us", "us", "ms", "rank");
  for (const OperationRow& row : rows_of(ranks)) {
    const OperationStatistics& sums = row.sums;
    if (sums.calls == 0) continue;
    const double packed =
        sums.sent.bytes == 0 ? 0 : 100 * times(sums.packed.bytes, static_cast<double>(sums.sent.bytes));
    text += fmt::format("{:<24}{:<20}{:>10}{:>10.2f}{:>6.0f} %{:>10}{:>10.3f}{:>10.1f}{:>10.1f}{:>10.3f}{:>6}\n",
                        sums.operation, sums.algorithm.empty() ? "-" : sums.algorithm, sums.calls,
                        times(sums.sent.bytes, kMiB), packed, sums.waited.waits, times(sums.waited.total_ns, kS),
                        times(sums.waited.percentile_ns(0.5), kUs), times(sums.waited.percentile_ns(0.99), kUs),
                        times(sums.waited.most_ns, kMs),
                        sums.waited.waits == 0 ? std::string("-") : std::to_string(row.rank_of_most));
  }
  return text;
}

/// In the order of the operations' own table.
std::string operation_ways(std::span<const StatisticsByWay> ranks) {
  std::map<std::pair<std::string_view, std::string_view>, std::map<std::string_view, MessageAmounts>> sums;
  for (const StatisticsByWay& rank : ranks)
    for (std::size_t i = 0; i < std::min(rank.operations.size(), rank.operation_ways.size()); ++i)
      for (const WayStatistics& way : rank.operation_ways[i])
        sums[{rank.operations[i].operation, rank.operations[i].algorithm}][way.way].add(way.sent);
  if (sums.empty()) return "";
  std::string text =
      fmt::format("\n{:<24}{:<20}{:<10}{:>14}{:>14}\n", "operation, all ranks", "algorithm", "way", "messages", "MiB");
  for (const OperationRow& row : rows_of(ranks)) {
    const auto found = sums.find({row.sums.operation, row.sums.algorithm});
    if (found == sums.end()) continue;
    for (const auto& [way, sent] : found->second)
      text += fmt::format("{:<24}{:<20}{:<10}{:>14}{:>14.3f}\n", row.sums.operation,
                          row.sums.algorithm.empty() ? "-" : row.sums.algorithm, way, sent.messages,
                          times(sent.bytes, kMiB));
  }
  return text;
}

std::string ways(std::span<const StatisticsByWay> ranks) {
  std::map<std::pair<std::string_view, std::string_view>, MessageAmounts> sums;
  for (const Statistics& rank : ranks)
    for (const PeerStatistics& peer : rank.peers)
      for (const WayStatistics& way : peer.ways) sums[{peer.provider, way.way}].add(way.sent);
  if (sums.empty()) return "";
  std::string text = fmt::format("\n{:<24}{:<20}{:>14}{:>14}\n", "provider", "way", "messages", "MiB");
  for (const auto& [names, sent] : sums)
    text +=
        fmt::format("{:<24}{:<20}{:>14}{:>14.3f}\n", names.first, names.second, sent.messages, times(sent.bytes, kMiB));
  return text;
}

// Peers: how all other ranks saw each.

struct Seen {
  Rank rank = 0;
  std::uint64_t came_last = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t most_ns = 0;
  Rank by = 0;
};

std::vector<Seen> seen_peers(std::span<const StatisticsByWay> ranks) {
  std::map<Rank, Seen> all;
  for (const Statistics& rank : ranks)
    for (const PeerStatistics& peer : rank.peers) {
      if (peer.rank == rank.rank || peer.came_last == 0) continue;
      Seen& seen = all[peer.rank];
      seen.rank = peer.rank;
      seen.came_last += peer.came_last;
      seen.waited_ns += peer.waited_ns;
      if (peer.waited_ns < seen.most_ns) continue;
      seen.most_ns = peer.waited_ns;
      seen.by = rank.rank;
    }
  std::vector<Seen> sorted;
  for (const auto& [rank, seen] : all) sorted.push_back(seen);
  std::ranges::stable_sort(sorted, std::greater<>(), &Seen::waited_ns);
  return sorted;
}

std::string peers(std::span<const StatisticsByWay> ranks) {
  std::vector<Seen> all = seen_peers(ranks);
  if (all.empty()) return "";
  std::string text = "\nwho came last\n";
  for (const Seen& seen : std::span(all).first(std::min(all.size(), kMostPeers))) {
    std::uint64_t calls = 0;
    for (const Statistics& rank : ranks)
      if (rank.rank != seen.rank) calls += rank.totals().calls;
    text +=
        fmt::format("rank {} was waited for {:.3f} s, in {} of {} calls of other ranks; longest by rank {}: {:.3f} s\n",
                    seen.rank, times(seen.waited_ns, kS), seen.came_last, calls, seen.by, times(seen.most_ns, kS));
  }
  return text;
}

}  // namespace

std::string statistics_page(std::span<const StatisticsByWay> ranks) {
  return ranks.empty() ? "" : figures(ranks) + operations(ranks) + operation_ways(ranks) + ways(ranks) + peers(ranks);
}

}  // namespace fab::core
