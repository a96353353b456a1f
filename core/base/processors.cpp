#include "core/base/processors.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace fab::core {

namespace {

constexpr int kMostProcessors = 1 << 20;  // of a mask; no kernel has as many

/// Reads a number and takes it off the text.
bool take(std::string_view& text, int& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{} && number >= 0;
}

std::string first_line(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// The kernel refuses a mask that is shorter than its own.
int of_thread() {
  for (int most = 1024; most <= kMostProcessors; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(most)),
                                                               [](cpu_set_t* which) { CPU_FREE(which); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    if (!set) return 1;
    if (::sched_getaffinity(0, bytes, set.get()) == 0) return std::max(1, CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) return 1;
  }
  return 1;
}

/// How many the set of processors at that path leaves; 0: there is no such set.
int of_set(const std::string& path) {
  for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"})
    for (const char* file : {"/cpuset.cpus.effective", "/cpuset.effective_cpus"})
      if (const int count = count_listed(first_line(folder + path + file)); count > 0) return count;
  return 0;
}

/// A container may show its own set at a shorter path than the kernel names.
int of_own_set() {
  std::string path = first_line("/proc/self/cpuset");
  if (!path.starts_with('/') || path == "/") path.clear();
  int count = of_set(path);
  while (count == 0 && !path.empty()) {
    path.erase(path.rfind('/'));
    count = of_set(path);
  }
  return count;
}

/// Of the first processor: what stands behind the field's colon. Empty: it has no such field.
std::string_view field_of_first(std::string_view cpuinfo, std::string_view field) {
  cpuinfo = cpuinfo.substr(0, cpuinfo.find("\n\n"));
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(line.size() + 1, cpuinfo.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(field)) continue;
    if (line.substr(field.size(), colon - field.size()).find_first_not_of(" \t") != std::string_view::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
  }
  return {};
}

int online() { return std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN))); }

int of_node() {
  const int set = of_own_set();
  return set > 0 ? set : online();
}

}  // namespace

int count_listed(std::string_view list) noexcept {
  int count = 0;
  while (true) {
    int first = 0;
    if (!take(list, first)) return 0;
    int last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      if (!take(list, last) || last < first) return 0;
    }
    count += last - first + 1;
    if (list.empty()) return count;
    if (!list.starts_with(',')) return 0;
    list.remove_prefix(1);
  }
}

Processors count_processors() {
  static const Processors processors{of_thread(), of_node(), online()};
  return processors;
}

std::string processor_kind_in(std::string_view cpuinfo) {
  // The fields of x86, then those of ARM.
  constexpr std::pair<std::string_view, std::string_view> kFields[] = {{"vendor_id", ""},
                                                                       {"cpu family", "family "},
                                                                       {"model", "model "},
                                                                       {"CPU implementer", "implementer "},
                                                                       {"CPU part", "part "}};
  std::string kind;
  for (const auto& [field, name] : kFields) {
    const std::string_view value = field_of_first(cpuinfo, field);
    if (value.empty()) continue;
    if (!kind.empty()) kind += ", ";
    kind.append(name).append(value);
  }
  return kind;
}

std::string processor_kind() {
  std::ifstream file("/proc/cpuinfo");
  return processor_kind_in(std::string{std::istreambuf_iterator<char>(file), {}});
}

}  // namespace fab::core
