// The link between this rank and one other rank of its node: matching, and the transfer of long messages.
//
// A short message is copied into the ring at once and copied out by its receive. One that goes to several ranks is
// written once, to the sender's common ring or its area, where all of them read it: see common_ring.h. A long one is
// announced. When a receive waits for it the receiver copies it from the sender's memory, which it maps (fab's own) or
// has the kernel read (any other), and says so. A sender that has nothing else to do helps the kernel's copy along from
// the other end of the message: see division.h. Where that is forbidden, or the program changes the message from one
// post to the next and the sender waits, it asks for the bytes, which then follow in chunks through the bulk memory
// while both sides copy.
// Messages that no receive waits for stay in the ring as long as nothing else is expected from there; otherwise they
// are taken in, so that they hold up nothing. An announced message can be taken back: the ring counts such messages,
// and a receiver that has copied looks at the count before it calls that a message.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/slots.h"
#include "core/provider.h"
#include "providers/local/cross_memory.h"
#include "providers/local/doorbell.h"
#include "providers/local/mapped_memory.h"
#include "providers/local/message_history.h"
#include "providers/local/pieces.h"
#include "providers/local/segment.h"
#include "providers/local/thresholds.h"

namespace fab::local {

class Link {
 public:
  /// Of all links of a rank.
  struct Traffic {
    std::size_t receives = 0;   ///< of long messages, in flight
    std::uint64_t fetched = 0;  ///< long messages, since the beginning
  };
  /// What all links of a rank have in common.
  struct Shared {
    Segment& segment;
    std::size_t place;   ///< of this rank on the node
    std::size_t places;  ///< of the node
    bool has_barriers;   ///< see RemoteDoorbell
    LongestCopied longest_copied;
    LongestCopied longest_copied_of_mapped;
    const Doorbell& doorbell;
    Traffic& traffic;
    CrossMemory& memory;
    OwnMemory& own_memory;

    /// Of fab's memory from which such a message is announced if nothing is known of it; number 0: it is not.
    [[nodiscard]] RegionName region_of(std::span<const iovec> pieces, std::uint64_t bytes) const {
      return bytes > longest_copied_of_mapped.unknown ? own_memory.region_of(pieces) : RegionName{};
    }
    /// Of any of fab's memory from which such a message may be announced.
    [[nodiscard]] RegionName region_of_repeated(std::span<const iovec> pieces, std::uint64_t bytes) const {
      return bytes > longest_copied_of_mapped.least() ? own_memory.region_of(pieces) : RegionName{};
    }
    /// Of the messages that are copied although nothing is known of them, and so are refused while there is no room.
    [[nodiscard]] std::uint64_t longest_refused() const noexcept {
      const std::uint64_t mapped = longest_copied_of_mapped.unknown;
      return mapped <= kMostCopiedWhole ? std::max(longest_copied.unknown, mapped) : longest_copied.unknown;
    }
    [[nodiscard]] const LongestCopied& longest_copied_of(const RegionName& region) const noexcept {
      return region.number != 0 ? longest_copied_of_mapped : longest_copied;
    }
  };

  /// Makes the ring to the peer, whose process the doorbell watches under that number. Throws Error(no_resources,
  /// unreachable).
  Link(const Shared& shared, const SegmentName& peer, std::uint32_t number);

