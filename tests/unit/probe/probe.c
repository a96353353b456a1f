/* Calls a function of another object by its name and, unless it hides it, one of its own. */
#include <stdlib.h>

#ifdef FAB_TEST_HIDES
#define OWN __attribute__((visibility("hidden"), noinline))
#else
#define OWN __attribute__((visibility("default"), noinline))
#endif

OWN int fab_test_own(const char *text) { return atoi(text); }
__attribute__((visibility("hidden"), used)) int fab_test_caller(const char *text) { return fab_test_own(text) + 1; }
