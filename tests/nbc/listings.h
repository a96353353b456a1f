/* The listings of "Design, Implementation, and Usage of LibNBC", compiled as C. */
#ifndef FAB_TESTS_NBC_LISTINGS_H
#define FAB_TESTS_NBC_LISTINGS_H

#include <nbc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Listing 2: a barrier made with the schedule interface. */
int listing_2_Ibarrier(MPI_Comm comm, NBC_Handle *handle);
/* Listings 4 and 5: a broadcast that overlaps with computation, without and with tests. Return the number of elements
 * that are wrong afterwards. */
int listing_4(void);
int listing_5(void);
/* The other forms of wait and test; returns how many went wrong. */
int other_forms(void);

#ifdef __cplusplus
}
#endif

#endif
