// Sleeps that decide nothing.
#pragma once

#include <chrono>
#include <thread>

namespace fab::test {

/// Other threads and ranks come first, more often than not. The verdict must be the same when they do not.
inline void give_head_start(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

}  // namespace fab::test
