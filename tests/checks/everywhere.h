// What nearly every source includes by way of other headers. tests/run parses it once for all of them, when Clang looks
// at each source by itself; more headers would hide missing includes.
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>
