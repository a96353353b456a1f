// A program whose large blocks lie in fab's memory under fab_run --heap, and which uses them as programs do: malloc and
// its kin, containers, threads, fork(), system(), exchanges. Usage: heap on|off, whether they do.
#include <malloc.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kLarge = 1 << 20;
bool on = false;
std::atomic<int> failures{0};

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

/// Hidden from the compiler, which may do without allocations that it understands.
template <class T>
T* opaque(T* pointer) {
  asm volatile("" : "+r"(pointer)::"memory");
  return pointer;
}

bool is_fabs(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && wanted >= begin && wanted < end)
      return line.find("fab-memory") != std::string::npos;
  }
  return false;
}

char* filled(std::size_t bytes, int value) {
  auto* const block = static_cast<char*>(opaque(std::malloc(bytes)));
  std::memset(block, value, bytes);
  return block;
}

/// Each byte is as the one before it.
bool holds(const char* block, std::size_t bytes, int value) {
  return bytes == 0 || (block[0] == static_cast<char>(value) && std::memcmp(block, block + 1, bytes - 1) == 0);
}

void check_places() {
  char* const large = filled(kLarge, 1);
  char* const small = filled(1000, 1);
  std::vector<double> numbers(kLarge / sizeof(double), 1.0);
  expect(is_fabs(large) == on, "where malloc's large blocks lie");
  expect(is_fabs(numbers.data()) == on, "where new's large blocks lie");
  expect(!is_fabs(small), "where small blocks lie");
  expect(malloc_usable_size(large) >= kLarge && malloc_usable_size(small) >= 1000, "malloc_usable_size");
  std::free(small);
  errno = 17;
  std::free(large);
  std::free(nullptr);
  expect(errno == 17, "errno after free");
}

void check_zeros() {
  for (const std::size_t bytes : {kLarge, 8 * kLarge}) {
    std::free(filled(bytes, 77));
    auto* const zeros = static_cast<char*>(opaque(std::calloc(bytes / 8, 8)));
    expect(holds(zeros, bytes, 0), "calloc's zeros in memory that was used before");
    std::free(zeros);
  }
  const volatile std::size_t half = SIZE_MAX / 2;
  expect(opaque(std::calloc(half, 4)) == nullptr, "calloc of more than there can be");
}

