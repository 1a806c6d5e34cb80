/* New rows of a file, which a result places: read like the points that it was made of. */
#ifndef NY_PLACE_NEW_ROWS_H
#define NY_PLACE_NEW_ROWS_H

#include "columns/columns.h"
#include "io/reader.h"

/* The form that the new rows must have. */
struct ny_points_like {
    uint64_t d;
    enum ny_dtype dtype;
    size_t slots;      /* of sparse rows; 0: dense */
    const char *whose; /* for messages: "the model has" */
};

/* `given` (NULL: nothing) may say how to read; what the points decide is decided here. Text is
 * parsed to f64 where they are f64; else rows come as the file has them. NY_EDATA when d differs;
 * rows with NaN are refused. */
int ny_new_rows_open(struct ny_reader **out, struct ny_context *ctx, const char *input,
                     const struct ny_reader_options *given, const struct ny_points_like *like);
/* Slots for the rows of both: those of a file may be full where they are dense. */
size_t ny_new_rows_slots(size_t own, const struct ny_file_table *table);
/* Opens new rows as a source next to the points of a store, with a type and slots that hold both,
 * which *spec takes. Close the reader after the source. */
int ny_new_rows_beside(struct ny_reader **reader, struct ny_source **rows,
                       const struct ny_points_info *points, struct ny_columns_spec *spec,
                       const char *input, const struct ny_reader_options *given);

#endif
