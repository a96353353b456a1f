// What the subcommands about messages from rank to rank have in common.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "perf/command.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/lane.h"
#include "support/table.h"
#include "support/thread_team.h"

namespace perf {

struct MessageOptions : bench::ExchangeOptions {
  bool explain = false;
};

/// --threads, --engines, --explain, and the options of a contest.
void add_message_options(CLI::App& app, MessageOptions& options, const char* sizes_help);

/// The memory of one thread, with data that can be checked.
class MessageBuffers {
 public:
  /// Room for so many messages each way.
  MessageBuffers(std::size_t sent, std::size_t received, std::size_t bytes, bench::MemoryKind memory);

  [[nodiscard]] std::span<const std::byte> sent(std::size_t message) const { return {at(sent_, message), bytes_}; }
  [[nodiscard]] std::span<std::byte> received(std::size_t message) { return {at(received_, message), bytes_}; }
  /// Fills what is sent with what only this rank, thread and message have, and spoils what is received.
  void fill(int rank, int thread);
  /// Throws std::runtime_error, naming `what`, unless received message `mine` is what `sender` filled in as message
  /// `its`.
  void check(std::size_t mine, int sender, int thread, std::size_t its, const std::string& what);

 private:
  [[nodiscard]] std::byte* at(const bench::Memory& memory, std::size_t message) const {
    return memory.get() + message * bytes_;
  }

  std::size_t bytes_;
  std::size_t messages_sent_;
  std::size_t messages_received_;
  bench::Memory sent_;
  bench::Memory received_;
};

/// fab and the MPI library, each with a lane for each thread.
class MessageContest {
 public:
  explicit MessageContest(const MessageOptions& options);

  /// What one thread does in one call, and what is looked at after it.
  using Act = std::function<void(bench::Lane& lane, int thread)>;
  using Look = std::function<void(int thread, const std::string& what)>;
  /// Of one size. `prepare` comes ahead of the checked call. Collective.
  [[nodiscard]] std::vector<bench::Result> run(bench::Form form, const Act& act, const std::function<void()>& prepare,
                                               const Look& look);
  [[nodiscard]] bench::FabPath path() const { return fab_.path(); }
  /// With --explain: how the messages of the size that was timed last left, as the statistics have counted them; where
  /// nothing was counted, how fab's rules let them meet their receives.
  [[nodiscard]] std::string way(std::size_t bytes) const;
  /// Adds "way", and "protocol", by the rules.
  void add_way(bench::Row& row, std::size_t bytes) const;

 private:
  const MessageOptions& options_;
  std::set<std::string> ways_;  ///< that were taken
  bench::ThreadTeam team_;
  bench::FabLanes fab_;
  std::optional<bench::Lanes> mpi_;
};

/// The lines above a table of messages.
void print_message_head(const char* command, const MessageOptions& options, const Job& job, const bench::FabPath& path,
                        const std::string& what, const std::vector<bench::Result>& results);

}  // namespace perf
