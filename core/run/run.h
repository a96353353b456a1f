// A run: one execution of a plan. What a request of the bindings stands for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/base/shared_heap.h"
#include "core/job/ledger.h"
#include "core/plan/plan.h"
#include "core/progress/pending.h"
#include "core/progress/task.h"
#include "core/run/called_as.h"
#include "core/run/kept_data.h"
#include "core/run/written_messages.h"
#include "core/trace/trace_record.h"
#include "core/wire/frame.h"
#include "core/wire/match_tag.h"
#include "fab/statistics.h"

namespace fab::core {

/// One operation of the current round in flight: the completion record that the provider hands back.
struct Transfer : Post {
  enum class State : std::uint8_t { idle, due, refused, posted };

  Transfer(Run& owner, const Handlers& handlers, WayCounts& ways) noexcept : Post(handlers), run(&owner) {
    count_in(&ways);
  }

  Run* run;
  const PlannedOperation* operation = nullptr;
  State state = State::idle;
  bool taken = false;  ///< its message is unpacked already
};

/// Has a run while it is not in use.
class RunOwner {
 public:
  /// Nothing of it is in flight and there is no handle. May end its life.
  virtual void release(Run& run) noexcept FAB_REQUIRES(engine_lock) = 0;
  /// Where its starts are counted.
  [[nodiscard]] virtual Ledger::Row& row() noexcept FAB_REQUIRES(engine_lock) = 0;

  /// Of what its runs have sent. Providers count there, under the engine's lock: the last ways, which have the most,
  /// stand beside what each start uses.
  WayCounts ways;
  std::uint64_t starts FAB_GUARDED_BY(engine_lock) = 0;
  /// Its runs take their places when they start, and begin when they are taken off hold.
  const bool starts_on_hold;
  std::atomic<bool> needs_thread{true};  ///< its last run was left alone, or so long that a call of the thread is cheap
  WaitTimes waited FAB_GUARDED_BY(engine_lock);

 protected:
  explicit RunOwner(bool starts_its_runs_on_hold) noexcept : starts_on_hold(starts_its_runs_on_hold) {}
  ~RunOwner() = default;
};

/// Guarded by the engine's lock, except done() and, once done, status(). Belongs to its owner's pool; in use from
/// RunPool::acquire until the user let go of it and nothing of it is in flight. Its holder holds the
/// communicator.
class Run final : public Pending, public Task {
 public:
  Run(const Plan& plan, RunOwner& owner);
  ~Run();

  /// For the next starts: bases[i] is the address of BufferId i (scratch is the run's own), `sequence_tag` is
  /// TagFormat::sequence or persistent, `user` what ReduceOp::user calls. Now the run has a holder.
  void prepare(std::span<std::byte* const> bases, std::uint64_t sequence_tag, const UserReduction& user) noexcept
      FAB_REQUIRES(engine_lock);
  /// After prepare(), if the plan has channels.
  void set_written_messages(std::unique_ptr<WrittenMessages> messages) noexcept FAB_REQUIRES(engine_lock) {
    one_sided_ = std::move(messages);
  }
  /// After prepare(), for the life of the run: memory of its messages is kept ready.
  void hold_memory() FAB_REQUIRES(engine_lock);
  /// Before start(): the run begins once `check`, which compares calls, is done, and ends after `closing`, which tells
  /// how they ended. It starts the latter, and lets both go.
  void begin_after(Run& check, Run& closing, const Comparison& comparison) noexcept FAB_REQUIRES(engine_lock) {
    check_ = &check;
    closing_ = &closing;
    comparison_ = &comparison;
    agreed_ = false;
  }
  /// After prepare(), of a plan of at most one round: from now on a start posts receives alone. What it sends, and
  /// copies within this rank's memory, is held back until go_ahead() names it.
  void hold_back() FAB_REQUIRES(engine_lock);
  /// After start(): these operations may go. They are posted at once, or when the run begins. Without effect on those
  /// that have gone ahead, and where the run has failed: then it waits for no more of them, and tells their receivers.
  void go_ahead(const Arrival& operations) FAB_REQUIRES(engine_lock);
  /// It is active, and some operations have not gone ahead.
  [[nodiscard]] bool holds_back() const noexcept FAB_REQUIRES(engine_lock) { return !done() && held_back_count_ > 0; }
  /// Where its call is in the order of the communicator: CallPlace::number.
  void place_at(std::uint64_t place) noexcept FAB_REQUIRES(engine_lock) { place_ = place; }
  [[nodiscard]] std::uint64_t place() const noexcept FAB_REQUIRES(engine_lock) { return place_; }
  /// Of a persistent exchange whose calls are compared: what its starts are called.
  void call_as(CalledAs call) FAB_REQUIRES(engine_lock) { called_as_ = std::make_unique<CalledAs>(std::move(call)); }
  void compare_no_starts() noexcept FAB_REQUIRES(engine_lock) { called_as_.reset(); }
  [[nodiscard]] const CalledAs* called_as() const noexcept FAB_REQUIRES(engine_lock) { return called_as_.get(); }
  /// Its user reductions are fab's own: they need no thread of the application.
  void reduce_at_once() noexcept FAB_REQUIRES(engine_lock) { defers_user_work_ = false; }
  /// Posts round 0, or waits for the peers' addresses first. The buffers belong to the run until done(); what short
  /// data is sent from them is read at once.
  void start() FAB_REQUIRES(engine_lock);
  /// Of a run that started on hold: from now on it goes the way of others.
  void take_off_hold() FAB_REQUIRES(engine_lock);

