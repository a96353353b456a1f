/* What the files of this program share. */
#ifndef FAB_TESTS_NATIVE_C_TESTING_H
#define FAB_TESTS_NATIVE_C_TESTING_H

#include <fab/fab.h>
#include <stdio.h>

extern int failures;
extern int rank;
extern int size;

#define CHECK(condition)                                                                                    \
  do {                                                                                                      \
    if (!(condition)) {                                                                                     \
      fprintf(stderr, "rank %d, %s:%d: %s (%s)\n", rank, __FILE__, __LINE__, #condition, fab_last_error()); \
      ++failures;                                                                                           \
    }                                                                                                       \
  } while (0)
#define DO(call) CHECK((call) == FAB_SUCCESS)
/* The call is refused with this error, and a text that has these words. */
#define REFUSED(call, error, words)                   \
  do {                                                \
    CHECK((call) == (error));                         \
    CHECK(strstr(fab_last_error(), (words)) != NULL); \
  } while (0)

/* On the ring of all ranks. */
int next(void);
int previous(void);

/* An operation in its three forms; `check` looks at the result and takes it away again. */
void in_all_forms(const fab_comm *comm, fab_operation operation, void (*check)(void *), void *data);

/* Operations on blocks of different sizes (blocks.c). */
void blocks_of_all_sizes(const fab_comm *world);
/* Persistent messages, and waits for single sides and with a limit (waits.c). */
void waits(const fab_comm *world);

#endif
