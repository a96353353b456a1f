// The ledger of a context: what the plans of its communicators have moved and waited for. A plan counts its starts
// itself, in memory of its own; the ledger keeps the sums of those that have ended.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/base/linked.h"
#include "core/peers/peers.h"
#include "core/provider.h"
#include "core/trace/trace_file.h"
#include "core/wire/match_tag.h"
#include "fab/statistics.h"

namespace fab::core {

/// What the calls of a row have moved and waited for, without names.
struct OperationSums : OperationStatistics {
  WayCounts ways;  ///< by which the sent messages left

  void add(const OperationSums& more) noexcept {
    OperationStatistics::add(more);
    ways.add(more.ways);
  }
};

/// From any thread. Its size has a bound, however many communicators and plans a program makes.
class Ledger {
 public:
  static constexpr std::size_t kMostCommunicators = 64;
  static constexpr std::size_t kMostRows = 1024;

  /// A communicator, also after its end.
  struct Communicator {
    int ranks = 0;
    std::optional<ContextId> id{};
  };
  /// What has come from a rank of the job.
  using VisitReceived = std::function<void(Rank from, const MessageAmounts& amounts)>;
  /// A plan, or something else that counts for a row, while it lives.
  class Counted : public Linked {
   public:
    virtual void add_to(OperationSums& sums) const noexcept FAB_REQUIRES(engine_lock) = 0;
    /// Messages of peers, unless they are counted elsewhere. A rank may come several times.
    virtual void visit_received(const VisitReceived& /*visit*/) const FAB_REQUIRES(engine_lock) {}

   protected:
    ~Counted() = default;
  };

  /// Calls of one operation on one communicator by one algorithm.
  struct Row {
    const Communicator* communicator;
    std::string operation;
    std::string_view algorithm;
    std::size_t number = 0;  ///< its place among the rows
    std::uint64_t traced{};  ///< starts, while they are recorded (FAB_TRACE); guarded by the engine's lock
    OperationSums ended{};   ///< of what counts no more
    Linked living{};         ///< of Counted
  };

  Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // For fork(), over which it is held.
  void lock() noexcept FAB_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock() noexcept FAB_RELEASE(mutex_) { mutex_.unlock(); }

  // References stay valid.

  [[nodiscard]] Communicator& add_communicator(int ranks);
  /// Stands for all of them.
  [[nodiscard]] const Communicator& all_communicators() const noexcept { return all_; }
  void name(Communicator& communicator, ContextId id) noexcept;

  /// `algorithm` lives as long as the ledger. `peers`: all those that it may receive from.
  [[nodiscard]] Row& begin(Counted& counted, const Communicator& communicator, std::string_view operation,
                           std::string_view algorithm, std::span<Peer* const> peers = {});
  /// Adds what it counts to the row's sums. No other thread uses it any more, with the lock or without.
  void end(Counted& counted, Row& row) noexcept;

  /// Rows of one name are one.
  [[nodiscard]] std::vector<OperationSums> read() const FAB_REQUIRES(engine_lock);
  /// What has come from each rank, as visit_received tells it.
  [[nodiscard]] std::map<Rank, MessageAmounts> received() const FAB_REQUIRES(engine_lock);
  /// The names of all rows, by number.
  [[nodiscard]] std::vector<TracedOperation> names() const;

 private:
  [[nodiscard]] Row& find(const Communicator& communicator, std::string_view operation, std::string_view algorithm)
      FAB_REQUIRES(mutex_);

  [[nodiscard]] std::string name_of(const Communicator& communicator) const FAB_REQUIRES(mutex_);

  const Communicator all_{};
  mutable Mutex mutex_;  ///< behind the engine's lock, where both are held
  std::deque<Communicator> communicators_ FAB_GUARDED_BY(mutex_);
  Communicator others_ FAB_GUARDED_BY(mutex_);
  std::deque<Row> rows_ FAB_GUARDED_BY(mutex_);
  std::map<Rank, MessageAmounts> received_ FAB_GUARDED_BY(mutex_);  ///< by what counts no more; all that may receive
};

}  // namespace fab::core
