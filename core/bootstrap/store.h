// The store through which the ranks of a job find each other: everything that fab needs of a launcher.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fab/topology.h"

namespace fab {

/// Where this process stands in its job.
struct JobInfo {
  Rank rank = 0;
  int size = 1;
  int local_size = 1;  ///< ranks of the job on this node
  int node_count = 1;
  int processors = 0;                    ///< of this rank's machine, Processors::online; 0: it is none that computes
  std::vector<Rank> node_ranks;          ///< the job's ranks on this node, ascending, this one too; empty: not known
  std::vector<std::string> other_nodes;  ///< host names of (some of) the job's other nodes, for choosing an interface
  std::string origin;                    ///< "pmix namespace ...", "singleton", "in-process": for logs and fab_info
};

/// A small key-value store shared by the ranks of a job. Safe from any thread, fence() from one at a time.
class Store {
 public:
  /// Answers the fetches that are still open with a reason, and returns when no `done` is running any more.
  virtual ~Store() = default;

  [[nodiscard]] virtual const JobInfo& job() const noexcept = 0;

  /// The node of each rank of the job, by any number; empty where that cannot be had. Asks the launcher each time, and
  /// takes time and memory that grow with the job.
  [[nodiscard]] virtual std::vector<int> nodes() const { return {}; }

  /// Publishes a value of this rank, any bytes. A key is published once: others may keep the value that they have seen.
  /// Others see it as soon as this returns, or soon after. Throws Error(bootstrap).
  virtual void publish(const std::string& key, std::string_view value) = 0;

  /// Called once, on any thread (perhaps before fetch returns), with the value, or with nothing and a reason.
  /// It may fetch; it must not block, publish, fence or destroy the store, for others' answers wait behind it.
  using Fetched = std::function<void(std::optional<std::string> value, const std::string& reason)>;

  /// Asks for the value of any rank of the job, also the own one. Waits (in the background, without limit) until that
  /// rank publishes it: no fence is needed. Throws Error(invalid_rank).
  virtual void fetch(Rank rank, const std::string& key, Fetched done) = 0;

  /// Returns true when every rank of the job has come here, false after timeout_s seconds (may be infinity); the next
  /// call then goes on waiting for the same fence. `idle` is called again and again while waiting; it may be empty.
  /// Throws Error(bootstrap).
  [[nodiscard]] virtual bool fence(double timeout_s, const std::function<void()>& idle) = 0;

  /// Asks the launcher for nothing any more, so that this process can take its leave of it even if something keeps the
  /// store alive: open fetches, and later ones, are answered with a reason.
  virtual void leave() noexcept {}
};

/// Connects to the launcher's PMIx server; a singleton when there is no launcher. The n-th stores that the processes
/// open belong together: each sees the values of the others' n-th stores only. Fences meet in the order of their calls.
/// Throws Error(bootstrap), which names the variable, when launcher variables are set but no PMIx server answers.
[[nodiscard]] std::unique_ptr<Store> open_store();

/// MPI is about to end, and to tell the launcher so, which it can only as the last user of the connection: what fab has
/// of it is closed, now or with the last store.
void leave_launcher_to_mpi() noexcept;

/// A job of one.
[[nodiscard]] std::unique_ptr<Store> open_singleton_store();

/// The in-process twin: `size` ranks that share one store, for tests and simulations. nodes[rank] tells who shares a
/// node; empty: all do.
[[nodiscard]] std::vector<std::unique_ptr<Store>> open_memory_stores(int size, std::vector<int> nodes = {});

}  // namespace fab
