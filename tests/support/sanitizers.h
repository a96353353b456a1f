// Which sanitizer the tests are built with. They take many times as long with one, and do less then.
#pragma once

// GCC 12 and Clang tell it in different ways.
#if defined(__has_feature)
#define FAB_TEST_HAS_FEATURE(feature) __has_feature(feature)
#else
#define FAB_TEST_HAS_FEATURE(feature) 0
#endif

namespace fab::test {

#if defined(__SANITIZE_ADDRESS__) || FAB_TEST_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || FAB_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace fab::test

#undef FAB_TEST_HAS_FEATURE
