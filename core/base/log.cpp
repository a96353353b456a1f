#include "core/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "core/base/quoted.h"

namespace fab {

void Log::emit(LogLevel level, std::string_view text) const {
  const std::string rank = rank_ < 0 ? "-" : std::to_string(rank_);
  // Lists come with a line for each entry.
  std::string one_line(text);
  std::ranges::replace(one_line, '\n', ' ');
  const std::string line = fmt::format("fab[{}] {}: {}\n", rank, name_of(level), escaped(one_line));

  // One write(2) per line: the launcher mixes the output of several ranks line by line then.
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // stderr is closed or full: there is no other place to tell it
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace fab