  /// Whether a block of an active run is in its place, or never will be: then status() tells why. Nothing writes to it
  /// any more.
  [[nodiscard]] bool has_arrived(const Arrival& arrival) const noexcept FAB_REQUIRES(engine_lock);
  /// The user's handle is gone: the run goes back to its plan as soon as nothing is in flight. Until then it keeps the
  /// communicator itself.
  void let_go() noexcept override FAB_REQUIRES(engine_lock);
  /// Ends the run early: takes back receives and refused posts. done() follows once the provider gave the receives
  /// back; sends may stay in flight (they only read), and keep the run's memory.
  void abandon(const Status& reason) override FAB_REQUIRES(engine_lock);
  void abandon_for(Rank failed_rank, const Status& reason) override FAB_REQUIRES(engine_lock);
  void visit_peers(const PeerVisitor& visit) const override FAB_REQUIRES(engine_lock);
  void peer_lost(const Peer& peer, const Status& reason) override FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool given_up() const noexcept override FAB_REQUIRES(engine_lock) { return given_up_; }
  void over(bool took_long) noexcept override;
  [[nodiscard]] Peer* last_peer() const noexcept override {
    const PlannedOperation* const last = last_settled_.load(std::memory_order_relaxed);
    return last == nullptr ? nullptr : last->peer;
  }
  Peer* waited(std::uint64_t ns) noexcept override FAB_REQUIRES(engine_lock) {
    owner_.waited.add(ns);
    return nullptr;
  }
  void stalled() override FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool is_collective() const noexcept override { return true; }
  /// What the run waits for: the operations in flight with their peers, or the peers whose addresses are missing.
  [[nodiscard]] std::string describe_pending() const override FAB_REQUIRES(engine_lock);
  [[nodiscard]] Membership& membership() const noexcept override { return plan_.membership(); }
  [[nodiscard]] CallScope* held_scope() const noexcept override FAB_REQUIRES(engine_lock) {
    return &membership().scope();
  }
  [[nodiscard]] std::string_view name() const noexcept override { return plan_.schedule().name(); }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }

  // For the engine.
  [[nodiscard]] bool may_begin() const noexcept override FAB_REQUIRES(engine_lock);
  void begin() override FAB_REQUIRES(engine_lock);
  /// Repeats a refused post; returns whether it was accepted.
  bool repost(Transfer& transfer) FAB_REQUIRES(engine_lock);
  /// Posts those that waited for a peer, and forgets them. Null ones are none.
  void repost(std::span<Transfer*> waiting) FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool begin_user_work() noexcept override FAB_REQUIRES(engine_lock) {
    has_user_work_ = false;
    return status_.ok();
  }
  /// What the round does in this rank's memory, functions of the user's among it.
  void do_user_work() override;
  void local_operations_done() override FAB_REQUIRES(engine_lock);

