// All ranks of a job in one process and one thread, over a simulated network, in virtual time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "core/context.h"
#include "providers/sim/network.h"

namespace fab::sim {

/// How an operation ended on one rank.
struct Outcome {
  Rank rank = 0;
  bool ended = false;  ///< otherwise it waits for what will never come: the status, Errc::timed_out, says for what
  Status status{};
  Time begin{};    ///< of the start
  Time end{};      ///< when the rank's processor was done with it
  Traffic sent{};  ///< by the rank, from begin to end
  Traffic received{};

  [[nodiscard]] bool ok() const noexcept { return ended && status.ok(); }
};

/// From the first begin to the last end.
[[nodiscard]] Time duration(std::span<const Outcome> outcomes);
/// The first few outcomes that are not ok, as text; empty if all are.
[[nodiscard]] std::string failures(std::span<const Outcome> outcomes);

/// Opens a context per rank and lets time pass event by event. Same arguments, same seed: same run. Thousands of ranks
/// are fine as long as each talks to few.
///
///     sim::Job job(4096);                     // or job(64, sim::adversarial(seed))
///     const auto outcomes = job.run(job.world(), [&](core::Communicator& communicator) -> core::Run& {
///       return collectives::start(communicator, nullptr, buffers[communicator.rank()].data(),
///       collectives::bcast_call(block, 0));
///     });
///     EXPECT_EQ(sim::failures(outcomes), "");
///     sim::duration(outcomes);                // and outcomes[rank].end, .sent.messages, .sent.bytes, .status
///
/// Several operations in flight: start() each, in the order that the rank would, then finish(). Faults: Options::loses
/// and Options::deaths, or network().kill(rank) between two calls.
class Job {
 public:
  /// Every variable at its default, no progress thread.
  [[nodiscard]] static Config default_config();

  explicit Job(int ranks, const Options& options = {}, const Config& config = default_config());
  /// Ranks whose configurations differ.
  explicit Job(std::span<const Config> configs, const Options& options = {});
  /// All that is in flight ends.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] int size() const noexcept { return network_.size(); }
  [[nodiscard]] Network& network() noexcept { return network_; }
  [[nodiscard]] core::Context& context(Rank rank) { return *contexts_.at(static_cast<std::size_t>(rank)); }

  /// One communicator, seen from each rank.
  using Communicators = std::vector<std::shared_ptr<core::Communicator>>;
  [[nodiscard]] const Communicators& world() const noexcept { return world_; }
  /// A new one of all ranks, with or without a topology.
  [[nodiscard]] Communicators communicators(const std::function<std::optional<Topology>(Rank)>& topology = {});

  /// Starts an operation; called under the engine's lock. What it throws becomes the outcome's status.
  using Start = std::function<core::Run&(core::Communicator&)>;
  enum class Pace {
    at_once,    ///< when the rank's processor is free
    when_idle,  ///< and all operations that were to start before have ended on this rank
  };
  /// Has the communicator's rank start an operation. Nothing happens before finish(). Where the network delays messages
  /// ranks are late, too.
  void start(std::shared_ptr<core::Communicator> communicator, Start start, Pace pace = Pace::at_once);
  /// Has that rank start a persistent exchange, which must outlive finish().
  void start(Rank rank, core::Persistent& exchange, Pace pace = Pace::at_once);
  /// Carries out all that was to start; in that order, how each ended. Throws std::logic_error when a rank did what the
  /// provider's capabilities forbid.
  std::vector<Outcome> finish();
  /// Starts on all ranks at the same time, and finishes.
  std::vector<Outcome> run(const Communicators& communicators, const Start& start);

 private:
  struct Operation {
    Outcome outcome;
    Pace pace = Pace::at_once;
    Time not_before{};
    std::function<core::Run&()> start;
    std::function<void(core::Run&)> let_go;
    core::Run* run = nullptr;
  };
  struct RankState {
    std::deque<std::size_t> to_start;  ///< operations
    std::vector<std::size_t> active;
    Time last_start{};
  };

  void add(Rank rank, Operation operation);
  void drive_all();
  void drive(Rank rank);
  bool start_next(Rank rank);
  bool end_some(Rank rank);
  void end(Operation& operation);
  void give_up_stuck();

  Network network_;
  std::vector<std::shared_ptr<core::Context>> contexts_;
  Communicators world_;
  std::mt19937_64 random_;
  std::vector<Operation> operations_;
  std::vector<RankState> ranks_;
};

}  // namespace fab::sim
