/* A block of vectors times the random walk on a graph; compiled once for each CPU family. */
#include "graph/affinity.h"

#include "base/cpu.h"

enum { VECTOR_BYTES = 64, MOST = 4 }; /* vectors in registers */

#define VALUE double
#define ROWS NY_VARIANT_NAME(ny_walk_rows)
#include "graph/affinity_rows.h"
#undef VALUE
#undef ROWS

#define VALUE float
#define ROWS NY_VARIANT_NAME(ny_walk_rows32)
#include "graph/affinity_rows.h"
