// The fixture of the tests of this folder: messages between the ranks of one process, over a network that is as unkind
// as a provider may be.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "core/point/point_to_point.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test::point {

inline std::optional<Topology> no_topology(Rank) { return std::nullopt; }

/// A send or receive of a test, with its memory.
struct Operation {
  core::Communicator* communicator = nullptr;
  std::vector<std::byte> memory{};
  core::Pending* pending = nullptr;
  Status status{};
  MessageInfo message{};

  [[nodiscard]] bool done() const { return pending == nullptr || pending->done(); }
  /// Lets go of what is done.
  void end();
};

core::PointToPoint& point_to_point(core::Communicator& communicator) FAB_REQUIRES(core::engine_lock);
void send(Operation& operation, Destination to, SendMode mode = SendMode::standard);
void receive(Operation& operation, Source from);

/// Bytes that tell one message from another.
[[nodiscard]] std::vector<std::byte> data(std::uint32_t seed, std::size_t bytes);

struct Matching {
  NetworkOptions network;
  const char* name;
};
void PrintTo(const Matching& setting, std::ostream* out);
inline const Matching kDirected{{}, "directed receives"};
inline const Matching kUndirected{{.directed_receive = false, .iov_limit = 1, .tag_mask = (1ull << 48) - 1},
                                  "no directed receives, 48 bits of tag"};
inline const Matching kBlocking{{.directed_receive = false, .early_messages_block = true}, "early messages block"};
inline const auto kNetworks = testing::Values(kDirected, kUndirected, kBlocking);

class PointToPoint : public testing::TestWithParam<Matching> {
 protected:
  static NetworkOptions options(std::uint32_t seed);
  template <class Done>
  static void progress_until(InProcessJob& job, Done&& done, int turns = 20'000) {
    for (int turn = 0; turn < turns && !done(); ++turn) job.progress();
    ASSERT_TRUE(done()) << "stuck";
  }
  static void progress(InProcessJob& job, int turns);
  /// Nothing is left but the receives that wait for any message.
  static void expect_nothing_left(InProcessJob& job, std::size_t ranks_that_listen);
};

}  // namespace fab::test::point