  [[nodiscard]] PostResult post_send(std::span<const iovec> pieces, std::uint64_t tag, Completion& completion);
  /// See Provider::post_repeated.
  [[nodiscard]] PostResult post_repeated(std::span<const iovec> pieces, std::uint64_t tag, Completion& completion);
  /// The peer's place on the node.
  [[nodiscard]] std::size_t place() const noexcept { return place_; }
  /// The peer has closed, or its process has ended.
  [[nodiscard]] bool has_ended() const noexcept { return !end_.empty(); }
  /// Precondition: has_ended().
  PostResult fail_as_ended(Completion& completion) const;
  /// A cell of this rank's common ring is for the peer; the number that it has there, for has_passed().
  std::uint32_t add_common() noexcept { return out_.add_common(); }
  /// The peer has read that cell, or reads nothing any more.
  [[nodiscard]] bool has_passed(std::uint32_t common) noexcept { return out_.has_passed(common) || has_ended(); }
  /// That cell, of so many bytes, was published.
  void published_common(std::uint64_t bytes, Completion& completion) noexcept {
    count(Way::shared, bytes, completion);
    peer_doorbell_.ring();
  }
  [[nodiscard]] PostResult post_recv(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                                     Completion& completion);
  /// Returns whether it was a receive of this link that no message has met yet; its handler was called then.
  bool cancel(Completion& completion);
  /// See Provider::take_back.
  bool take_back(Completion& completion);
  /// Moves on what can be; returns how many things happened.
  std::size_t poll();
  /// Something of this rank's is in flight here.
  [[nodiscard]] bool busy() const noexcept { return pending_ > 0; }
  /// Busy, and poll() would find something to do.
  [[nodiscard]] bool ready();
  /// Of a message of which nothing is known that is posted now. One that the receiver can neither map nor read is
  /// `kernel` here, and then goes in chunks.
  [[nodiscard]] Way way_of(std::span<const iovec> pieces) const;
  [[nodiscard]] Way way_of_repeated(std::span<const iovec> pieces) const;
  [[nodiscard]] const WayCounts& sent() const noexcept { return sent_; }
  /// What the peer told of another rank, also if it has ended since.
  [[nodiscard]] Rank lost_by_peer() const noexcept {
    const std::int32_t lost = peer_.head().lost.load(std::memory_order_acquire);
    return lost > 0 ? lost - 1 : kNoRank;
  }
  [[nodiscard]] Rank given_up_by_peer(std::uint32_t communicator) const noexcept {
    return peer_.head().given_up.find(communicator);
  }
  [[nodiscard]] bool peer_has_closed() const noexcept { return peer_.head().closed.load(std::memory_order_acquire); }
  /// The peer has closed, or its process has ended: what it sent still arrives, everything else fails.
  void peer_ended(const std::string& reason);

 private:
  /// What is copied in before the other side can begin to copy out.
  static constexpr std::uint64_t kChunkBytes = 16 * 1024;
  static_assert(kChunkBytes <= Ring::kLongestStretch);
  /// From here on the sender may help. What it copies lies in its own cache afterwards, which counts for shorter ones.
  static constexpr std::uint64_t kLeastDivided = 256 * 1024;

  enum class State : std::uint8_t {
    unused,
    waiting,
    cleared,
    taken_back  ///< a send, of which the receiver may not know that yet
  };
  /// Of a message that is cleared.
  enum class Copy : std::uint8_t {
    none,
    doubtful,  ///< the sender may have taken it back meanwhile
    sure
  };
  /// Where a long message lies at the other side.
  struct Source {
    std::uint64_t bytes = 0;
    std::uint32_t send = 0;
    bool mapped = false;     ///< the pieces are addresses of this process
    bool may_help = false;   ///< the other side
    bool in_chunks = false;  ///< it is better asked for
    Pieces pieces{};
  };
  /// A short receive of one piece that waits alone, as most do: it needs no record.
  struct LoneReceive {
    Completion* completion = nullptr;  ///< null: there is none
    std::uint64_t tag = 0;
    std::uint64_t ignore = 0;
    iovec piece{};
  };
  /// A receive that waits for its message, or for the rest of a long one.
  struct Receive {
    explicit Receive(std::uint32_t its_number) noexcept : number(its_number) {}

