// Values that the ranks of a job ask each other for: the store's work where no launcher serves it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/bootstrap/carried_message.h"
#include "core/bootstrap/carrier.h"
#include "core/bootstrap/store.h"

namespace fab {

/// A rank keeps its own values, and those of ranks that it asked or that asked it: memory grows with the neighbours.
///
/// Messages move in drive() alone, and a rank answers only when it drives. So an ask brings all that its sender has
/// published. Of two ranks that exchange with each other, one that has got the other's value has then been asked or
/// has asked: if it asked, the other one has its values as well. So a rank whose exchange is complete may stop driving:
/// no rank that it exchanged with waits for a value of its.
///
/// All functions but part() and end() may be called from any thread.
class CarriedValues {
 public:
  using Fetched = Store::Fetched;

  CarriedValues(Rank self, int size, std::unique_ptr<Carrier> carrier);

  /// See Store for these three. None of them uses the carrier.
  void publish(const std::string& key, std::string_view value);
  void fetch(Rank rank, const std::string& key, Fetched done);
  void stop_fetching() noexcept;

  /// Sends, receives and answers what there is; nothing while another thread does, or this one is in here already.
  /// Where the carrier fails, all fetches end with its reason, now and later.
  void drive() noexcept;
  /// Whether a message is to be sent, or an answer awaited: then drive() is urgent. One atomic load.
  [[nodiscard]] bool is_urgent() const noexcept { return urgent_.load(std::memory_order_relaxed); }

  /// One step of this rank's taking leave, which all ranks do; call it until it returns true: all ranks have come then.
  /// Others' asks are answered up to then, and those for what this rank has not published are refused. This rank first
  /// waits for what it has asked for, so that no message is on its way in the end, or comes `at_once`: a rank that
  /// waited for ever would keep all others. Also true where the carrier fails at it.
  [[nodiscard]] bool part(bool at_once) noexcept;
  /// Ends the carrier, and so all fetches.
  void end() noexcept;

 private:
  using Name = std::pair<Rank, std::string>;  ///< a rank, and a key
  struct Outgoing {
    Rank to;
    std::string message;
  };
  /// A fetch's end, called without the lock.
  struct Ended {
    Fetched done;
    std::optional<std::string> value;
    std::string reason;
  };
  class Turn;

  void carry(std::vector<Ended>& ended);
  void handle(const Carrier::Arrived& arrived, std::vector<Ended>& ended);
  void learn(const Name& name, const std::optional<std::string>& value, const std::string& reason,
             std::vector<Ended>& ended) FAB_REQUIRES(mutex_);
  void answer(const Name& ask) FAB_REQUIRES(mutex_);
  void end_all(const std::string& reason, std::vector<Ended>& ended) FAB_REQUIRES(mutex_);
  void fail(const std::string& reason) noexcept;
  void look_whether_urgent() FAB_REQUIRES(mutex_);
  [[nodiscard]] std::vector<Outgoing> take_outgoing();
  void begin_parting();
  [[nodiscard]] bool is_answered();
  [[nodiscard]] bool meet();

  const Rank self_;
  const int size_;
  std::unique_ptr<Carrier> carrier_;  ///< belongs to the thread whose turn it is
  std::atomic<bool> taken_{false};    ///< the turn
  std::atomic<bool> urgent_{false};

  core::Mutex mutex_;
  std::map<std::string, std::string> own_ FAB_GUARDED_BY(mutex_);
  std::map<Name, std::string> told_ FAB_GUARDED_BY(mutex_);   ///< others' values
  std::multimap<Name, Fetched> open_ FAB_GUARDED_BY(mutex_);  ///< fetches
  std::vector<Name> waiting_ FAB_GUARDED_BY(mutex_);          ///< others' asks for what is not published yet
  std::vector<Outgoing> outgoing_ FAB_GUARDED_BY(mutex_);
  int unanswered_ FAB_GUARDED_BY(mutex_) = 0;  ///< own asks
  bool parting_ FAB_GUARDED_BY(mutex_) = false;
  std::string ended_ FAB_GUARDED_BY(mutex_);  ///< why nothing can be fetched any more, or empty
  bool failed_ FAB_GUARDED_BY(mutex_) = false;
};

/// A store of a rank whose values are carried so. `nodes`: what Store::nodes returns. The store's leave() leaves
/// `values` as they are, so that others' asks are answered until it parts. It has no fence(), which throws: MPI brings
/// the ranks together.
[[nodiscard]] std::unique_ptr<Store> open_carried_store(std::shared_ptr<CarriedValues> values, JobInfo job,
                                                        std::function<std::vector<int>()> nodes);

}  // namespace fab
