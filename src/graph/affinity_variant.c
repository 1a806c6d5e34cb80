/* A block of vectors times the random walk on a graph; compiled once for each CPU family. */
#include "graph/affinity.h"

#define JOIN(a, b) a##_##b
#define PASTE(a, b) JOIN(a, b)

enum { VECTOR_BYTES = 64, MOST = 4 }; /* vectors in registers */

#define VALUE double
#define ROWS PASTE(ny_walk_rows, NY_VARIANT)
#include "graph/affinity_rows.h"
#undef VALUE
#undef ROWS

#define VALUE float
#define ROWS PASTE(ny_walk_rows32, NY_VARIANT)
#include "graph/affinity_rows.h"
