// The runtime that one rank's calls stand on: its way into the job, its providers, its engine, its peers, and the
// failures that it knows of. Nothing of it is global, so one process can hold several ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/base/config.h"
#include "core/base/counters.h"
#include "core/base/engine_lock.h"
#include "core/base/forks.h"
#include "core/base/log.h"
#include "core/bootstrap/store.h"
#include "core/failure/discards.h"
#include "core/failure/losses.h"
#include "core/failure/notices.h"
#include "core/failure/refusals.h"
#include "core/job/ledger.h"
#include "core/peers/arrivals.h"
#include "core/peers/inbox.h"
#include "core/peers/peers.h"
#include "core/peers/transports.h"
#include "core/progress/driver.h"
#include "core/statistics/statistics_json.h"
#include "core/topology/node_map.h"
#include "core/trace/recorder.h"
#include "core/trace/trace_file.h"
#include "core/wire/match_tag.h"
#include "fab/statistics.h"

namespace fab::core {

/// Opens the ways out once it is known where this process stands in its job.
using TransportFactory = std::function<Transports(const Config&, const JobInfo&, const Log&)>;

/// The statistics of a job, as far as ranks have told them.
struct JobStatistics {
  std::vector<StatisticsByWay> told;
  std::vector<Rank> silent;
};

/// In a child of fork() nothing can be started, nothing goes on, and it stays for ever: the parent's connections are
/// the parent's.
class Runtime : public std::enable_shared_from_this<Runtime>, ForkParticipant {
 public:
  using Clock = std::chrono::steady_clock;
  /// Tests have one of their own.
  using Now = Clock::time_point (*)();

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] const Log& log() const noexcept { return log_; }
  [[nodiscard]] const JobInfo& job() const noexcept { return store_->job(); }
  /// See Store::nodes.
  [[nodiscard]] std::vector<int> nodes() const { return store_->nodes(); }
  /// nodes() as a map, asked for once; null where no two ranks share a node, or all do, or FAB_LOCAL is off, or the
  /// launcher does not tell. This depends on nothing that ranks may have differently. From any thread.
  [[nodiscard]] std::shared_ptr<const NodeMap> shared_nodes();
  /// The job has more ranks on this node than the machine has processors: all of them think the same.
  [[nodiscard]] bool is_crowded() const noexcept { return job().processors > 0 && job().local_size > job().processors; }
  [[nodiscard]] Engine& engine() noexcept { return engine_; }
  /// One more engine of this rank, in a runtime of its own, which closes with this one and whose statistics are part of
  /// this one's. Before any other thread uses this object.
  void add_engine(std::shared_ptr<Runtime> further) { further_.push_back(std::move(further)); }
  /// One progress of each engine.
  void poll_all();
  /// Something is in flight on one of them.
  [[nodiscard]] bool any_active() const noexcept;
  /// Those that were added.
  [[nodiscard]] std::span<const std::shared_ptr<Runtime>> further_engines() const noexcept { return further_; }
  [[nodiscard]] PeerTable& peers() noexcept { return peers_; }
  /// Up to date. Not under the engine's lock.
  [[nodiscard]] const Counters& counters() noexcept;
  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }
  /// What this rank has done and waited for until now. Not under the engine's lock.
  [[nodiscard]] StatisticsByWay statistics();
  /// Tells rank 0 of the job the statistics until now, if `key` is not told yet, without waiting for it.
  void tell_statistics(const std::string& key);
  /// What all ranks have told under that key, on rank 0: waits for those that have not, so long at most. Not under the
  /// engine's lock.
  [[nodiscard]] JobStatistics gather_statistics(const std::string& key, double timeout_s, IdleHook idle = nullptr);
  /// FAB_STATS: on rank 0 writes what all ranks have told by tell_statistics(kStatisticsKey). Reports failures in the
  /// log.
  void report_statistics(double timeout_s, IdleHook idle = nullptr) noexcept;
  /// FAB_STATS: a part of the file that report_statistics writes after this call. Only rank 0's parts come into it.
  void add_to_file(FilePart part) { file_parts_.push_back(std::move(part)); }
  static inline const std::string kStatisticsKey = "fab.statistics";
  /// FAB_TRACE: writes this rank's file, once. Reports failures in the log. Not under the engine's lock.
  void write_trace() noexcept;
  /// How long it took to find the job, before this object was made.
  void set_launcher_time(Clock::duration took) noexcept { launcher_time_ = took; }
  [[nodiscard]] const TagFormat& tags() const noexcept { return tags_; }
  /// For messages: the providers, with interfaces and addresses.
  [[nodiscard]] const std::string& transport() const noexcept { return transport_; }
  /// A network card carries what goes to other nodes, past the kernel.
  [[nodiscard]] bool has_card() const noexcept {
    return transports_.network != nullptr && transports_.network->capabilities().card;
  }
  [[nodiscard]] Discards& discards() noexcept { return discards_; }
  [[nodiscard]] Notices& notices() noexcept { return notices_; }
  [[nodiscard]] Refusals& refusals() noexcept { return refusals_; }
  /// For what waits for a long time.
  [[nodiscard]] Clock::time_point now() const { return now_(); }
  /// Of tests, before anything waits.
  void set_clock(Now clock) noexcept { now_ = clock; }
  [[nodiscard]] Losses& losses() noexcept { return losses_; }
  /// Of peers' writes. Precondition: the network writes. Throws Error(no_resources).
  [[nodiscard]] Arrivals& arrivals() FAB_REQUIRES(engine_lock);
  /// The providers; null: there is none.
  [[nodiscard]] const Transports& transports() const noexcept { return transports_; }
  [[nodiscard]] Inbox* inbox() noexcept { return inbox_.get(); }
  /// Messages and writes that were dropped because no rank of the job can have sent them, or makes no sense of them.
  [[nodiscard]] virtual std::uint64_t strangers() const noexcept FAB_REQUIRES(engine_lock);
  /// kHeadBytes of memory that receives may write to and no code reads.
  [[nodiscard]] std::byte* surplus() noexcept { return surplus_.get(); }

  /// An id that no other communicator of the job has. Throws Error(no_resources) when all numbers were given away.
  ContextId new_context_id();

  /// Waits until nothing is in flight and every rank of the job has come here (collective), at most timeout_s seconds
  /// each, or one where a rank is lost. Afterwards nothing can be started, and further calls do nothing. Returns
  /// whether all came. In a child of fork(): does nothing.
  bool close(double timeout_s);
  /// A part of that: peers that ask about refused calls get no answer any more.
  void stop_listening();
  /// A part of that: waits until nothing is in flight, on all engines. Operations without a handle end, too, where a
  /// peer has refused it: peers are asked.
  bool drain(double timeout_s, IdleHook idle = nullptr);
  /// After the end of all calls: no other rank is met or looked up any more. A message that will never leave, as its
  /// receiver has refused the call, keeps its context alive, but not this process in the launcher's books.
  void leave_launcher() noexcept;
  [[nodiscard]] bool closed() const noexcept FAB_REQUIRES(engine_lock) { return closed_; }

 protected:
  /// Opens the providers. `courier`: see Refusals.
  Runtime(const Config& config, std::unique_ptr<Store> store, const TransportFactory& make,
          std::function<Refusals::Courier&()> courier);
  ~Runtime();
  /// Publishes this rank's addresses and starts the progress thread.
  void begin();
  /// Without meeting the other ranks: ends the store, the progress thread and the providers, after which nothing writes
  /// to the memory of receives.
  void end();

 private:
  /// Also with this object, first.
  template <class Act>
  void for_each_engine(Act&& act) {
    act(*this);
    for (const std::shared_ptr<Runtime>& each : further_) act(*each);
  }
  /// On this engine alone, until that time.
  bool drain_own(Clock::time_point end, IdleHook idle);
  void meet_others(double timeout_s);
  [[nodiscard]] bool lost_any();
  [[nodiscard]] std::shared_ptr<const NodeMap> find_nodes() const;
  void before_fork() noexcept override FAB_NO_ANALYSIS;
  void after_fork() noexcept override FAB_NO_ANALYSIS;
  void begin_abroad() noexcept override FAB_NO_ANALYSIS;

  void collect_operations(StatisticsByWay& statistics) FAB_REQUIRES(engine_lock);
  void collect_peers(Statistics& statistics) FAB_REQUIRES(engine_lock);
  void collect_counters(Statistics& statistics) FAB_REQUIRES(engine_lock);

  // In the order of construction.
  const Clock::time_point begun_ = Clock::now();
  Clock::duration launcher_time_{};
  Ledger ledger_;
  Config config_;
  Log log_;
  std::unique_ptr<Store> store_owner_;
  Store* store_;
  Transports transports_;
  const Clock::duration transports_time_;
  std::string transport_;
  TagFormat tags_;
  Counters counters_;
  const ClockPair clocks_at_begin_ = read_clocks();
  std::unique_ptr<Recorder> recorder_;  ///< null: nothing is recorded
  Engine engine_;
  std::unique_ptr<Inbox> inbox_;  ///< where the network needs one
  PeerTable peers_;
  Discards discards_;
  Notices notices_;
  Losses losses_;
  Refusals refusals_;
  Now now_ = Clock::now;
  std::unique_ptr<Arrivals> arrivals_ FAB_GUARDED_BY(engine_lock);  ///< from the first one-sided exchange on
  std::unique_ptr<std::byte[]> surplus_;
  std::uint32_t next_number_ FAB_GUARDED_BY(engine_lock) = 1;  ///< 0 is the world's, at rank 0
  bool closed_ FAB_GUARDED_BY(engine_lock) = false;
  std::shared_ptr<Runtime> kept_abroad_;  ///< itself, in a child
  bool all_came_ = false;
  std::vector<std::string> told_keys_;  ///< of statistics
  std::vector<FilePart> file_parts_;    ///< of the file of statistics
  std::vector<std::shared_ptr<Runtime>> further_;
  bool statistics_reported_ = false;
  bool trace_written_ = false;
  std::once_flag nodes_looked_up_;
  std::shared_ptr<const NodeMap> nodes_;
};

}  // namespace fab::core