  // For one-sided messages.
  [[nodiscard]] std::byte* scratch() const noexcept { return scratch_.get(); }
  /// The memory of an operation's pieces.
  [[nodiscard]] std::span<const iovec> memory(const PlannedOperation& operation) const noexcept {
    return std::span(memory_).subspan(operation.first_piece, operation.piece_count);
  }
  [[nodiscard]] std::string describe(const PlannedOperation& operation) const;
  /// What is recorded of a message that is about to be posted, and what became of it. Precondition: the engine has a
  /// recorder.
  [[nodiscard]] TraceRecord record_of(const PlannedOperation& operation, std::string_view way) const
      FAB_REQUIRES(engine_lock);
  void record_post(TraceRecord record, PostResult result) const FAB_REQUIRES(engine_lock);

 private:
  [[nodiscard]] static Post::Handlers handlers() noexcept;
  /// handlers() that also record.
  [[nodiscard]] static Post::Handlers recording_handlers() noexcept;
  /// Of the start before this one.
  void forget_failure() FAB_REQUIRES(engine_lock);
  /// Messages of an earlier start are still with the provider.
  void refuse_start() FAB_REQUIRES(engine_lock);
  void list_memory() noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool passes_check() FAB_REQUIRES(engine_lock);
  void run_rounds() FAB_REQUIRES(engine_lock);
  void prepare_round() FAB_REQUIRES(engine_lock);
  void post_round() FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool is_broken(const Peer* peer) const noexcept FAB_REQUIRES(engine_lock);
  void one_less_pending() FAB_REQUIRES(engine_lock);
  [[nodiscard]] PostResult post(Transfer& transfer) FAB_REQUIRES(engine_lock);
  /// Returns whether the provider accepted it; otherwise the engine repeats it.
  bool try_to_post(Transfer& transfer) FAB_REQUIRES(engine_lock);
  bool posted(Transfer& transfer, PostResult result) FAB_REQUIRES(engine_lock);
  /// And those behind it that have its bytes in common.
  void post_to_all(std::span<Transfer> from_first) FAB_REQUIRES(engine_lock);
  void refused(Transfer& transfer) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::uint64_t tag_of(const PlannedOperation& operation) const noexcept FAB_REQUIRES(engine_lock) {
    return run_tag_ | operation.message_tag;
  }
  /// By numbers, since the base of MPI_BOTTOM is null.
  [[nodiscard]] std::byte* address(BufferId buffer, std::int64_t offset) const noexcept {
    const auto base = reinterpret_cast<std::intptr_t>(bases_[static_cast<std::size_t>(buffer)]);
    return reinterpret_cast<std::byte*>(base + offset);
  }
  [[nodiscard]] bool take(Transfer& transfer, const Delivery& delivery) noexcept FAB_REQUIRES(engine_lock);
  void received(Transfer& transfer, std::uint64_t bytes, std::uint64_t tag) FAB_REQUIRES(engine_lock);
  /// Reads the message's frame if it has one, and compares it with what was declared.
  void look_at(const PlannedOperation& operation, std::uint64_t bytes, bool has_frame) FAB_REQUIRES(engine_lock);
  void compare(const PlannedOperation& operation, std::uint64_t bytes, const FrameHead* frame)
      FAB_REQUIRES(engine_lock);
  [[nodiscard]] FrameHead read_frame(const PlannedOperation& operation) const FAB_REQUIRES(engine_lock);
  void settled(Transfer& transfer) FAB_REQUIRES(engine_lock);
  void finish() noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool tell_how_it_ended() noexcept FAB_REQUIRES(engine_lock);
  void take_how_others_ended() FAB_REQUIRES(engine_lock);
  void end() noexcept FAB_REQUIRES(engine_lock);
  void recycle() noexcept FAB_REQUIRES(engine_lock);

