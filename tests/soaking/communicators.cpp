// Communicators that several threads of every rank make, use and free at the same time (MPI_THREAD_MULTIPLE).
//
//   fab_soak_communicators [--rounds N] [--threads T] [--without-fab 1]
//
// Without fab MPI's own exchanges are used, to tell whose fault it is when something stands still. Each thread has a
// communicator of its own, from which it makes others. Rank 0 prints a line for every tenth of the rounds and a
// summary.
#include <fab/mpi.h>
#include <fmt/core.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "soaking/measure.h"

namespace fab::test {
namespace {

struct Options {
  int rounds = 100;
  int threads = 3;
  int without_fab = 0;
};

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const int value = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--rounds")
      options.rounds = value;
    else if (std::string_view(argv[i]) == "--threads")
      options.threads = value;
    else if (std::string_view(argv[i]) == "--without-fab")
      options.without_fab = value;
    else
      throw std::invalid_argument(fmt::format("fab_soak_communicators: unknown option {}", argv[i]));
  }
  if (argc % 2 == 0 || options.rounds < 1 || options.threads < 1)
    throw std::invalid_argument("fab_soak_communicators: [--rounds N] [--threads T] [--without-fab 1]");
  return options;
}

void require(int code, const char* call) {
  if (code != MPI_SUCCESS) throw std::runtime_error(fmt::format("{} failed: {}", call, code));
}

/// What rank `from` sends in a round of a thread, in position i.
int value(int thread, int round, int from, int i) { return ((thread * 1009 + round) * 1013 + from) * 7 + i; }

/// One thread's.
class Maker {
 public:
  Maker(MPI_Comm parent, int thread, bool without_fab)
      : parent_(parent), thread_(thread), start_(without_fab ? MPI_Ineighbor_alltoall : MPI_Ineighbor_xchg) {
    require(MPI_Comm_rank(parent, &rank_), "MPI_Comm_rank");
    require(MPI_Comm_size(parent, &size_), "MPI_Comm_size");
  }

  /// Returns how many numbers came wrong.
  int round(int number) {
    constexpr int kPeriodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    require(MPI_Cart_create(parent_, 1, &size_, &kPeriodic, 0, &ring), "MPI_Cart_create");
    int wrong = exchange(ring, number, 2);
    require(MPI_Comm_dup(ring, &copy), "MPI_Comm_dup");
    wrong += exchange(copy, number, 20'000);
    wrong += exchange(ring, number, 300);
    require(MPI_Comm_free(&ring), "MPI_Comm_free");
    wrong += exchange(copy, number, 8000);
    require(MPI_Comm_free(&copy), "MPI_Comm_free");
    return wrong;
  }

 private:
  int exchange(MPI_Comm comm, int number, int count) {
    const auto block = static_cast<std::size_t>(count);
    std::vector<int> send(2 * block);
    std::vector<int> recv(2 * block, -1);
    for (int i = 0; i < 2 * count; ++i) send[static_cast<std::size_t>(i)] = value(thread_, number, rank_, i);
    MPI_Request request = MPI_REQUEST_NULL;
    require(start_(send.data(), count, MPI_INT, recv.data(), count, MPI_INT, comm, &request), "the exchange");
    require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    // One block is the other one of the next rank, the other block the one of the rank before: MPI's calls have them
    // the other way round.
    const bool by_mpi = start_ == MPI_Ineighbor_alltoall;
    const int next = (rank_ + 1) % size_;
    const int previous = (rank_ + size_ - 1) % size_;
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
      const int first = recv[static_cast<std::size_t>(i)];
      const int second = recv[static_cast<std::size_t>(count + i)];
      wrong += first != value(thread_, number, by_mpi ? previous : next, count + i) ? 1 : 0;
      wrong += second != value(thread_, number, by_mpi ? next : previous, i) ? 1 : 0;
    }
    return wrong;
  }

  MPI_Comm parent_;
  int thread_;
  int (*start_)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*);
  int rank_ = 0;
  int size_ = 0;
};

/// Open MPI (4.1) opens its topologies with the first call that needs one, and crashes or stands still where several
/// threads make that at the same time (mca_topo_base_lazy_init; --without-fab 1 shows it without this).
void open_topologies() {
  constexpr int kOne = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  require(MPI_Cart_create(MPI_COMM_SELF, 1, &kOne, &kOne, 0, &comm), "MPI_Cart_create");
  require(MPI_Comm_free(&comm), "MPI_Comm_free");
}

int run(const Options& options) {
  int rank = 0;
  require(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  open_topologies();
  std::vector<MPI_Comm> parents(static_cast<std::size_t>(options.threads));
  for (MPI_Comm& parent : parents) require(MPI_Comm_dup(MPI_COMM_WORLD, &parent), "MPI_Comm_dup");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  Usage half_way;
  for (int i = 0; i < options.threads; ++i)
    threads.emplace_back([&, i] {
      Maker maker(parents[static_cast<std::size_t>(i)], i, options.without_fab != 0);
      for (int number = 0; number < options.rounds; ++number) {
        wrong += maker.round(number);
        if (i != 0) continue;
        if (number == options.rounds / 2) half_way = measure();
        if (rank != 0 || (number + 1) * 10 / options.rounds == number * 10 / options.rounds) continue;
        fmt::print("soak: {} of {} rounds, {} wrong numbers\n", number + 1, options.rounds, wrong.load());
        std::fflush(stdout);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const Usage end = measure();
  const bool well = wrong == 0 && is_flat(half_way, end);
  if (!well || rank == 0)
    fmt::print("soak: rank {}: {} rounds of {} threads, {} wrong numbers, {} -> {} KiB, {} -> {} descriptors: {}\n",
               rank, options.rounds, options.threads, wrong.load(), half_way.resident_kib, end.resident_kib,
               half_way.descriptors, end.descriptors, well ? "well" : "NOT WELL");
  for (MPI_Comm& parent : parents) require(MPI_Comm_free(&parent), "MPI_Comm_free");
  int mine = well ? 0 : 1;
  int failed = 0;
  require(MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fab::test

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return 2;
  int result = 2;
  try {
    if (level != MPI_THREAD_MULTIPLE) throw std::runtime_error("MPI gives no MPI_THREAD_MULTIPLE");
    result = fab::test::run(fab::test::read(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return MPI_Finalize() == MPI_SUCCESS ? result : 2;
}
