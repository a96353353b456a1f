#include "providers/local/segment.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "core/base/anonymous_file.h"
#include "fab/error.h"

namespace fab::local {

bool has_ended(long process) noexcept {
  const Descriptor watched(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!watched.open()) return errno == ESRCH;
  pollfd end{watched.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

void fail_at_process(long process, const std::string& what) {
  const int error = errno;
  if (has_ended(process))
    throw Error(Errc::unreachable, fmt::format("it has ended (it was process {} of this node)", process));
  if (error == ENOENT || error == EINVAL || error == EIDRM)
    throw Error(Errc::unreachable, fmt::format("it no longer uses fab (its process {} of this node is alive, but "
                                               "{} is gone)",
                                               process, what));
  throw Error(Errc::unreachable, fmt::format("shared memory: {}: {}", what, std::strerror(error)));
}

namespace {

[[noreturn]] void fail(Errc code, const std::string& what) {
  throw Error(code, fmt::format("shared memory: {}: {}", what, std::strerror(errno)));
}

[[noreturn]] void refuse_user(const std::string& what, unsigned user) {
  throw Error(Errc::unreachable, fmt::format("shared memory: {} belongs to user {}, not to this one ({})", what, user,
                                             static_cast<unsigned>(::geteuid())));
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) fail(Errc::no_resources, "getrandom");
  return number;
}

std::uint64_t page_bytes() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::uint64_t whole_pages(std::uint64_t bytes) noexcept {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

template <class Number>
void read(std::string_view& text, Number& number) {
  const std::string_view word = text.substr(0, text.find(' '));
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size())
    throw Error(Errc::mismatch, "its address is not one of this version of fab's shared memory");
  text.remove_prefix(std::min(word.size() + 1, text.size()));
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Mapping::Mapping(int fd, std::uint64_t offset, std::size_t bytes, int protection) : bytes_(bytes) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) fail(Errc::no_resources, fmt::format("mmap of {} bytes", bytes));
  memory_ = memory;
}

Mapping Mapping::attach(int id) {
  void* memory = ::shmat(id, nullptr, 0);
  if (memory == reinterpret_cast<void*>(-1)) fail(Errc::no_resources, fmt::format("shmat of segment {}", id));
  Mapping mapping;
  mapping.memory_ = memory;
  mapping.kind_ = Kind::attached;
  return mapping;
}

Mapping Mapping::part_of(const Mapping& whole, std::uint64_t offset) noexcept {
  Mapping mapping;
  mapping.memory_ = whole.as<std::byte>() + offset;
  mapping.kind_ = Kind::part;
  return mapping;
}

Mapping::Mapping(Mapping&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      kind_(std::exchange(other.kind_, Kind::file)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(kind_, other.kind_);
  return *this;
}

Mapping::~Mapping() {
  if (memory_ == nullptr) return;
  if (kind_ == Kind::file) ::munmap(memory_, bytes_);
  if (kind_ == Kind::attached) ::shmdt(memory_);
}

std::size_t SegmentHead::bytes(std::size_t places) noexcept {
  return whole_pages(sizeof(SegmentHead) + places * sizeof(std::atomic<std::uint64_t>));
}

std::size_t SegmentHead::common_bytes() noexcept { return whole_pages(sizeof(CommonRing)); }

namespace {

/// What each rank of the node maps of another one's segment.
std::size_t mapped_bytes(std::size_t places) noexcept {
  return SegmentHead::bytes(places) + SegmentHead::common_bytes() + SharedArea::kBytes;
}

}  // namespace

std::string SegmentName::text() const {
  return fmt::format("{} {} {} {} {} {} {}", process, descriptor, memory, doorbell, cookie, place, node);
}

SegmentName SegmentName::parse(std::string_view text) {
  SegmentName name;
  read(text, name.process);
  read(text, name.descriptor);
  read(text, name.memory);
  read(text, name.doorbell);
  read(text, name.cookie);
  read(text, name.place);
  name.node = text;
  return name;
}

std::string this_node() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> processes{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", processes.data(), processes.size() - 1);
  return boot + (length > 0 ? "/" + std::string(processes.data(), static_cast<std::size_t>(length)) : "");
}

// Its file has room for all rings from the beginning, as pages cost nothing before they are touched: so it never grows
// into a limit.
Segment::Segment(std::size_t places) : used_bytes_(mapped_bytes(places)) {
  const std::uint64_t bytes = used_bytes_ + places * whole_pages(sizeof(Ring));
  core::AnonymousFile file = core::make_anonymous_file("fab", bytes);
  file_ = Descriptor(file.descriptor);
  refusal_ = std::move(file.refusal);
  if (!file_.open()) make_next_best(bytes);
  if (file_.open()) head_ = Mapping(file_.get(), 0, used_bytes_);
  head().magic = SegmentHead::kMagic;
  head().cookie = random_number();
  head().numa_node = this_numa_node();
}

void Segment::make_next_best(std::uint64_t bytes) {
  if (make_memory(bytes)) return;
  core::AnonymousFile file = core::make_reserved_file(bytes);
  file_ = Descriptor(file.descriptor);
  if (!file_.open()) throw Error(Errc::no_resources, fmt::format("shared memory: {}; {}", refusal_, file.refusal));
}

// Linux lets others attach a segment that is to be removed for as long as a process has it attached.
bool Segment::make_memory(std::uint64_t bytes) {
  memory_ = ::shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_NORESERVE | S_IRUSR | S_IWUSR);
  if (memory_ < 0) {
    refusal_ += fmt::format("; shmget of {} bytes: {}", bytes, std::strerror(errno));
    return false;
  }
  try {
    whole_ = Mapping::attach(memory_);
  } catch (...) {
    ::shmctl(memory_, IPC_RMID, nullptr);
    throw;
  }
  if (::shmctl(memory_, IPC_RMID, nullptr) != 0) fail(Errc::no_resources, "shmctl");
  head_ = Mapping::part_of(whole_, 0);
  return true;
}

Mapping Segment::make_ring(std::size_t place, NumaNode of_reader) {
  const std::uint64_t bytes = whole_pages(sizeof(Ring));
  const std::uint64_t offset = std::exchange(used_bytes_, used_bytes_ + bytes);
  Mapping ring = whole_.mapped() ? Mapping::part_of(whole_, offset) : Mapping(file_.get(), offset, sizeof(Ring));
  place_on(of_reader, ring.as<void>(), bytes);
  head().ring_offsets[place].store(offset, std::memory_order_release);
  return ring;
}

PeerSegment::PeerSegment(const SegmentName& name, std::size_t places) {
  const std::size_t bytes = mapped_bytes(places);
  if (name.descriptor >= 0)
    open_file(name, bytes);
  else
    open_memory(name, bytes);
  if (head().magic != SegmentHead::kMagic || head().cookie != name.cookie)
    throw Error(Errc::unreachable,
                fmt::format("the shared memory of process {} belongs to another rank", name.process));
}

void PeerSegment::open_file(const SegmentName& name, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.descriptor);
  file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file_.open()) fail_at_process(name.process, path);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(Errc::unreachable, path);
  if (status.st_uid != ::geteuid()) refuse_user(path, status.st_uid);
  if (static_cast<std::size_t>(status.st_size) < bytes)
    throw Error(Errc::unreachable, fmt::format("shared memory: {} is no segment of this job", path));
  head_ = Mapping(file_.get(), 0, bytes);
}

void PeerSegment::open_memory(const SegmentName& name, std::size_t bytes) {
  const std::string segment = fmt::format("System V segment {}", name.memory);
  shmid_ds status{};
  if (::shmctl(name.memory, IPC_STAT, &status) != 0) fail_at_process(name.process, segment);
  if (status.shm_perm.cuid != ::geteuid()) refuse_user(segment, status.shm_perm.cuid);
  if (status.shm_segsz < bytes)
    throw Error(Errc::unreachable, fmt::format("shared memory: {} is no segment of this job", segment));
  whole_ = Mapping::attach(name.memory);
  head_ = Mapping::part_of(whole_, 0);
}

bool PeerSegment::has_ring(std::size_t place) const noexcept {
  return head().ring_offsets[place].load(std::memory_order_acquire) != 0;
}

Mapping PeerSegment::map_ring(std::size_t place) const {
  const std::uint64_t offset = head().ring_offsets[place].load(std::memory_order_acquire);
  if (whole_.mapped()) return Mapping::part_of(whole_, offset);
  return {file_.get(), offset, sizeof(Ring)};
}

}  // namespace fab::local
