#include "bindings/tools/sim_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bindings/tools/quantity.h"

namespace fab::tools {

namespace {

using nlohmann::ordered_json;
using sim::in_us;
using sim::Prediction;

constexpr const char* kColumns = "{:<14} {:<19} {:>9} {:>9} {:>11} {:>13} {:>9} {:>9} {:>9}\n";

double mean(const std::vector<Prediction>& all, std::uint64_t Prediction::*field) {
  const auto sum = [field](std::uint64_t total, const Prediction& each) { return total + each.*field; };
  return static_cast<double>(std::accumulate(all.begin(), all.end(), std::uint64_t{0}, sum)) /
         static_cast<double>(all.size());
}

std::uint64_t most(const std::vector<Prediction>& all, std::uint64_t Prediction::*field) {
  return std::ranges::max(all, {}, field).*field;
}

}  // namespace

std::string name_of(const SimRow& row) {
  return fmt::format("{} {}, {} ranks, {}", row.pattern.collective, row.pattern.algorithm, row.call.ranks,
                     bytes_text(static_cast<double>(row.call.bytes)));
}

ordered_json describe(const SimRow& row, bool per_rank) {
  ordered_json result = {{"collective", row.pattern.collective},
                         {"algorithm", row.pattern.algorithm},
                         {"ranks", row.call.ranks},
                         {"bytes", row.call.bytes},
                         {"simulated", row.simulated()}};
  if (!row.simulated()) {
    result["why"] = row.why;
    result["estimated_operations"] = row.work.operations;
    result["estimated_messages"] = row.work.messages;
    return result;
  }
  const auto& all = row.predictions;
  result["time_us"] = in_us(longest(all));
  result["messages_per_rank"] = mean(all, &Prediction::messages);
  result["most_messages_of_a_rank"] = most(all, &Prediction::messages);
  result["bytes_per_rank"] = mean(all, &Prediction::bytes);
  result["most_bytes_of_a_rank"] = most(all, &Prediction::bytes);
  if (!per_rank) return result;
  ordered_json ranks = ordered_json::array();
  for (const Prediction& each : all)
    ranks.push_back({{"time_us", in_us(each.end)}, {"messages", each.messages}, {"bytes", each.bytes}});
  result["per_rank"] = std::move(ranks);
  return result;
}

std::string table_head() {
  return fmt::format(fmt::runtime(kColumns), "collective", "algorithm", "ranks", "size", "time us", "messages/rank",
                     "most msgs", "sent/rank", "most sent");
}

std::string table_line(const SimRow& row) {
  const std::string size = bytes_text(static_cast<double>(row.call.bytes));
  if (!row.simulated())
    return fmt::format("{:<14} {:<19} {:>9} {:>9}   {}\n", row.pattern.collective, row.pattern.algorithm,
                       row.call.ranks, size, row.why);
  const auto& all = row.predictions;
  return fmt::format(fmt::runtime(kColumns), row.pattern.collective, row.pattern.algorithm, row.call.ranks, size,
                     us_text(in_us(longest(all))), count_text(mean(all, &Prediction::messages)),
                     count_text(static_cast<double>(most(all, &Prediction::messages))),
                     bytes_text(mean(all, &Prediction::bytes)),
                     bytes_text(static_cast<double>(most(all, &Prediction::bytes))));
}

std::string rank_lines(const SimRow& row) {
  std::string text;
  for (std::size_t rank = 0; rank < row.predictions.size(); ++rank) {
    const Prediction& each = row.predictions[rank];
    fmt::format_to(std::back_inserter(text), fmt::runtime(kColumns), "", "", "rank", rank, us_text(in_us(each.end)),
                   count_text(static_cast<double>(each.messages)), "", bytes_text(static_cast<double>(each.bytes)), "");
  }
  return text;
}

}  // namespace fab::tools
