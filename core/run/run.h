// A run: one execution of a plan. What a request of the bindings stands for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/shared_heap.h"
#include "core/plan/plan.h"
#include "core/progress/pending.h"
#include "core/progress/task.h"
#include "core/run/called_as.h"
#include "core/run/written_messages.h"
#include "core/wire/frame.h"
#include "core/wire/match_tag.h"

namespace fab::core {

/// One operation of the current round in flight: the completion record that the provider hands back.
struct Transfer : Post {
  enum class State : std::uint8_t { idle, due, refused, posted };

  explicit Transfer(Run& owner) noexcept;

  Run* run;
  const PlannedOperation* operation = nullptr;
  State state = State::idle;
  bool taken = false;  ///< its message is unpacked already
};

/// Has a run while nobody uses it.
class RunOwner {
 public:
  /// Nothing of it is in flight and nobody has a handle. May end its life.
  virtual void release(Run& run) noexcept = 0;

  std::atomic<bool> needs_thread{true};  ///< its last run was left alone, or so long that a call of the thread is cheap

 protected:
  ~RunOwner() = default;
};

/// Guarded by the engine's lock, except done() and, once done, status(). Belongs to its owner's pool; in use from
/// RunPool::acquire until the user let go of it and nothing of it is in flight. Whoever holds it holds the
/// communicator.
class Run final : public Pending, public Task {
 public:
  Run(const Plan& plan, RunOwner& owner);
  ~Run();

  /// For the next starts: bases[i] is the address of BufferId i (scratch is the run's own), `sequence_tag` is
  /// TagFormat::sequence or lasting, `user` what ReduceOp::user calls. Now somebody holds the run.
  void prepare(std::span<std::byte* const> bases, std::uint64_t sequence_tag, const UserReduction& user) noexcept;
  /// After prepare(), if the plan has channels.
  void set_written_messages(std::unique_ptr<WrittenMessages> messages) noexcept { one_sided_ = std::move(messages); }
  /// After prepare(), for the life of the run: memory of its messages is kept ready.
  void hold_memory();
  /// Before start(): the run begins once `check`, which compares calls, is done, and ends after `closing`, which tells
  /// how they ended. It starts the latter, and lets both go.
  void begin_after(Run& check, Run& closing, const Comparison& comparison) noexcept {
    check_ = &check;
    closing_ = &closing;
    comparison_ = &comparison;
  }
  /// Where its call is in the order of the communicator: CallPlace::number.
  void place_at(std::uint64_t place) noexcept { place_ = place; }
  [[nodiscard]] std::uint64_t place() const noexcept { return place_; }
  /// Of a persistent exchange whose calls are compared: what its starts are called.
  void call_as(CalledAs call) { called_as_ = std::make_unique<CalledAs>(std::move(call)); }
  void compare_no_starts() noexcept { called_as_.reset(); }
  [[nodiscard]] const CalledAs* called_as() const noexcept { return called_as_.get(); }
  /// Its user reductions are fab's own: they need no thread of the application.
  void reduce_at_once() noexcept { parks_ = false; }
  /// Posts round 0, or waits for the peers' addresses first. The buffers belong to the run until done().
  void start();

  /// Whether a block of an active run is in its place, or never will be: then status() tells why. Nothing writes to it
  /// any more. Under the engine's lock.
  [[nodiscard]] bool has_arrived(const Arrival& arrival) const noexcept;
  /// The user's handle is gone: the run goes back to its plan as soon as nothing is in flight. Until then it keeps the
  /// communicator itself.
  void let_go() noexcept override;
  /// Ends the run early: takes back receives and refused posts. done() follows once the provider gave the receives
  /// back; sends may stay in flight (they only read), and keep the run's memory.
  void abandon(const Status& reason) override;
  void abandon_for(Rank culprit, const Status& reason) override;
  void visit_peers(const PeerVisitor& visit) const override;
  void peer_lost(const Peer& peer, const Status& reason) override;
  [[nodiscard]] bool given_up() const noexcept override { return abandoned_ || !broken_peers_.empty(); }
  void over(bool took_long) noexcept override;
  void stalled() override;
  [[nodiscard]] bool is_collective() const noexcept override { return true; }
  /// What the run waits for: the operations in flight with their peers, or the peers whose addresses are missing.
  [[nodiscard]] std::string describe_pending() const override;
  [[nodiscard]] Membership& membership() const noexcept override { return plan_.membership(); }
  [[nodiscard]] CallScope* held_scope() const noexcept override { return &membership().scope(); }
  [[nodiscard]] std::string_view name() const noexcept override { return plan_.schedule().name(); }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }

  // For the engine.
  [[nodiscard]] bool may_begin() const noexcept override;
  void begin() override;
  /// Repeats a refused post; returns whether it was accepted.
  bool repost(Transfer& transfer);
  /// Posts those that waited for a peer, and forgets them. Null ones are none.
  void repost(std::span<Transfer*> waiting);
  [[nodiscard]] bool unpark() noexcept override {
    parked_ = false;
    return status_.ok();
  }
  /// What the round does in this rank's memory, functions of the user's among it.
  void do_parked_operations() override;
  void local_operations_done() override;

  // For one-sided messages.
  [[nodiscard]] std::byte* scratch() const noexcept { return scratch_.get(); }
  /// The memory of an operation's pieces.
  [[nodiscard]] std::span<const iovec> memory(const PlannedOperation& operation) const noexcept {
    return std::span(memory_).subspan(operation.first_piece, operation.piece_count);
  }
  [[nodiscard]] std::string describe(const PlannedOperation& operation) const;

