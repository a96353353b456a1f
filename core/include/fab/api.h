/* FAB_API: what a library of fab exports. Sources behind the public headers are compiled with -fvisibility=hidden. */
#ifndef FAB_API_H
#define FAB_API_H

/* Marks what programs link to, and types whose exceptions and instantiations cross the border of the library. The list
 * of what is exported is bindings/package/libfab.symbols in fab's sources. */
#define FAB_API __attribute__((visibility("default")))

#endif
