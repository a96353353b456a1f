#include "providers/local/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "fab/error.h"

namespace fab::local {

namespace {

[[noreturn]] void fail(Errc code, const std::string& what) {
  throw Error(code, fmt::format("shared memory: {}: {}", what, std::strerror(errno)));
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

Mapping::Mapping(Mapping&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

std::size_t SegmentHead::bytes(std::size_t places) noexcept {
  return whole_pages(sizeof(SegmentHead) + places * sizeof(std::atomic<std::uint64_t>));
}

std::string SegmentName::text() const {
  return fmt::format("{} {} {} {} {} {}", process, descriptor, bell, cookie, place, node);
}

SegmentName SegmentName::parse(std::string_view text) {
  SegmentName name;
  read(text, name.process);
  read(text, name.descriptor);
  read(text, name.bell);
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

Segment::Segment(std::size_t places) : file_(::memfd_create("fab", MFD_CLOEXEC)) {
  if (!file_.open()) fail(Errc::no_resources, "memfd_create");
  if (::fchmod(file_.get(), S_IRUSR | S_IWUSR) != 0) fail(Errc::no_resources, "fchmod");
  bytes_ = SegmentHead::bytes(places);
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) fail(Errc::no_resources, "ftruncate");
  head_ = Mapping(file_.get(), 0, bytes_);
  head().magic = SegmentHead::kMagic;
  head().cookie = random_number();
}

Mapping Segment::make_ring(std::size_t place) {
  const std::uint64_t offset = bytes_;
  const std::uint64_t bytes = whole_pages(sizeof(Ring));
  if (::ftruncate(file_.get(), static_cast<off_t>(offset + bytes)) != 0)
    fail(Errc::no_resources, fmt::format("ftruncate to {} bytes", offset + bytes));
  bytes_ += bytes;
  Mapping ring(file_.get(), offset, sizeof(Ring));
  head().ring_offsets[place].store(offset, std::memory_order_release);
  return ring;
}

PeerSegment::PeerSegment(const SegmentName& name, std::size_t places) {
  const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.descriptor);
  file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file_.open()) fail(Errc::unreachable, path);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(Errc::unreachable, path);
  if (status.st_uid != ::geteuid())
    throw Error(Errc::unreachable, fmt::format("shared memory: {} belongs to user {}, not to this one ({})", path,
                                               status.st_uid, ::geteuid()));
  const std::size_t bytes = SegmentHead::bytes(places);
  if (static_cast<std::size_t>(status.st_size) < bytes)
    throw Error(Errc::unreachable, fmt::format("shared memory: {} is no segment of this job", path));
  head_ = Mapping(file_.get(), 0, bytes);
  if (head().magic != SegmentHead::kMagic || head().cookie != name.cookie)
    throw Error(Errc::unreachable, fmt::format("shared memory: {} is another process's", path));
}

bool PeerSegment::has_ring(std::size_t place) const noexcept {
  return head().ring_offsets[place].load(std::memory_order_acquire) != 0;
}

Mapping PeerSegment::map_ring(std::size_t place) const {
  return {file_.get(), head().ring_offsets[place].load(std::memory_order_acquire), sizeof(Ring)};
}

}  // namespace fab::local