  Run* next_idle = nullptr;  ///< the plan's list

 private:
  friend struct Transfer;

  /// Messages of an earlier start are still with the provider.
  void refuse_start();
  void list_memory() noexcept;
  [[nodiscard]] bool passes_check();
  void run_rounds();
  void prepare_round();
  void post_round();
  [[nodiscard]] bool is_broken(const Peer* peer) const noexcept;
  void one_less_pending();
  [[nodiscard]] PostResult post(Transfer& transfer);
  /// Returns whether the provider accepted it; otherwise the engine repeats it.
  bool try_to_post(Transfer& transfer);
  void refused(Transfer& transfer);
  [[nodiscard]] std::uint64_t tag_of(const PlannedOperation& operation) const noexcept {
    return run_tag_ | operation.message_tag;
  }
  [[nodiscard]] std::byte* address(BufferId buffer, std::int64_t offset) const noexcept {
    return bases_[static_cast<std::size_t>(buffer)] + offset;
  }
  [[nodiscard]] bool take(Transfer& transfer, const Delivery& delivery) noexcept;
  void received(Transfer& transfer, std::uint64_t bytes, std::uint64_t tag);
  void compare(const PlannedOperation& operation, std::uint64_t bytes, const FrameHead* frame);
  [[nodiscard]] FrameHead read_frame(const PlannedOperation& operation) const;
  void settled(Transfer& transfer);
  void finish() noexcept;
  [[nodiscard]] bool tell_how_it_ended() noexcept;
  void take_how_others_ended();
  void end() noexcept;
  void recycle() noexcept;

  // In this rank's memory.
  void stage_send(const PlannedOperation& operation);
  void unpack(const PlannedOperation& operation);
  /// What these bytes, which begin there in its message, have of the operation's blocks.
  void unpack(const PlannedOperation& operation, std::uint64_t offset, std::span<const std::byte> bytes) const;
  [[nodiscard]] static bool calls_user(std::span<const PlannedOperation> operations) noexcept;
  void do_operations(std::span<const PlannedOperation> operations);
  [[nodiscard]] bool copy(const PlannedOperation& operation);
  void reduce(const PlannedOperation& operation) const;

  // When something goes wrong.
  void fail(const PlannedOperation& operation, Errc code, const std::string& fault);
  void fail_unequal();
  template <class Choose>
  void take_back(Choose&& choose);
  /// All that is expected from, or goes to, the same peer, but this message itself.
  void take_back_other_messages(const PlannedOperation& message);
  /// What will not come of a message whose first part has, but for these.
  void take_back_later_parts(const PlannedOperation& head, std::span<const MessagePart> but);
  void compare_frame(const PlannedOperation& operation);
  void clear_up(const PlannedOperation& operation, const FrameHead& sent);
  void broken(const PlannedOperation& operation, const Status& status);
  void ask_peers();
  /// Nothing goes to, or comes from, that rank of the job any more.
  void blame(Rank culprit);
  void heard_of(const FailureNotice& notice, const PlannedOperation& operation);
  void tell(const PlannedOperation& operation);
  void tell_others();
  /// In flight, and not waited for: all of them once it was abandoned, those to lost peers otherwise.
  [[nodiscard]] std::uint32_t sends_given_up() const noexcept;
  void finish_if_given_up();

  const Plan& plan_;
  RunOwner& owner_;
  Engine& engine_;
  const TagFormat& tags_;
  std::shared_ptr<Membership> keep_communicator_;  ///< while in use and nobody has a handle
  std::vector<std::byte*> bases_;
  std::vector<iovec> memory_;  ///< of the plan's pieces, with these bases
  std::unique_ptr<std::byte[]> scratch_;
  SharedBytes staging_;  ///< so that ranks of the node may copy out of it
  std::vector<std::unique_ptr<Registration>> held_memory_;
  std::unique_ptr<WrittenMessages> one_sided_;  ///< null if the plan has no channels
  std::vector<Transfer> transfers_;             ///< as many as the widest round has operations
  std::uint64_t sequence_tag_ = 0;
  std::uint64_t run_tag_ = 0;  ///< what the tags of all messages share, once the run has begun
  std::uint32_t round_ = 0;
  std::uint32_t used_transfers_ = 0;
  std::uint32_t absences_at_start_ = 0;  ///< the engine's
  std::uint32_t pending_ = 0;  ///< operations of the round not settled, one more while the round is being posted
  bool held_ = false;          ///< the user has a handle
  bool begun_ = false;         ///< round_ is being posted, or was
  bool abandoned_ = false;
  bool parked_ = false;                        ///< in the engine's list
  UserReduction user_;                         ///< set if the plan has user reductions
  const PlannedOperation* unequal_ = nullptr;  ///< a copy of this round whose ends differ in size
  std::vector<const Peer*> broken_peers_;      ///< of this run; nothing more is posted to or from them
  Rank culprit_ = kNoRank;                     ///< of the job, by which the run failed, if one is known
  std::uint64_t place_ = 0;
  Run* check_ = nullptr;    ///< until it has begun, where calls are compared
  Run* closing_ = nullptr;  ///< until it has ended, there
  const Comparison* comparison_ = nullptr;
  bool closes_ = false;  ///< closing_ was started, and is waited for
  bool agreed_ = false;  ///< all ranks called the same
  std::unique_ptr<CalledAs> called_as_;
  bool parks_ = true;      ///< at user reductions
  bool all_know_ = false;  ///< why it failed: nobody is to be told
};

}  // namespace fab::core
