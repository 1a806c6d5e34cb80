/*
 * Results that place new points by all stored points: those of maps of graphs, and of methods that
 * work on all of K, which have no landmarks. Part "extension" of the latter has what the Nyström
 * formula (Ouimet & Bengio 2005, eq. 1) needs beside the points and the embedding.
 */
#ifndef NY_MODEL_EXTENSION_H
#define NY_MODEL_EXTENSION_H

#include "columns/kernel.h"
#include "job/record.h"

struct ny_map;
struct ny_method;

/* Tells whether results of this map and method (NULL: of none) place new points by all points. */
bool ny_map_needs_points(const struct ny_map *map, const struct ny_method *method);
/* Tells whether the result of this record places new points by all stored points. */
bool ny_result_needs_points(struct ny_record record);
/* Fails with NY_EUSAGE where it does: there is no model apart from the store. */
int ny_result_has_model(struct ny_context *ctx, const char *name, struct ny_record record);

/* The part: NY_EXTENSION_HEAD numbers, then arrays of the pairs. */
enum { NY_EXTENSION_HEAD = 4 };
struct ny_extension {
    struct ny_kernel_params params;
    double mean_degree; /* mean degree of a divided K */
    double *inverse;    /* 1/λ̂ of each pair, 0 where λ̂ is 0 */
    double *offset;     /* what centring adds to each pair */
};
/* Returns the bytes of the part for so many pairs. */
size_t ny_extension_bytes(size_t pairs);

#endif
