/* The name under which LibNBC installs this header. */
#include <fab/nbc.h>
