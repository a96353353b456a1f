#include "perf/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "support/at_once.h"
#include "support/explained_way.h"
#include "support/filling.h"
#include "support/mpi_program.h"

namespace perf {
namespace {

constexpr int kSpoiledByte = 0xdb;

/// Of each thread and message another.
std::size_t place_of(int thread, std::size_t message, std::size_t byte) {
  return bench::first_place(thread) + message * 4099 + byte;
}

}  // namespace

void add_message_options(CLI::App& app, MessageOptions& options, const char* sizes_help) {
  bench::add_run_options(app, options, sizes_help);
  bench::add_contest_options(app, options);
  bench::add_thread_options(app, options.threads);
  app.add_flag("--explain", options.explain, "Tell which ways the messages of each size took");
}

MessageBuffers::MessageBuffers(std::size_t sent, std::size_t received, std::size_t bytes, bench::MemoryKind memory)
    : bytes_(bytes),
      messages_sent_(sent),
      messages_received_(received),
      sent_(bench::allocate(memory, std::max<std::size_t>(1, sent * bytes))),
      received_(bench::allocate(memory, std::max<std::size_t>(1, received * bytes))) {}

void MessageBuffers::fill(int rank, int thread) {
  for (std::size_t message = 0; message < messages_sent_; ++message) {
    for (std::size_t byte = 0; byte < bytes_; ++byte)
      at(sent_, message)[byte] = bench::byte_at(rank, place_of(thread, message, byte));
  }
  std::memset(received_.get(), kSpoiledByte, messages_received_ * bytes_);
}

void MessageBuffers::check(std::size_t mine, int sender, int thread, std::size_t its, const std::string& what) {
  const std::span<const std::byte> data = received(mine);
  for (std::size_t byte = 0; byte < bytes_; ++byte) {
    if (data[byte] == bench::byte_at(sender, place_of(thread, its, byte))) continue;
    throw std::runtime_error(
        fmt::format("{} of {} bytes: message {} from rank {} is wrong", what, bytes_, mine, sender));
  }
}

MessageContest::MessageContest(const MessageOptions& options)
    : options_(options), team_(options.threads.count), fab_(options.threads) {
  if (options.against == bench::Against::mpi) mpi_ = bench::mpi_lanes(options.threads.count);
}

std::vector<bench::Result> MessageContest::run(bench::Form form, const Act& act, const std::function<void()>& prepare,
                                               const Look& look) {
  std::vector<std::vector<bench::Contestant>> of_threads;
  for (int thread = 0; thread < team_.size(); ++thread) {
    const auto contestant = [&](bench::Lanes& lanes) {
      return bench::Contestant{
          .library = lanes.library,
          .form = form,
          .call = form == bench::Form::blocking ? lanes.blocking : lanes.nonblocking,
          .calls = [&act, thread, &lane = *lanes.of_thread[static_cast<std::size_t>(thread)]](int count) {
            for (int i = 0; i < count; ++i) act(lane, thread);
          }};
    };
    std::vector<bench::Contestant>& mine = of_threads.emplace_back();
    mine.push_back(contestant(fab_.lanes()));
    if (mpi_) mine.push_back(contestant(*mpi_));
  }
  const auto check = [&](const bench::Contestant& one) {
    prepare();
    bench::meet();
    one.calls(1);
    for (int thread = 0; thread < team_.size(); ++thread) look(thread, one.call);
    bench::meet();
    return true;
  };
  const std::vector<bench::Contestant> all = bench::at_once(team_, std::move(of_threads));
  if (!options_.explain) return bench::contest(all, options_, check);
  std::vector<bench::Result> results;
  ways_ = bench::ways_during([this] { return fab_.sent(); }, [&] { results = bench::contest(all, options_, check); });
  return results;
}

std::string MessageContest::way(std::size_t bytes) const {
  return ways_.empty() ? fmt::format("{}, by rule", fab_.protocol(bytes)) : bench::ways_text(ways_);
}

void MessageContest::add_way(bench::Row& row, std::size_t bytes) const {
  row["protocol"] = fab_.protocol(bytes);
  row["way"] = way(bytes);
}

void print_message_head(const char* command, const MessageOptions& options, const Job& job, const bench::FabPath& path,
                        const std::string& what, const std::vector<bench::Result>& results) {
  fmt::print("\n# {} {}: {}; MPI: {}; {} memory\n", program_name(), command, bench::job_text(options, job.ranks, path),
             bench::mpi_library(), bench::name_of(options.memory));
  for (const bench::Result& result : results) fmt::print("# {}: {}\n", result.library, result.call);
  fmt::print("# {}; mean over ranks, median of {} batches in turns\n", what, options.plan.batches);
  if (results.size() > 1)
    fmt::print("# MPI/fab: MPI's time over fab's, ratios of neighbouring batches: median (quartiles)\n");
}

}  // namespace perf