    std::uint32_t number;
    Completion* completion = nullptr;
    std::uint64_t tag = 0;
    std::uint64_t ignore = 0;
    std::uint64_t message_bytes = 0;
    std::uint64_t missing = 0;         ///< bytes, once the message was cleared
    std::uint32_t send = 0;            ///< the peer's, once it was cleared
    std::uint32_t doubtful_until = 0;  ///< so many messages of the peer have been retracted
    Copy copy = Copy::none;
    Pieces pieces;
    State state = State::unused;
    bool is_long = false;             ///< as long as messages that are divided
    bool is_cancelled = false;        ///< once it was cleared: it ends if its sender takes the message back
    std::list<Receive*> aside{this};  ///< its place in waiting_, while it is not there
    std::list<Receive*>::iterator place = aside.begin();
  };
  /// A long message.
  struct Send {
    explicit Send(std::uint32_t its_number) noexcept : number(its_number) {}

    std::uint32_t number;
    Completion* completion = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t missing = 0;  ///< bytes to send, once it was cleared
    std::uint32_t receive = 0;  ///< the peer's, once it was cleared
    std::uint64_t fetched = 0;  ///< Traffic's, when it was announced
    Way way = Way::kernel;
    bool in_chunks = false;  ///< the receiver may ask for it although it can read
    Pieces pieces;
    std::unique_ptr<std::byte[]> kept;  ///< of one that was taken back: what is still to be sent
    State state = State::unused;
  };
  /// A message that was taken in, or the announcement of one.
  struct Early {
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;
    std::unique_ptr<std::byte[]> memory;  ///< null: announced only
    Source source{};
  };
  /// A long message that is being read.
  struct Reading {
    std::uint32_t receive = 0;
    Source source{};
    Pieces to{};
    bool divided = false;  ///< the sender may help
  };
  /// What the sender of the message that is being read may help with, as the receiver sees it.
  struct Divided {
    std::uint32_t lap = 0;
    std::uint32_t receive = 0;
    std::uint64_t bytes = 0;
    bool open = false;
    bool failed = false;  ///< the sender could not write what it took last
  };
  /// And as the sender does.
  struct Help {
    std::uint32_t send = 0;
    std::uint32_t lap = 0;
    std::uint64_t bytes = 0;
    Pieces to{};
  };
  struct Answer {
    CellKind kind = CellKind::ack;
    Clearance clearance{};
  };

  /// Of a repeated message, whose way depends on whether it changes.
  [[nodiscard]] bool depends_on_change(const LongestCopied& longest, std::uint64_t bytes) const noexcept {
    return peer_reads_ && bytes > longest.least() && bytes <= longest.most();
  }
  [[nodiscard]] bool write_message(std::span<const iovec> pieces, std::uint64_t bytes, std::uint64_t tag,
                                   Completion& completion);
  /// Announces it. `in_chunks`: the receiver shall ask for it, if this rank's caller waits then.
  [[nodiscard]] bool send_rts(std::span<const iovec> pieces, std::uint64_t bytes, std::uint64_t tag,
                              const RegionName& region, bool in_chunks, Completion& completion);
  [[nodiscard]] bool write_location(Location& location, std::span<const iovec> pieces, std::uint64_t bytes);
  [[nodiscard]] Pieces read_location(const Location& location);
  void count(Way way, std::uint64_t bytes, Completion& completion) noexcept {
    sent_.add(way, bytes);
    completion.left_by(way, bytes);
  }
  void publish() noexcept;
  PostResult refuse() noexcept;
  void tell_whether_waiting() noexcept;