void check_growth() {
  auto* block = static_cast<char*>(nullptr);
  std::size_t bytes = 0;
  for (const std::size_t next : {std::size_t{100}, std::size_t{70'000}, kLarge, 3 * kLarge, 2 * kLarge,
                                 std::size_t{80'000}, std::size_t{50}, 50 * kLarge, std::size_t{64} << 10}) {
    block = static_cast<char*>(opaque(std::realloc(block, next)));
    expect(holds(block, std::min(bytes, next), 5), "realloc keeps what was there");
    std::memset(block, 5, next);
    bytes = next;
  }
  expect(opaque(std::realloc(block, 0)) == nullptr, "realloc to nothing");
}

void check_alignment() {
  for (const std::size_t alignment : {64ul, 4096ul, 2ul << 20}) {
    void* block = nullptr;
    expect(::posix_memalign(&block, alignment, kLarge) == 0, "posix_memalign");
    expect(reinterpret_cast<std::uintptr_t>(block) % alignment == 0, "its alignment");
    std::free(block);
    block = std::aligned_alloc(alignment, 2 * kLarge);
    expect(block != nullptr && reinterpret_cast<std::uintptr_t>(block) % alignment == 0, "aligned_alloc");
    std::free(block);
    block = ::memalign(4096, 100);
    expect(block != nullptr, "a small page");
    std::free(block);
  }
  void* none = nullptr;
  expect(::posix_memalign(&none, 24, kLarge) == EINVAL && none == nullptr, "posix_memalign of no power of two");
}

void check_many() {
  std::vector<char*> blocks;  // more than a process may have files
  for (int i = 0; i < 1500; ++i) blocks.push_back(static_cast<char*>(opaque(std::malloc(40 * kLarge))));
  expect(std::count(blocks.begin(), blocks.end(), nullptr) == 0, "1500 blocks of 40 MiB");
  const int file = ::memfd_create("another", 0);
  expect(file >= 0, "there are descriptors left for the program");
  ::close(file);
  for (char* each : blocks) std::free(each);
}

void check_threads() {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      std::minstd_rand random(static_cast<unsigned>(number));
      std::vector<std::pair<char*, std::size_t>> blocks;
      for (int i = 0; i < 400; ++i) {
        const std::size_t bytes = 50'000 + random() % 200'000;
        blocks.emplace_back(filled(bytes, number + 1), bytes);
        if (blocks.size() < 10) continue;
        const auto victim = blocks.begin() + static_cast<std::ptrdiff_t>(random() % blocks.size());
        expect(holds(victim->first, victim->second, number + 1), "a thread's block is its own");
        std::free(victim->first);
        blocks.erase(victim);
      }
      for (const auto& [block, bytes] : blocks) std::free(block);
    });
  for (std::thread& each : threads) each.join();
}

/// In a child, whose exit status says whether it is so; `meanwhile` runs in the parent.
void expect_in_child(const char* what, const std::function<bool()>& is_right, const std::function<void()>& meanwhile) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(is_right() ? 0 : 1);
  meanwhile();
  int status = 0;
  expect(child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}

void check_forks() {
  char* const block = filled(20 * kLarge, 3);
  auto* const untouched = static_cast<char*>(opaque(std::calloc(8 * kLarge, 1)));
  int told[2];
  expect(::pipe(told) == 0, "pipe");
  const auto wait_for_parent = [&] {
    char word = 0;
    return ::read(told[0], &word, 1) == 1;
  };
  const auto write_and_tell = [&] {
    std::memset(block, 4, 20 * kLarge);
    expect(::write(told[1], "x", 1) == 1, "write");
  };
  expect_in_child(
      "a child has what was there at the fork",
      [&] { return wait_for_parent() && holds(block, 20 * kLarge, 3) && holds(untouched, 8 * kLarge, 0); },
      write_and_tell);
  expect_in_child(
      "a grandchild, too",
      [&] {
        std::memset(block, 9, kLarge);
        const pid_t grandchild = ::fork();
        if (grandchild == 0) ::_exit(holds(block, kLarge, 9) && holds(block + kLarge, kLarge, 4) ? 0 : 1);
        int status = 1;
        return ::waitpid(grandchild, &status, 0) == grandchild && status == 0;
      },
      [] {});
  expect(holds(block, 20 * kLarge, 4), "what children write is theirs");
  expect_in_child(
      "a child frees, and allocates",
      [&] {
        std::free(block);
        std::free(untouched);
        for (int i = 0; i < 20; ++i) std::free(filled(kLarge, i));
        char* const own = filled(kLarge, 6);
        return is_fabs(own) == on && holds(own, kLarge, 6);
      },
      [] {});
  expect(holds(block, 20 * kLarge, 4), "what children free is theirs");
  expect(std::system("true") == 0, "system");
  ::close(told[0]);
  ::close(told[1]);
  std::free(untouched);
  std::free(block);
}

/// Round a ring, from and to memory of malloc.
void exchange(int round) {
  int ranks = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  int rank = 0;
  MPI_Comm_rank(ring, &rank);
  const int bytes = static_cast<int>(2 * kLarge);
  char* const mine = filled(2 * static_cast<std::size_t>(bytes), 10 * rank + round);
  char* const theirs = filled(2 * static_cast<std::size_t>(bytes), 0);
  expect(MPI_Neighbor_alltoall(mine, bytes, MPI_CHAR, theirs, bytes, MPI_CHAR, ring) == MPI_SUCCESS, "the exchange");
  expect(holds(theirs, static_cast<std::size_t>(bytes), 10 * ((rank + ranks - 1) % ranks) + round), "from the left");
  expect(holds(theirs + bytes, static_cast<std::size_t>(bytes), 10 * ((rank + 1) % ranks) + round), "from the right");
  std::free(theirs);
  std::free(mine);
  MPI_Comm_free(&ring);
}

/// MPI_Alloc_mem gives fab's memory with and without the heap, also a few bytes of it.
void check_memory_of_mpi() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const std::size_t numbers : {std::size_t{1}, kLarge / sizeof(int)}) {
    int* memory = nullptr;
    const auto bytes = static_cast<MPI_Aint>(numbers * sizeof(int));
    expect(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory) == MPI_SUCCESS && is_fabs(memory), "MPI_Alloc_mem");
    std::fill_n(memory, numbers, 3);
    MPI_Allreduce(MPI_IN_PLACE, memory, static_cast<int>(numbers), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(memory[0] == 3 * ranks && memory[numbers - 1] == 3 * ranks, "a sum in MPI's memory");
    expect(MPI_Free_mem(memory) == MPI_SUCCESS, "MPI_Free_mem");
  }
  void* none = nullptr;
  expect(MPI_Alloc_mem(0, MPI_INFO_NULL, &none) == MPI_SUCCESS, "MPI_Alloc_mem of no bytes");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(MPI_Alloc_mem(-1, MPI_INFO_NULL, &none) != MPI_SUCCESS, "MPI_Alloc_mem of a negative size");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  on = argc > 1 && std::strcmp(argv[1], "on") == 0;
  char* const before = filled(kLarge, 8);
  MPI_Init(&argc, &argv);
  for (int round = 0; round < 5; ++round) exchange(round);
  check_places();
  check_zeros();
  check_growth();
  check_alignment();
  check_many();
  check_threads();
  check_forks();
  check_memory_of_mpi();
  for (int round = 0; round < 5; ++round) exchange(round);
  MPI_Finalize();
  expect(holds(before, kLarge, 8), "a block from before MPI_Init");
  std::free(before);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
