/*
 * Placing new points by all stored points: for maps of graphs (maps/graph_map.h), and for results
 * of methods that work on all of K, which have no landmarks. The latter use the Nyström formula
 * (Ouimet & Bengio 2005, eq. 1): y(x) = k̃(x,X) Û Λ⁻¹, scaled as the map; the points and Û come
 * from the store, once for every batch of new rows.
 */
#ifndef NY_PLACE_POINTS_H
#define NY_PLACE_POINTS_H

#include "results/record.h"
#include "io/reader.h"
#include "stream/source.h"

/* Tells whether the result of this record is of such a method. */
bool ny_result_needs_points(const json_t *record);
/* NY_EUSAGE where it is: there is no model apart from the store. */
int ny_result_has_model(struct ny_context *ctx, const char *name, const json_t *record);

/* Part "extension" of such a result: NY_EXTENSION_HEAD numbers, then arrays of the pairs. */
enum { NY_EXTENSION_HEAD = 4 };
struct ny_extension {
    double gamma, coef0, degree;
    double mean_degree; /* where K is divided */
    double *inverse; /* 1/λ̂, 0 where λ̂ is */
    double *offset;  /* what centring adds */
};
size_t ny_extension_bytes(size_t pairs);

/* Does the work of ny_transform_file() for a finished result of this kind. */
int ny_transform_points(struct ny_store *store, const char *name, const char *input,
                        const struct ny_reader_options *options, const char *output);

#endif