  // FAB_TRACE. Precondition: the engine has a recorder. Out of the way of starts that record nothing.
  [[gnu::cold, gnu::noinline]] void record_start() FAB_REQUIRES(engine_lock);
  [[gnu::cold, gnu::noinline]] void record_round() FAB_REQUIRES(engine_lock);
  [[gnu::cold, gnu::noinline]] void record_end() FAB_REQUIRES(engine_lock);
  void record_settled(const PlannedOperation& operation) FAB_REQUIRES(engine_lock);
  [[nodiscard, gnu::cold, gnu::noinline]] PostResult send_and_record(Transfer& transfer, std::span<const iovec> pieces)
      FAB_REQUIRES(engine_lock);
  [[gnu::cold, gnu::noinline]] void send_to_all_and_record(std::span<const iovec> pieces) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::uint64_t key_of(const PlannedOperation& operation) const noexcept FAB_REQUIRES(engine_lock);

  // What is held back.
  void hold_back_again() noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool is_held_back(std::size_t operation) const noexcept FAB_REQUIRES(engine_lock) {
    return held_back_count_ > 0 && held_back_[operation] != 0;
  }
  /// Returns whether it was.
  bool hold_back_no_more(std::size_t operation) noexcept FAB_REQUIRES(engine_lock);
  void copy_what_may_go() FAB_REQUIRES(engine_lock);
  void copy_now(std::size_t operation) FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool are_copied(const Arrival& copies) const noexcept FAB_REQUIRES(engine_lock);
  void give_up_held_back() FAB_REQUIRES(engine_lock);

  // In this rank's memory.
  void keep_data() FAB_REQUIRES(engine_lock);
  void let_go_of_kept_data() noexcept FAB_REQUIRES(engine_lock);
  void stage_send(const PlannedOperation& operation) FAB_REQUIRES(engine_lock);
  void unpack(const PlannedOperation& operation) FAB_REQUIRES(engine_lock);
  /// What these bytes, which begin there in its message, have of the operation's blocks.
  void unpack(const PlannedOperation& operation, std::uint64_t offset, std::span<const std::byte> bytes) const;
  [[nodiscard]] static bool calls_user(std::span<const PlannedOperation> operations) noexcept;
  void do_operations(std::span<const PlannedOperation> operations);
  [[nodiscard]] bool copy(const PlannedOperation& operation);
  void reduce(const PlannedOperation& operation) const;

  // When something goes wrong.
  void fail(const PlannedOperation& operation, Errc code, const std::string& fault) FAB_REQUIRES(engine_lock);
  void fail_unequal() FAB_REQUIRES(engine_lock);
  template <class Choose>
  void take_back(Choose&& choose) FAB_REQUIRES(engine_lock);
  /// All that is expected from, or goes to, the same peer, but this message itself.
  void take_back_other_messages(const PlannedOperation& message) FAB_REQUIRES(engine_lock);
  /// What will not come of a message whose first part has, but for these.
  void take_back_later_parts(const PlannedOperation& head, std::span<const MessagePart> but) FAB_REQUIRES(engine_lock);
  void compare_frame(const PlannedOperation& operation) FAB_REQUIRES(engine_lock);
  void discard_rest(const PlannedOperation& operation, const FrameHead& sent) FAB_REQUIRES(engine_lock);
  void broken(const PlannedOperation& operation, const Status& status) FAB_REQUIRES(engine_lock);
  /// A failed write's receiver is asked why, before anything else is made of it.
  [[nodiscard]] bool doubts(Transfer& transfer, const Status& status) FAB_REQUIRES(engine_lock);
  void ask_peers() FAB_REQUIRES(engine_lock);
  /// Nothing goes to, or comes from, that rank of the job any more.
  void blame(Rank failed_rank) FAB_REQUIRES(engine_lock);
  void give_up(const Peer& peer) FAB_REQUIRES(engine_lock);
  void on_failure_notice(const FailureNotice& notice, const PlannedOperation& operation) FAB_REQUIRES(engine_lock);
  void tell(const PlannedOperation& operation) FAB_REQUIRES(engine_lock);
  void notify_dependents() FAB_REQUIRES(engine_lock);
  /// In flight, and not waited for: all of them once it was abandoned, those to lost peers otherwise.
  [[nodiscard]] std::uint32_t sends_given_up() const noexcept FAB_REQUIRES(engine_lock);
  void finish_if_given_up() FAB_REQUIRES(engine_lock);

