#include "core/bootstrap/pmix_job.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "core/base/processors.h"
#include "core/bootstrap/pmix_call.h"
#include "core/bootstrap/reported_job.h"

namespace fab {
namespace {

struct ValueRelease {
  void operator()(pmix_value_t* value) const { PMIX_VALUE_RELEASE(value); }
};
using Value = std::unique_ptr<pmix_value_t, ValueRelease>;

/// Nothing when the server does not know the key.
Value get(const pmix_proc_t& process, const char* key) {
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&process, key, nullptr, 0, &value);
  return Value(status == PMIX_SUCCESS ? value : nullptr);
}

int get_number(const pmix_proc_t& process, const char* key) {
  const Value value = get(process, key);
  if (!value) return 0;
  const std::uint64_t number = value->type == PMIX_UINT32   ? value->data.uint32
                               : value->type == PMIX_UINT16 ? value->data.uint16
                               : value->type == PMIX_UINT64 ? value->data.uint64
                               : value->type == PMIX_SIZE   ? value->data.size
                                                            : 0;
  return number <= std::numeric_limits<int>::max() ? static_cast<int>(number) : 0;
}

std::string get_text(const pmix_proc_t& process, const char* key) {
  const Value value = get(process, key);
  return value && value->type == PMIX_STRING && value->data.string != nullptr ? value->data.string : "";
}

std::string get_host_name(const pmix_proc_t& self) {
  if (std::string name = get_text(self, PMIX_HOSTNAME); !name.empty()) return name;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string get_node_list(const pmix_proc_t& self) {
  char* list = nullptr;
  const pmix_status_t status = PMIx_Resolve_nodes(self.nspace, &list);
  std::string nodes = status == PMIX_SUCCESS && list != nullptr ? list : "";
  std::free(list);
  return nodes;
}

/// Numbers of processes, released by PMIx.
struct Peers {
  Peers(const std::string& node, const pmix_proc_t& self) {
    if (PMIx_Resolve_peers(node.c_str(), self.nspace, &processes, &count) != PMIX_SUCCESS) count = 0;
  }
  ~Peers() { PMIX_PROC_FREE(processes, count); }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  pmix_proc_t* processes = nullptr;
  std::size_t count = 0;
};

}  // namespace

JobInfo read_pmix_job(const pmix_proc_t& self) {
  pmix_proc_t whole_job = self;
  whole_job.rank = PMIX_RANK_WILDCARD;
  ReportedJob reported{.size = get_number(whole_job, PMIX_JOB_SIZE),
                       .local_size = get_number(whole_job, PMIX_LOCAL_SIZE),
                       .node_count = get_number(whole_job, PMIX_NUM_NODES),
                       .host_name = get_host_name(self)};
  // PRRTE 3.0 does not know what PMIx 5 asks it then, and says so on every rank's standard error.
  if (reported.local_size < reported.size) reported.node_list = get_node_list(self);
  if (reported.size <= 0) {
    throw Error(Errc::bootstrap, fmt::format("the PMIx server of namespace {} does not report the number of ranks ({})",
                                             self.nspace, PMIX_JOB_SIZE));
  }
  JobInfo job = complete_job(reported);
  job.rank = static_cast<Rank>(self.rank);
  job.node_ranks = ranks_of_node(get_text(whole_job, PMIX_LOCAL_PEERS), job.rank);
  job.processors = core::count_processors().online;
  job.origin = fmt::format("pmix namespace {}", self.nspace);
  return job;
}

std::vector<int> read_pmix_nodes(const pmix_proc_t& self, int size) {
  std::vector<int> nodes(static_cast<std::size_t>(size), -1);
  int node = 0;
  for (const std::string& name : split_list(get_node_list(self))) {
    const Peers peers(name, self);
    for (std::size_t i = 0; i < peers.count; ++i)
      if (peers.processes[i].rank < nodes.size()) nodes[peers.processes[i].rank] = node;
    ++node;
  }
  if (std::find(nodes.begin(), nodes.end(), -1) != nodes.end()) nodes.clear();
  return nodes;
}

}  // namespace fab
