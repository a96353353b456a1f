/* Calls a function of another object by its name and, unless it hides it, one of its own. */
#include <unistd.h>

#ifdef FAB_TEST_HIDES
#define OWN __attribute__((visibility("hidden"), noinline))
#else
#define OWN __attribute__((visibility("default"), noinline))
#endif

OWN int fab_test_own(void) { return (int)getpid(); }
__attribute__((visibility("hidden"), used)) int fab_test_caller(void) { return fab_test_own() + 1; }
