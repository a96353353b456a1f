// A job as a launcher reports it, which may be incomplete.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/bootstrap/store.h"

namespace fab {

/// What a launcher told; 0 or empty: nothing.
struct ReportedJob {
  int size = 0;
  int local_size = 0;
  int node_count = 0;
  std::string node_list{};  ///< host names of the job's nodes, separated by commas
  std::string host_name{};  ///< of this node, as the launcher spells it
};

/// Fills what is missing: nodes are counted in the list, ranks are taken to be spread evenly over the nodes. Keeps at
/// most eight other nodes, those that follow this one, so that memory does not grow with the job.
[[nodiscard]] JobInfo complete_job(const ReportedJob& reported);

/// The parts of a list that commas separate; empty ones are left out.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);

/// The ranks in a list like "0,1,5", ascending; none when `self` is not among them or the list makes no sense.
[[nodiscard]] std::vector<Rank> ranks_of_node(std::string_view list, Rank self);

}  // namespace fab