  // What every start and its messages use comes first, so that it lies in few cache lines.
  // What bears no guard changes at the start, or with a round, under the engine's lock. Operations in this rank's
  // memory use it without the lock as well: their round stands still meanwhile (do_user_work).
  const Plan& plan_;
  RunOwner& owner_;
  Engine& engine_;
  const TagFormat& tags_;
  std::uint64_t sequence_tag_ FAB_GUARDED_BY(engine_lock) = 0;
  /// What the tags of all messages share, once the run has begun.
  std::uint64_t run_tag_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint64_t place_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint32_t round_ = 0;
  std::uint32_t used_transfers_ FAB_GUARDED_BY(engine_lock) = 0;
  /// Operations of the round not settled, one more while the round is being posted.
  std::uint32_t pending_ FAB_GUARDED_BY(engine_lock) = 0;
  /// Operations of this start that go_ahead() has not named; 0 where nothing is held back.
  std::uint32_t held_back_count_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint32_t absences_at_start_ = 0;                  ///< the engine's; read by over()
  bool held_ FAB_GUARDED_BY(engine_lock) = false;        ///< the user has a handle
  bool holds_back_ FAB_GUARDED_BY(engine_lock) = false;  ///< its starts hold operations back
  bool on_hold_ FAB_GUARDED_BY(engine_lock) = false;
  bool begun_ FAB_GUARDED_BY(engine_lock) = false;  ///< round_ is being posted, or was
  bool abandoned_ FAB_GUARDED_BY(engine_lock) = false;
  bool given_up_ FAB_GUARDED_BY(engine_lock) = false;            ///< abandoned, or some peers are broken
  bool has_user_work_ FAB_GUARDED_BY(engine_lock) = false;       ///< in the engine's list
  bool defers_user_work_ FAB_GUARDED_BY(engine_lock) = true;     ///< at user reductions
  bool all_know_ FAB_GUARDED_BY(engine_lock) = false;            ///< why it failed: no rank is to be told
  bool closes_ FAB_GUARDED_BY(engine_lock) = false;              ///< closing_ was started, and is waited for
  bool agreed_ FAB_GUARDED_BY(engine_lock) = false;              ///< all ranks called the same
  std::vector<Transfer> transfers_ FAB_GUARDED_BY(engine_lock);  ///< as many as the widest round has operations
  std::vector<iovec> memory_;                                    ///< of the plan's pieces, with these bases
  std::vector<std::byte*> bases_;
  SharedBytes staging_;                                         ///< so that ranks of the node may copy out of it
  std::atomic<const PlannedOperation*> last_settled_{nullptr};  ///< in a poll, of this start or an earlier one
  const PlannedOperation* unequal_ = nullptr;                   ///< a copy of this round whose ends differ in size
  /// Of a start that waited for addresses, up to the next one.
  std::unique_ptr<KeptData> kept_data_ FAB_GUARDED_BY(engine_lock);
  std::unique_ptr<WrittenMessages> one_sided_ FAB_GUARDED_BY(engine_lock);     ///< null if the plan has no channels
  const Comparison* comparison_ FAB_GUARDED_BY(engine_lock) = nullptr;         ///< null: calls are not compared
  Run* closing_ FAB_GUARDED_BY(engine_lock) = nullptr;                         ///< until it has ended, there
  std::shared_ptr<Membership> keep_communicator_ FAB_GUARDED_BY(engine_lock);  ///< while in use without a handle
  std::vector<Addressee> addressees_ FAB_GUARDED_BY(engine_lock);  ///< of sends that are being posted together
  UserReduction user_;                                             ///< set if the plan has user reductions

  std::unique_ptr<std::byte[]> scratch_;
  Run* check_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< until it has begun, where calls are compared
  std::unique_ptr<CalledAs> called_as_ FAB_GUARDED_BY(engine_lock);
  std::vector<std::unique_ptr<Registration>> held_memory_ FAB_GUARDED_BY(engine_lock);
  std::vector<std::uint8_t> held_back_ FAB_GUARDED_BY(engine_lock);  ///< of the round's operations, if any are
  /// Of this run; nothing more is posted to or from them.
  std::vector<const Peer*> broken_peers_ FAB_GUARDED_BY(engine_lock);
  Rank failed_rank_ FAB_GUARDED_BY(engine_lock) = kNoRank;  ///< of the job, by which the run failed, if one is known
};

}  // namespace fab::core