  /// What is there to read next.
  [[nodiscard]] StreamReader::Next listen();
  [[nodiscard]] bool can_write();
  void take(const StreamReader::Next& next);
  void take(const CommonCell& cell);
  void take(const Cell& cell);
  [[nodiscard]] Completion* accept(std::uint64_t tag, const std::byte* memory, std::uint64_t bytes);
  [[nodiscard]] Source source_of(const RequestToSend& rts);
  void rts_arrived(std::uint64_t tag, const Source& source);
  void cleared(const Clearance& clearance);
  void fetch(Receive& receive, const Source& source, std::uint64_t tag);
  void clear(const Receive& receive, const Source& source);
  [[nodiscard]] bool is_in_doubt(const Receive& receive) const noexcept;
  void acknowledge(const Receive& receive);
  /// The sender has taken that message back.
  void retracted(std::uint32_t send);
  void start_again(Receive& receive);
  void keep_the_rest(Send& send);
  // Both inline, so that the answer's fields go straight into the cell: to read them back together, just after they
  // were written one by one, would have to wait until all stores before are over, those of the message among them.
  void answer(const Answer& answer) {
    if (answers_.empty() && out_.has_cell()) return write(answer);
    answers_.push_back(answer);
    tell_whether_waiting();
  }
  void write(const Answer& answer) {
    Cell& cell = out_.cell();
    cell.kind = answer.kind;
    cell.clearance = answer.clearance;
    publish();
    if (answer.kind == CellKind::ack) finish_acked(answer);
  }
  std::size_t read_on();
  [[nodiscard]] bool read_on(Reading& reading);
  [[nodiscard]] std::uint64_t next_bytes(Reading& reading, std::uint64_t room);
  [[nodiscard]] CrossMemory::Result read(Reading& reading, std::uint64_t bytes);
  static void copy_mapped(const Receive& receive, Reading& reading, std::uint64_t bytes);
  void end_reading(const Reading& reading);
  [[nodiscard]] Receive& take_receive(std::span<const iovec> pieces, Completion& completion);
  void offer(Reading& reading);
  [[nodiscard]] bool may_help() const noexcept;
  void helped(const Clearance& clearance);
  std::size_t help_on();
  [[nodiscard]] bool help_with(std::uint32_t slice);
  std::size_t write_answers();
  void finish_acked(const Answer& answer) noexcept;
  std::size_t write_chunks();
  [[nodiscard]] bool write_chunk(Send& send);

  void post_record(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore, Completion& completion);
  /// The receive that waits alone is one of several from now on.
  void join_others();
  [[nodiscard]] Receive* find_receive(std::uint64_t tag) noexcept;
  void stop_waiting(Receive& receive) noexcept;
  [[nodiscard]] bool take_early(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                                Completion& completion);
  template <class Record>
  Completion& end(core::Slots<Record>& records, Record& record) noexcept {
    record.state = State::unused;
    records.give_back(record);
    --pending_;
    if constexpr (std::is_same_v<Record, Receive>)
      if (record.is_long) --shared_.traffic.receives;
    return *record.completion;
  }
  void finish(Receive& receive, std::uint64_t bytes, std::uint64_t tag) noexcept;
  void finish(Send& send) noexcept;
  void fail_all();

  Shared shared_;
  long process_;
  std::size_t place_;
  std::uint32_t number_;
  PeerSegment peer_;
  PeerMemory peer_memory_;
  Mapping out_memory_;
  Mapping in_memory_;
  WayCounts sent_;  ///< the last ways beside what each message changes
  RingWriter out_;
  std::optional<StreamReader> stream_;  ///< once the peer has made its ring
  RingReader* in_ = nullptr;            ///< the stream's end of that
  RemoteDoorbell peer_doorbell_;

  std::size_t pending_ = 0;  ///< receives and long sends
  LoneReceive lone_;         ///< then waiting_ and early_ are empty
  core::Slots<Receive> receives_;
  core::Slots<Send> sends_;
  std::list<Receive*> waiting_;  ///< receives without a message, in the order of their posts
  std::list<Early> early_;       ///< in the order of their arrival
  std::vector<Reading> readings_;
  Divided division_;
  std::optional<Reading> awaited_;  ///< of which only the sender's part is missing
  std::optional<Help> help_;
  std::deque<Answer> answers_;           ///< that found no room
  std::vector<std::uint32_t> outgoing_;  ///< cleared sends
  std::uint32_t retractions_ = 0;        ///< of the peer's messages, of which it has told
  bool refused_ = false;                 ///< a post, since the last that was not
  bool peer_reads_ = true;               ///< what is announced, without asking for the bytes
  MessageHistory history_;
  std::string end_;  ///< not empty: the peer has closed, or its process has ended
};

}  // namespace fab::local
