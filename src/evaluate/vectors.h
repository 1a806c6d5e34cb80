/* Parts of a result with a column each eigenpair or coordinate, as f64. */
#ifndef NY_EVALUATE_VECTORS_H
#define NY_EVALUATE_VECTORS_H

#include "results/shards.h"
#include "linalg/matrix.h"

/* Rows that are read at a time. */
enum { NY_VECTOR_ROWS = 2048 };

/* Rows first … first + count − 1 ≤ NY_VECTOR_ROWS of the part, prepared for so many, into columns
 * of `out`, a row each `stride`; room: count × columns doubles. */
int ny_vectors_read(struct ny_result *result, const struct ny_result_part *part, uint64_t first,
                    size_t count, struct ny_matrix out, double *room);
/* λ̂ of the result. */
double ny_vectors_value(const struct ny_result *result, size_t k);

#endif
