#include "core/bootstrap/reported_job.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace fab {
namespace {

constexpr std::size_t kMostOtherNodes = 8;

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

int divide_up(int dividend, int divisor) { return dividend / divisor + (dividend % divisor != 0 ? 1 : 0); }

}  // namespace

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t length = std::min(list.find(','), list.size());
    if (length > 0) parts.emplace_back(list.substr(0, length));
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return parts;
}

JobInfo complete_job(const ReportedJob& reported) {
  std::vector<std::string> nodes = split_list(reported.node_list);
  const auto here = std::ranges::find(nodes, short_name(reported.host_name), short_name);

  JobInfo job;
  job.size = reported.size;
  const int listed = std::max(1, static_cast<int>(nodes.size()));
  const int spread = nodes.empty() && reported.local_size > 0 ? divide_up(job.size, reported.local_size) : listed;
  job.node_count = reported.node_count > 0 ? reported.node_count : spread;
  job.local_size = reported.local_size > 0 ? reported.local_size : divide_up(job.size, job.node_count);
  if (here != nodes.end()) {
    std::rotate(nodes.begin(), here, nodes.end());
    nodes.erase(nodes.begin());
  }
  if (job.node_count == 1) nodes.clear();
  nodes.resize(std::min(nodes.size(), kMostOtherNodes));
  job.other_nodes.assign(nodes.begin(), nodes.end());
  return job;
}

std::vector<Rank> ranks_of_node(std::string_view list, Rank self) {
  std::vector<Rank> ranks;
  for (const std::string& text : split_list(list)) {
    Rank rank = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc{} || end != text.data() + text.size() || rank < 0) return {};
    ranks.push_back(rank);
  }
  std::ranges::sort(ranks);
  if (!std::ranges::binary_search(ranks, self)) ranks.clear();
  return ranks;
}

}  // namespace fab
